"""Gated networks of the papers: parallel pathways, and domains that share hidden layers."""

from collections.abc import Hashable, Sequence
from itertools import combinations, product

import numpy as np

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.gates import context_gates
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.tasks import Task, trained_routes


def pathways(
    task: Task,
    gates: Numbers,
    num_hidden: int | Sequence[int],
    input_masks: Numbers | None = None,
    output_bias: bool = False,
) -> GatedNetwork:
    """Return the two-layer gated network with a hidden node per row of ``gates`` (MHS Figs. 2, 3).

    Hidden nodes are called ``"pathway 0"``, ``"pathway 1"``, …, the output ``"output"`` and the
    input ``"input"``. With masks there is an input node for each distinct mask (``"input 0"``, …),
    which reads the visible rows only.

    To compare gates with a network that has biases, give pathways both: ``tasks.with_ones(task)``
    is the bias of hidden neurons, and ``output_bias`` that of the outputs, which no gate closes.

    Args:
        task: gives the numbers of inputs, outputs and samples.
        gates: shape (K, P), one row per pathway.
        num_hidden: neurons of a pathway, or one number per pathway.
        input_masks: shape (K, N_in), non-zero where the pathway sees the input.
        output_bias: whether an input node ``"one"``, which reads the last row of the inputs, a row
            of ones, leads to the output.
    """
    checks.instance("task", task, Task)
    checks.instance("output_bias", output_bias, bool)
    if output_bias and not checks.is_traced(task):
        ones = bool(np.all(np.asarray(task.inputs)[-1] == 1))
        checks.require(ones, "task", "a last row of ones, as of tasks.with_ones", task.inputs[-1])
    gates = checks.finite_array("gates", gates, 2, "(K, P)")
    num_pathways, num_inputs = len(gates), len(task.inputs)
    checks.of_shape("gates", gates, (num_pathways, task.num_samples))
    hidden = [
        checks.positive_integer("num_hidden", number)
        for number in checks.one_per_place("num_hidden", num_hidden, num_pathways)
    ]
    masks = np.ones((num_pathways, num_inputs)) if input_masks is None else input_masks
    masks = checks.concrete_array("input_masks", masks, 2, "(K, N_in)")
    checks.of_shape("input_masks", masks, (num_pathways, num_inputs))
    visible = [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
    checks.require(all(visible), "input_masks", "an input for every pathway", masks)
    nodes: list[Hashable] = [f"pathway {index}" for index in range(num_pathways)]
    inputs: dict[tuple, Hashable] = {}  # node of each distinct mask
    for seen in visible:
        inputs.setdefault(seen, f"input {len(inputs)}")
    if len(inputs) == 1:
        inputs = {visible[0]: "input"}
    one = {"one": 1} if output_bias else {}
    # By NumPy gates stay known inside a compiled function.
    rows_of_gates = gates if checks.is_traced(gates) else np.asarray(gates)
    return GatedNetwork(
        {node: len(seen) for seen, node in inputs.items()}
        | dict(zip(nodes, hidden, strict=True))
        | one
        | {"output": len(task.targets)},
        [(inputs[seen], node) for seen, node in zip(visible, nodes, strict=True)]
        + [(node, "output") for node in [*nodes, *one]],
        node_gates=dict(zip(nodes, rows_of_gates, strict=True)),
        rows={node: seen for seen, node in inputs.items()} | dict.fromkeys(one, (num_inputs - 1,)),
    )


def contextual_pathways(
    task: Task, num_contexts: int, subset_size: int, num_hidden: int | Sequence[int]
) -> GatedNetwork:
    """Return the candidate ReLN of a contextual task (MHS Figs. 3 and 5).

    Its first pathway is common: it is always on and sees items and contexts. For each subset of
    ``subset_size`` contexts, one more pathway is active in these contexts and sees the items only.
    The all-but-one network has ``subset_size`` = C − 1.

    Args:
        task: as from ``tasks.contextual``.
        num_contexts: C.
        subset_size: k, contexts in which a contextual pathway is active.
        num_hidden: neurons of a pathway, or one number per pathway.
    """
    checks.instance("task", task, Task)
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    subset_size = checks.positive_integer("subset_size", subset_size)
    fits = subset_size <= num_contexts
    checks.require(fits, "subset_size", f"at most {num_contexts}", subset_size)
    num_items = len(task.inputs) - num_contexts
    fits = num_items * num_contexts == task.num_samples
    if fits and not checks.is_traced(task):  # the last inputs are contexts
        own = context_gates(num_contexts, num_items, [[context] for context in range(num_contexts)])
        fits = np.array_equal(np.asarray(task.inputs)[num_items:] != 0, own)
    counts = "C of a task with n + C inputs and n C samples, as of tasks.contextual"
    checks.require(fits, "num_contexts", counts, num_contexts)
    subsets = [range(num_contexts), *combinations(range(num_contexts), subset_size)]
    masks = np.ones((len(subsets), len(task.inputs)))
    masks[1:, num_items:] = 0
    gates = context_gates(num_contexts, num_items, subsets)
    return pathways(task, gates, num_hidden, masks)


def routing_network(
    task: Task,
    num_domains: int,
    num_trained: int,
    num_hidden: int,
    num_layers: int = 2,
    num_sharing: int | None = None,
) -> GatedNetwork:
    """Return the network of the routing task (NRR Figs. 4 and 5a).

    Each input domain has a matrix into the first hidden layer, and each output domain one out of
    the last. Hidden layers are always on; an output is on for the samples on which it is trained.
    If m < M domains share, each block of m input and m output domains has its own hidden layers and
    outer matrices, and an output is the sum over blocks, of which only that with the sample's input
    domain is active.

    Nodes are ``input i``, ``hidden l`` (``hidden l of a, b`` for input block a and
    output block b) and ``output j``.

    Args:
        task: as from ``tasks.routing``.
        num_domains: M, the number of input domains and of output domains.
        num_trained: Q, output domains trained with each input domain, which sets the output gates.
        num_hidden: neurons of a hidden layer (of each block).
        num_layers: number of hidden layers.
        num_sharing: m, input (output) domains of a block, a divisor of M; M by default.
    """
    checks.instance("task", task, Task)
    num_hidden = checks.positive_integer("num_hidden", num_hidden)
    num_layers = checks.positive_integer("num_layers", num_layers)
    num_domains = checks.positive_integer("num_domains", num_domains)
    sizes: dict[Hashable, int] = {}
    for kind, number in (("input", len(task.inputs)), ("output", len(task.targets))):
        fits = not (number % num_domains or task.num_samples % num_domains)
        checks.require(fits, "task", f"{num_domains} domains", task)
        sizes |= {f"{kind} {i}": number // num_domains for i in range(num_domains)}
    trained = trained_routes(num_domains, num_trained)
    repeats = task.num_samples // num_domains
    if not checks.is_traced(task):
        seen, asked = (  # whether a domain has entries other than 0 in the samples of another
            np.asarray(data).reshape(num_domains, -1, num_domains, repeats).any(axis=(1, 3))
            for data in (task.inputs, task.targets)
        )
        fits = (
            not (seen & ~np.eye(num_domains, dtype=bool)).any() and not (asked & ~trained.T).any()
        )
        expected = f"domains of one size and {num_trained} trained outputs, as of tasks.routing"
        checks.require(fits, "task", expected, task)
    sharing = num_domains if num_sharing is None else num_sharing
    sharing = checks.positive_integer("num_sharing", sharing)
    divides = num_domains % sharing == 0
    checks.require(divides, "num_sharing", f"a divisor of {num_domains}", sharing)
    edges: list[tuple[str, str]] = []
    members = range(sharing)
    for a, b in product(range(num_domains // sharing), repeat=2):
        group = "" if sharing == num_domains else f" of {a}, {b}"
        layers = [f"hidden {layer}{group}" for layer in range(1, num_layers + 1)]
        sizes |= dict.fromkeys(layers, num_hidden)
        edges += [(f"input {a * sharing + i}", layers[0]) for i in members]
        edges += zip(layers[:-1], layers[1:], strict=True)
        edges += [(layers[-1], f"output {b * sharing + j}") for j in members]
    gates: dict[Hashable, np.ndarray] = {
        f"output {j}": np.repeat(trained[:, j], repeats) for j in range(num_domains)
    }
    return GatedNetwork(sizes, edges, node_gates=gates)
