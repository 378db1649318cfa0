"""Gradient flow of a gated network on any graph, and what descent in steps of η follows instead."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Edge
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task
from mdsgdln.theory.integration import TOLERANCE, integrate
from mdsgdln.training import MEAN_SQUARED


class ReducedNetwork(NamedTuple):
    """A gated network with weights and a task, as small as they can be; a pytree.

    Attributes:
        network: an ordinary gated network.
        weights: {edge: matrix}.
        task: targets in the coordinates of the space that outputs stay in.
    """

    network: GatedNetwork
    weights: Mapping[Edge, Float[Array, "_ _"]]
    task: Task

    def outputs(self) -> Float[Array, "N_out P"]:
        """Return the outputs for the inputs, in the coordinates of the targets."""
        return self.network.apply(self.weights, self.task.inputs)

    def loss(self) -> Float[Array, ""]:
        """Return the loss (MHS Eq. 2)."""
        return MEAN_SQUARED(self.network, self.weights, self.task)

    def flow(self, learning_rate: Scalar = 0.0) -> dict[Edge, Float[Array, "_ _"]]:
        """Return Ẇ of every edge, for gradient flow or for descent in steps of η (``evolve``)."""
        checks.non_negative("learning_rate", learning_rate)
        edges = self.network.graph.edges
        moving = _descent if _moves_in_steps(learning_rate) else _flow
        parameters = self.network, self.task, learning_rate
        return dict(zip(edges, moving(parameters, [self.weights[e] for e in edges]), strict=True))

    def evolve(
        self,
        times: Numbers,
        learning_rate: Scalar = 0.0,
        output: Callable[["ReducedNetwork"], PyTree] = loss,
    ) -> PyTree:
        """Return ``output`` along gradient flow, or along descent in steps of the given size.

        Args:
            times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
            learning_rate: η of gradient descent: ẇ = f − (η/2) f′f for the flow f = −∇𝓛, right up
                to η².
            output: a function of the system, its loss if not given; stacked over times. What is
                compiled is kept for the same function.

        Raises:
            ValueError: bad times or a bad learning rate, or an output that is no function.
        """
        times = checks.times(times)
        checks.non_negative("learning_rate", learning_rate)
        checks.function("output", output)
        start = [jnp.asarray(self.weights[edge]) for edge in self.network.graph.edges]
        size = jnp.sqrt(sum(jnp.mean(weight**2) for weight in start))
        velocity = _descent if _moves_in_steps(learning_rate) else _flow
        parameters = self.network, self.task, learning_rate
        return integrate(
            velocity, parameters, start, times, TOLERANCE, TOLERANCE * size, _along(output)
        )


Parameters = tuple[GatedNetwork, Task, Any]  # the last one is η


def _moves_in_steps(learning_rate: Scalar) -> bool:
    """Return whether η is traced, or above zero."""
    return isinstance(learning_rate, jax.core.Tracer) or bool(learning_rate != 0)


def _at(parameters: Parameters, values: list) -> ReducedNetwork:
    """Return the system with weights in the order of the edges."""
    network, task, _ = parameters
    return ReducedNetwork(network, dict(zip(network.graph.edges, values, strict=True)), task)


def _flow(parameters: Parameters, values: list) -> list:
    """Return f = −∇𝓛."""
    gradient = jax.grad(lambda values: _at(parameters, values).loss())(values)
    return [-slope for slope in gradient]


def _descent(parameters: Parameters, values: list) -> list:
    """Return f − (η/2) f′f."""

    def flow(values):
        return _flow(parameters, values)

    first, change = jax.jvp(flow, [values], [flow(values)])
    return [f - parameters[-1] / 2 * c for f, c in zip(first, change, strict=True)]


@lru_cache(maxsize=32)
def _along(output: Callable[[ReducedNetwork], PyTree]) -> Callable:
    """Return an output of a system as one of parameters and state, the same for the same."""
    return lambda parameters, values: output(_at(parameters, values))
