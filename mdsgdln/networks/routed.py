"""The routing network: domains that share hidden layers, all of them or in blocks."""

from collections.abc import Hashable

import numpy as np

from mdsgdln import _checks as checks
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.tasks import Task, trained_routes


def routing_network(
    task: Task,
    num_trained: int,
    num_hidden: int,
    num_layers: int = 2,
    num_sharing: int | None = None,
) -> GatedNetwork:
    """Return the network of the routing task (NRR Figs. 4 and 5a).

    Every input domain has a matrix into the first hidden layer and every output domain one out of
    the last; the hidden layers are always on, an output is gated on where it is trained. Where
    fewer than all domains share, each block of m input and m output domains has hidden layers of
    its own, and its own copies of the outer matrices: every output is then the sum over blocks, of
    which only the one of the sample's input domain is active.

    Nodes are ``input i``, ``hidden l`` (``hidden l of a, b`` for input block a and
    output block b) and ``output j``.

    Args:
        task: as from ``tasks.routing``.
        num_trained: Q, output domains trained with each input domain; decides the output gates.
        num_hidden: neurons of a hidden layer (of each block's).
        num_layers: hidden layers; paths have one more edge than that.
        num_sharing: m, input (output) domains of a block, a divisor of M; M if not given.

    Raises:
        ValueError: a task without input and output domains, Q above M, m that does not divide M.
    """
    checks.instance("task", task, Task)
    num_hidden = checks.positive_integer("num_hidden", num_hidden)
    num_layers = checks.positive_integer("num_layers", num_layers)
    rows = task.node_rows or {}
    num_domains = sum(str(node).startswith("input ") for node in rows)
    if num_domains < 1 or len(rows) != 2 * num_domains:
        raise ValueError("task: expected one from tasks.routing, with input and output domains")
    trained = trained_routes(num_domains, num_trained)
    sharing = num_domains if num_sharing is None else num_sharing
    sharing = checks.positive_integer("num_sharing", sharing)
    if num_domains % sharing:
        raise ValueError(f"num_sharing: expected a divisor of {num_domains}, got {sharing}")
    sizes = {node: span.stop - span.start for node, span in rows.items()}
    # A dictionary keeps the order and drops what is there already.
    edges: dict[tuple[str, str], None] = {}
    blocks = range(num_domains // sharing)
    for source, target in ((a, b) for a in blocks for b in blocks):
        group = "" if sharing == num_domains else f" of {source}, {target}"
        layers = [f"hidden {layer}{group}" for layer in range(1, num_layers + 1)]
        sizes |= dict.fromkeys(layers, num_hidden)
        members = range(sharing)
        edges |= {(f"input {source * sharing + i}", layers[0]): None for i in members}
        edges |= {pair: None for pair in zip(layers[:-1], layers[1:], strict=True)}
        edges |= {(layers[-1], f"output {target * sharing + j}"): None for j in members}
    repeats = task.num_samples // num_domains
    gates: dict[Hashable, np.ndarray] = {
        f"output {j}": np.repeat(trained[:, j], repeats) for j in range(num_domains)
    }
    return GatedNetwork(sizes, edges, node_gates=gates)
