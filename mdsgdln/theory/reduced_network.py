"""The small gated network that stands for a two-layer one: a hidden neuron per mode of a pathway.

Each pathway's hidden neurons are replaced by one neuron per mode of its effective dataset, started
at the strength that the weights give the mode. Its singular vectors are free to turn.
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
from mdsgdln.statistics import Modes, _path_gate, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.integration import integrate
from mdsgdln.theory.starts import expected_initial_strength

TOLERANCE = 1e-8  # of the integration, relative


class ReducedNetwork(NamedTuple):
    """A small gated system: one hidden neuron per mode of each pathway.

    Attributes:
        first: W₁, shape (modes, N_in).
        second: W₂, shape (N_out, modes).
        gates: g, the path gate of each neuron, shape (modes, P).
        first_mask: 1 where a neuron's pathway sees the input, shape (modes, N_in).
        second_mask: 1 where it ends, shape (N_out, modes).
        inputs: X, shape (N_in, P).
        targets: Y, shape (N_out, P).
    """

    first: Float[Array, "modes N_in"]
    second: Float[Array, "N_out modes"]
    gates: Float[Array, "modes P"]
    first_mask: Float[Array, "modes N_in"]
    second_mask: Float[Array, "N_out modes"]
    inputs: Float[Array, "N_in P"]
    targets: Float[Array, "N_out P"]

    @classmethod
    def of(
        cls, network: GatedNetwork, task: Task, scale: Scalar | Mapping | Sequence
    ) -> "ReducedNetwork | None":
        """Return the small system that stands for a network; None where no pathway has a mode.

        Args:
            network: every hidden node has one edge in and one edge out; gates one per sample.
            task: what it is trained on.
            scale: σ of the initial weights, one per edge, or the initial weights themselves.

        Raises:
            ValueError: a network that is not two-layer, a gate per neuron, or bad numbers.
        """
        checks.instance("network", network, GatedNetwork)
        network = network._reading(task)
        graph = network.graph
        middle = [n for n, _ in graph.sizes if n not in graph.input_nodes + graph.output_nodes]
        if any(len(path) != 3 for path in graph.paths) or len(graph.paths) != len(middle):
            raise ValueError(
                "network: expected hidden nodes with one edge in and one edge out and no other "
                f"edge, got {list(graph.edges)!r:.120}"
            )
        by_edge: Any = scale  # {edge: σ or matrix}
        given = isinstance(scale, Mapping) and any(np.ndim(value) == 2 for value in scale.values())
        if given:
            network._check_weights(by_edge)
        else:
            by_edge = dict(zip(graph.edges, checks.scales(scale, graph.edges), strict=True))
        rows, parts = graph.node_rows, []
        for path in graph.paths:
            found = modes(effective_dataset(network, task, path))
            ends = [by_edge[edge] for edge in graph.path_edges(path)]
            if given:
                start = _measured(found, *map(jnp.asarray, ends))
            else:
                strength = expected_initial_strength(graph.neurons[path[1]], ends)
                start = strength**0.5 * np.eye(len(found.singular_values))
            with jax.ensure_compile_time_eval():  # known gates stay known when compiled
                gate = _path_gate(network, path, task.num_samples)
            parts.append(_neurons(found, start, gate, rows[path[0]], rows[path[-1]], task))
        if not sum(len(part[0]) for part in parts):
            return None
        first, second, gates, first_mask, second_mask = (
            _concatenated(pieces, axis)
            for pieces, axis in zip(zip(*parts, strict=True), (0, 1, 0, 0, 1), strict=True)
        )
        system = cls(first, second, gates, first_mask, second_mask, task.inputs, task.targets)
        if len(graph.output_nodes) == 1:
            system = _in_target_space(system)
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


@jax.jit
def _measured(
    found: Modes, first: Float[Array, "H N_in"], second: Float[Array, "N_out H"]
) -> Float[Array, "modes modes"]:
    """Return the c_α of a draw in an orthonormal basis of the hidden space that they span.

    A pathway is linear, so turning its hidden space changes nothing: as many neurons as modes do.
    """
    directions = (first @ found.right + second.T @ found.left) / 2  # columns c_α, (H, modes)
    num_modes = directions.shape[1]
    _, turned = jnp.linalg.qr(directions)
    return jnp.zeros((num_modes, num_modes)).at[: len(turned)].set(turned)


def _neurons(found: Modes, start, gate, input_rows, output_rows, task: Task) -> tuple:
    """Return one pathway's W₁ = Σ c vᵀ, W₂ = Σ u cᵀ, gates and masks in the full spaces."""
    num_modes = len(found.singular_values)
    right, first_mask = np.zeros((2, len(task.inputs), num_modes))
    left, second_mask = np.zeros((2, len(task.targets), num_modes))
    right[np.array(input_rows)], first_mask[np.array(input_rows)] = found.right, 1
    left[np.array(output_rows)], second_mask[np.array(output_rows)] = found.left, 1
    gates = np.tile(np.asarray(gate), (num_modes, 1))
    return start @ right.T, left @ start.T, gates, first_mask.T, second_mask


def _span(targets: Numbers) -> np.ndarray:
    """Return an orthonormal basis of what the targets span, as columns."""
    basis, values, _ = np.linalg.svd(targets, full_matrices=False)
    return basis[:, values > 1e-12 * values[0]]


def _in_target_space(system: Any) -> ReducedNetwork:
    """Return the system in coordinates of the targets' span, which its outputs never leave.

    Its arrays may be of NumPy or of JAX.
    """
    targets = np.asarray(system.targets)
    basis = _span(targets)
    second = basis.T @ system.second
    return system._replace(
        second=second, second_mask=np.ones(second.shape), targets=basis.T @ targets
    )
