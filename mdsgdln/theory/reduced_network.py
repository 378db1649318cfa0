"""The small gated network that learns as a two-layer one does, at any width.

From given weights it is the result of ``exact_reduction``. From σ alone its weights have the
expected products of Gaussian ones: W₁ᵀW₁ = Hσ₁² 1, W₂W₂ᵀ = Hσ₂² 1 and W₂W₁ = 0, so that
c = (W₁v + W₂ᵀu)/2 of a mode has ‖c‖² = H(σ₁² + σ₂²)/4. Directions without samples, or without
drive Σ^yx, are left out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import _path_gate, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.integration import TOLERANCE, integrate
from mdsgdln.theory.reduction import _check_two_layer, _is_given, exact_reduction
from mdsgdln.theory.starts import balanced_weights


class ReducedNetwork(NamedTuple):
    """A small gated system, the hidden neurons of all pathways one below the other.

    Attributes:
        first: W₁, shape (H, N_in).
        second: W₂, shape (N_out, H).
        gates: g, the path gate of each neuron, shape (H, P).
        first_mask: 1 where a neuron's pathway sees the input, shape (H, N_in).
        second_mask: 1 where it ends, shape (N_out, H).
        inputs: X, shape (N_in, P).
        targets: Y, shape (N_out, P), in the coordinates of the outputs' space.
    """

    first: Float[Array, "H N_in"]
    second: Float[Array, "N_out H"]
    gates: Float[Array, "H P"]
    first_mask: Float[Array, "H N_in"]
    second_mask: Float[Array, "N_out H"]
    inputs: Float[Array, "N_in P"]
    targets: Float[Array, "N_out P"]

    @classmethod
    def of(
        cls, network: GatedNetwork, task: Task, scale: Scalar | Mapping | Sequence
    ) -> "ReducedNetwork | None":
        """Return the small system that stands for a network; None where no pathway has a mode.

        From σ alone, a single pathway with fewer neurons than modes learns those for which it has
        room, see ``balanced_weights``.

        Args:
            network: every hidden node has one edge in and one edge out; gates one per sample.
            task: what it is trained on.
            scale: σ of the initial weights, one per edge, or the initial weights themselves.

        Raises:
            ValueError: a network that is not two-layer, a gate per neuron, bad numbers, σ = 0, or
                from σ alone several pathways of which one has fewer neurons than modes.
        """
        checks.instance("network", network, GatedNetwork)
        network = network._reading(task)
        graph = network.graph
        _check_two_layer(network)
        by_edge: Any = scale  # {edge: σ or matrix}
        if _is_given(scale):
            _, by_edge = exact_reduction(network, by_edge)
        else:
            by_edge = _expected_weights(network, task, checks.initial_scales(scale, graph.edges))
            if by_edge is None:
                return None
        rows, parts = graph.node_rows, []
        for path in graph.paths:
            first, second = (by_edge[edge] for edge in graph.path_edges(path))
            with jax.ensure_compile_time_eval():  # known gates stay known when compiled
                gate = _path_gate(network, path, task.num_samples)
            parts.append(_neurons(first, second, gate, rows[path[0]], rows[path[-1]], task))
        first, second, gates, first_mask, second_mask = (
            _concatenated(pieces, axis)
            for pieces, axis in zip(zip(*parts, strict=True), (0, 1, 0, 0, 1), strict=True)
        )
        system = cls(first, second, gates, first_mask, second_mask, task.inputs, task.targets)
        if len(graph.output_nodes) == 1:
            system = _in_output_space(system)
        return jax.tree.map(jnp.asarray, system)

    def flow(self) -> tuple[Array | np.ndarray, Array | np.ndarray]:
        """Return (Ẇ₁, Ẇ₂), MHS Eq. 3 with all pathways at once."""
        return self._flow_from(*self._hidden_and_error())

    def _hidden_and_error(self) -> tuple:
        """Return the hidden activity, and the errors over the number of samples."""
        hidden = self.gates * (self.first @ self.inputs)
        return hidden, (self.targets - self.second @ hidden) / self.inputs.shape[1]

    def _flow_from(self, hidden, error) -> tuple:
        first = self.gates * (self.second.T @ error) @ self.inputs.T
        return first * self.first_mask, (error @ hidden.T) * self.second_mask

    def outputs(self) -> Float[Array | np.ndarray, "*T N_out P"]:
        """Return the outputs for the inputs, in the coordinates of ``targets``."""
        return self.second @ (self.gates * (self.first @ self.inputs))

    def loss(self) -> Float[Array | np.ndarray, "*T"]:
        """Return the loss (MHS Eq. 2)."""
        squares = (self.targets - self.outputs()) ** 2
        return squares.sum(axis=(-2, -1)) / (2 * self.inputs.shape[1])

    def _descent(self, step: Scalar) -> tuple[Array | np.ndarray, Array | np.ndarray]:
        """Return f − (η/2) f′f for the flow f: what descent in steps of η follows up to η²."""
        hidden, error = self._hidden_and_error()
        first, second = self._flow_from(hidden, error)
        hidden_change = self.gates * (first @ self.inputs)
        error_change = -(second @ hidden + self.second @ hidden_change) / self.inputs.shape[1]
        back_change = second.T @ error + self.second.T @ error_change
        first_change = (self.gates * back_change) @ self.inputs.T * self.first_mask
        second_change = error_change @ hidden.T + error @ hidden_change.T
        return (
            first - step / 2 * first_change,
            second - step / 2 * second_change * self.second_mask,
        )

    def evolve(
        self,
        times: Numbers,
        step: Scalar = 0.0,
        output: Callable[["ReducedNetwork"], PyTree] = loss,
    ) -> PyTree:
        """Return ``output`` along gradient flow, or along descent in steps of the given size.

        Args:
            times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
            step: η of gradient descent: ẇ = f − (η/2) f′f for the flow f, right up to η².
            output: a function of the system, its loss if not given; stacked over times. The weights
                it is given may have one more axis in front, the times.

        Raises:
            ValueError: bad times or a bad step, or an output that is no function.
        """
        times = checks.times(times)
        checks.non_negative("step", step)
        checks.function("output", output)
        exact = not isinstance(step, jax.core.Tracer) and bool(step == 0)
        size = jnp.sqrt(jnp.mean(self.first**2) + jnp.mean(self.second**2))

        def at(parameters, weights) -> "ReducedNetwork":
            return parameters[0]._replace(first=weights[0], second=weights[1])

        def velocity(parameters, weights):
            system = at(parameters, weights)
            return system.flow() if exact else system._descent(parameters[1])

        return integrate(
            velocity,
            (self, step),
            (self.first, self.second),
            times,
            TOLERANCE,
            TOLERANCE * size,
            lambda parameters, weights: output(at(parameters, weights)),
        )


def _concatenated(pieces: Sequence[Numbers], axis: int) -> Any:
    """Return arrays joined: those of NumPy by NumPy, which compiles nothing."""
    traced = any(isinstance(piece, jax.Array) for piece in pieces)
    return (jnp if traced else np).concatenate(pieces, axis=axis)


def _expected_weights(network: GatedNetwork, task: Task, scales: list[Scalar]) -> dict | None:
    """Return weights with the expected products of Gaussian ones; None where nothing has a mode."""
    graph, by_edge = network.graph, dict(zip(network.graph.edges, scales, strict=True))
    data = {path: effective_dataset(network, task, path) for path in graph.paths}
    drives = {
        path: np.asarray(data[path].targets) @ np.asarray(data[path].inputs).T for path in data
    }
    if not any(drive.any() for drive in drives.values()):
        return None
    narrow = [
        path for path in data if len(modes(data[path]).singular_values) > graph.neurons[path[1]]
    ]
    weights = balanced_weights(network, task, by_edge) if narrow else {}
    for path in data:
        if path in narrow:
            continue
        into, out = graph.path_edges(path)
        inputs = _span(np.asarray(data[path].inputs))
        outputs = _span(np.hstack([drives[other] for other in data if other[-1] == path[-1]]))
        root, numbers = graph.neurons[path[1]] ** 0.5, inputs.shape[1] + outputs.shape[1]
        weights[into] = by_edge[into] * root * np.eye(numbers, inputs.shape[1]) @ inputs.T
        second = outputs @ np.eye(outputs.shape[1], numbers, inputs.shape[1])
        weights[out] = by_edge[out] * root * second
    return weights


def _neurons(first, second, gate, input_rows, output_rows, task: Task) -> tuple:
    """Return one pathway's weights, gates and masks in the full spaces of inputs and outputs."""
    number, (num_inputs, num_outputs) = len(first), (len(task.inputs), len(task.targets))
    into, out = (
        np.eye(num_inputs)[np.array(input_rows)],
        np.eye(num_outputs)[:, np.array(output_rows)],
    )
    first_mask = np.tile(into.sum(axis=0), (number, 1))
    second_mask = np.tile(out.sum(axis=1)[:, None], (1, number))
    return (
        first @ into,
        out @ second,
        np.tile(np.asarray(gate), (number, 1)),
        first_mask,
        second_mask,
    )


def _span(columns: Numbers) -> np.ndarray:
    """Return an orthonormal basis of what columns span."""
    basis, values, _ = np.linalg.svd(columns, full_matrices=False)
    return basis[:, values > 1e-12 * max(values[0], np.finfo(float).tiny)]


def _in_output_space(system: Any) -> ReducedNetwork:
    """Return the system in coordinates of what targets and outgoing weights span."""
    if isinstance(system.second, jax.core.Tracer):
        return system
    parts = [np.asarray(part, float) for part in (system.targets, system.second)]
    basis = _span(np.hstack([part / (np.linalg.norm(part) or 1.0) for part in parts]))
    second, targets = (basis.T @ part for part in (system.second, parts[0]))
    return system._replace(second=second, second_mask=np.ones(second.shape), targets=targets)
