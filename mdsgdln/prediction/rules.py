"""Which learning rules allow a small network to represent a wide one.

A small network with weights w represents one with weights A(w), where A is linear, if a gradient g
of the small one is a gradient A(g) of the wide one, and if the updates R of the learning rule
commute with A: R(A(g)) = A(R(g)). Two maps matter.

*Rotation*: a layer is written in an orthonormal basis of the space that it stays in. Descent,
momentum, decay and clipping by the global norm commute with it. Rules that treat each entry by
itself, as Adam does, do not. Weights of the wide network also have a part outside this space, which
no gradient has and the small one lacks: it must not matter, as it does where a rule reads the norm
of weights.

*Copies*: each hidden neuron is there several times. Rules commute with it in which the update of a
neuron depends on this neuron alone, as Adam's does. Clipping by the global norm does not.

An optimiser of optax is a function of which nothing else is known. So it is run: for as many
updates as the prediction has, since a schedule may begin late, and for at least thirty-two, with
gradients whose lengths vary over thirteen orders of magnitude in every layer, from weights of two
sizes; and for eight updates of large layers, as some rules treat these in another way.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PyTree

from mdsgdln._checks import Scalar
from mdsgdln.graphs import Edge, Node

SHORTEST, LONGEST = -7.0, 6.0  # gradients, powers of ten
STARTS = 0.0, -4.0  # initial weights, powers of ten: a rule may have a floor for their norms
LEAST_UPDATES = 32  # among which there are gradients of most lengths
GRADIENTS = 256  # that are drawn; after these they come again
OF_LARGE = 8  # updates of large layers, which take long
SAME = 1e-6  # relative difference of two updates that is rounding, in double precision
LOST = 1e-13  # of the weights, to which such a difference is rounding, as of updates that cancel
FEW = 2  # entries of a layer in its basis; the larger spaces have one and three more
LARGE = 130  # rules that factorise large layers do so from 128 entries on


@lru_cache(maxsize=64)
def rotates_layers(
    optimiser: optax.GradientTransformation, biases: tuple[bool, ...], num_updates: int
) -> bool:
    """Return whether updates of a chain of layers commute with rotations of every layer."""

    def rotated(size: int, layers: PyTree) -> list:
        bases = _bases(len(biases) + 1, size)

        def into(target: np.ndarray, source: np.ndarray, part: Any) -> Any:
            return target @ part @ source.T if part.ndim == 2 else target @ part

        return [
            jax.tree.map(partial(into, target, source), layer)
            for layer, target, source in zip(layers, bases[1:], bases[:-1], strict=True)
        ]

    return _all_commute(optimiser, partial(_layers, biases), rotated, num_updates, has_outside=True)


@lru_cache(maxsize=64)
def keeps_copies(
    optimiser: optax.GradientTransformation, biases: tuple[bool, bool], num_updates: int
) -> bool:
    """Return whether updates of one hidden layer commute with copies of its neurons."""

    def copied(size: int, layers: PyTree) -> list:
        first, second = layers
        return [
            jax.tree.map(lambda part: jnp.concatenate([part, part]), first),
            jax.tree.map(lambda part: jnp.tile(part, 2) if part.ndim == 2 else part, second),
        ]

    return _all_commute(optimiser, partial(_layers, biases), copied, num_updates, has_outside=False)


def _all_commute(
    optimiser: optax.GradientTransformation,
    narrow: Callable[[int], PyTree],
    lift: Callable[[int, PyTree], PyTree],
    num_updates: int,
    has_outside: bool,
) -> bool:
    """Return whether updates commute, of small layers for long and of large ones a few times."""
    return all(
        _commutes(optimiser, narrow(size), partial(lift, size), updates, has_outside)
        for size, updates in ((FEW, max(num_updates, LEAST_UPDATES)), (LARGE, OF_LARGE))
    )


def _layers(biases: Sequence[bool], size: int) -> list:
    weight, bias = np.zeros((size, size)), np.zeros(size)
    return [(weight, bias) if biased else weight for biased in biases]


@lru_cache(maxsize=64)
def fixes_first_layer(
    optimiser: optax.GradientTransformation, biases: tuple[bool, ...], num_updates: int
) -> bool:
    """Return whether updates change the weights of other layers, and never those of the first."""
    rule, rng = optax.with_extra_args_support(optimiser), np.random.default_rng(0)
    weights, gradient = (
        jax.tree.map(lambda leaf: rng.standard_normal(leaf.shape), _layers(biases, FEW))
        for _ in range(2)
    )

    def step(memory: PyTree, _: None) -> tuple[PyTree, Array]:
        update, memory = rule.update(gradient, memory, weights, value=jnp.ones(()), grad=gradient)
        return memory, jnp.stack([jnp.any(jax.tree.leaves(layer)[0] != 0) for layer in update])

    with jax.enable_x64(True), jax.ensure_compile_time_eval():
        try:
            changed = np.asarray(jax.lax.scan(step, rule.init(weights), length=num_updates)[1])
        except Exception:  # as in ``_commutes``, which says no
            return False
        return bool(changed[:, 1:].any() and not changed[:, 0].any())


@lru_cache(maxsize=64)
def rotates_nodes(
    optimiser: optax.GradientTransformation,
    edges: tuple[Edge, ...],
    merged: tuple[tuple[Node, ...], ...],
    num_updates: int,
) -> bool:
    """Return whether updates commute with rotations of nodes, some of which are merged.

    Args:
        optimiser: an instance.
        edges: of the graph before the merger.
        merged: nodes that become one, which is named after the first of them.
        num_updates: tested.
    """
    nodes = list(dict.fromkeys(node for edge in edges for node in edge))
    place = {node: (node, 0) for node in nodes}  # its node after the merger, and its place there
    number = dict.fromkeys(nodes, 1)
    for group in merged:
        place |= {node: (group[0], index) for index, node in enumerate(group)}
        number[group[0]] = len(group)
    ends = dict.fromkeys((place[source][0], place[target][0]) for source, target in edges)

    def rotated(size: int, weights: PyTree) -> dict:
        basis = dict(zip(nodes, _bases(len(nodes), size), strict=True))
        wide = {}
        for source, target in edges:
            (from_node, column), (to_node, row) = place[source], place[target]
            part = tuple(slice(i * size, (i + 1) * size) for i in (row, column))
            block = weights[from_node, to_node][part]
            wide[source, target] = basis[target] @ block @ basis[source].T
        return wide

    def narrow(size: int) -> dict:
        return {(a, b): np.zeros((size * number[b], size * number[a])) for a, b in ends}

    return _all_commute(optimiser, narrow, rotated, num_updates, has_outside=True)


@lru_cache(maxsize=8)
def _bases(number: int, size: int) -> tuple[np.ndarray, ...]:
    """Return orthonormal maps to larger spaces of two sizes, as rules may look at shapes."""
    rng = np.random.default_rng(0)
    larger = [size + 1 + FEW * (index % 2) for index in range(number)]
    return tuple(np.linalg.qr(rng.standard_normal((each, size)))[0] for each in larger)


def _draw(
    like: PyTree, rng: np.random.Generator, lengths: tuple[float, float], *number: int
) -> PyTree:
    """Return Gaussian arrays, or a number of each, of sizes between two powers of ten.

    By NumPy, as JAX compiles a generator for a second.
    """

    def drawn(leaf: Any) -> np.ndarray:
        size = 10 ** rng.uniform(*lengths, (*number, *[1] * leaf.ndim))
        return size * rng.standard_normal((*number, *leaf.shape))

    return jax.tree.map(drawn, like)


def _commutes(
    optimiser: optax.GradientTransformation,
    like: PyTree,
    lift: Callable[[PyTree], PyTree],
    num_updates: int,
    has_outside: bool,
) -> bool:
    """Return whether R(A(g)) = A(R(g)) in each of many updates of weights of the shapes ``like``.

    If ``has_outside``, A is an isometry, wide weights have a part outside its image, AAᵀw ≠ w, and
    what is updated within it is compared.

    A rule that does not accept these weights, such as one with a mask of another network's, is
    another rule for them.
    """
    rule = optax.with_extra_args_support(optimiser)

    def within(wide: PyTree) -> PyTree:
        return lift(*jax.linear_transpose(lift, like)(wide)) if has_outside else wide

    def updated(state: tuple[PyTree, PyTree], gradient: PyTree) -> tuple[tuple, PyTree]:
        weights, memory = state
        update, memory = rule.update(gradient, memory, weights, value=jnp.ones(()), grad=gradient)
        return (optax.apply_updates(weights, update), memory), update

    def step(progress: tuple, gradients: PyTree) -> tuple:
        number, states, _ = progress
        gradient = jax.tree.map(lambda drawn: drawn[number % len(drawn)], gradients)
        small, update = updated(states[0], gradient)
        wide, actual = updated(states[1], lift(gradient))
        norm = jnp.linalg.norm
        same = [
            norm(one - other) <= SAME * norm(one) + LOST * norm(weight)
            for one, other, weight in zip(
                *map(jax.tree.leaves, (lift(update), within(actual), wide[0])), strict=True
            )
        ]
        return number + 1, (small, wide), jnp.stack(same).all()

    @jax.jit
    def run(weights: PyTree, other: PyTree, gradients: PyTree, num_updates: Scalar) -> Array:
        wide = lift(weights)
        if has_outside:
            wide = jax.tree.map(lambda w, o, i: w + o - i, wide, other, within(other))
        states = tuple((part, rule.init(part)) for part in (weights, wide))
        return jax.lax.while_loop(
            lambda progress: (progress[0] < num_updates) & progress[2],
            partial(step, gradients=gradients),
            (0, states, jnp.array(True)),
        )[2]

    rng = np.random.default_rng(1)
    gradients = _draw(like, rng, (SHORTEST, LONGEST), min(num_updates, GRADIENTS))
    # Concrete within compiled functions, too, in which a prediction may be made.
    with jax.enable_x64(True), jax.ensure_compile_time_eval():
        try:
            shapes = like, jax.eval_shape(lift, like)
            starts = [[_draw(part, rng, (size, size)) for part in shapes] for size in STARTS]
            return all(bool(run(*start, gradients, num_updates)) for start in starts)
        except Exception:  # whatever a rule raises that does not fit these weights
            return False
