"""Theories of a ReLU network with one hidden layer, side by side.

A neuron is z = (w, u), input and output weights, a row of (H, N_in + N_out). Tasks go by name as in
``first_drop``.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import deviation, networks, statistics, theory
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.dynamics.relu_neurons import descend, heun_step, residual_of, velocity
from mdsgdln_book.experiments.first_drop import task_by_name
from mdsgdln_book.tables import Table

TASKS = ["xor 1", "decision 0", "trees 3"]
TASKS += ["gaussian 0", "gaussian 1", "gaussian 2", "groups 0", "groups 2"]
SIGMA, TINY = 1e-4, 1e-32  # of all weights; of those whose first jump is compared with the rate
STEP, BLOCK, MOST_BLOCKS = 0.05, 400, 250  # over the largest rate; steps a block
FALLEN = 0.01  # of the initial loss: curves are compared up to twice the time of this
REFINED = 20  # steps of descent for one of a flow
MOST_NEURONS = 256  # that stand for a network
ACTIVE = 64  # neurons that alternating flows may activate
FINER = 4  # steps of their minimisation, as neurons grow large
STILL = 1e-6  # fall of the loss in a block, over the initial one, that ends it
MOST_STILL = 200  # blocks of a minimisation


def hidden_width(name: str) -> int:
    """Return the number of hidden neurons used for a task."""
    return 128 if name.startswith("xor") else 200


def draw_neurons(task, width: int, seed: int) -> np.ndarray:
    """Return unit Gaussian neurons z."""
    rng = np.random.default_rng([seed, 77])
    layers = [rng.normal(size=(width, len(part))) for part in (task.inputs, task.targets)]
    return np.concatenate(layers, axis=1)


def flow_step(task) -> float:
    """Return the step of the flow: STEP over the largest drive of random neurons."""
    directions = np.random.default_rng(0).normal(size=(2000, len(task.inputs)))
    return STEP / (1.1 * dynamics.drive(task, directions).max())


def loss_at_zero_output(targets) -> float:
    """Return the loss of a network whose outputs are zero."""
    return float(np.sum(np.asarray(targets) ** 2)) / (2 * targets.shape[1])


# Gradient flow ---------------------------------------------------------------------------------


def flow_losses(task, z, step: float, num_steps: int = 0) -> np.ndarray:
    """Return the losses of gradient flow for ``num_steps``, or to twice the learning time."""
    losses = np.zeros(0)
    for _ in range(MOST_BLOCKS):
        z, part = descend(z, task.inputs, task.targets, step, BLOCK)
        losses = np.concatenate([losses, part])
        end = num_steps or 2 * int(np.argmax(losses < FALLEN * losses[0]))
        if 0 < end <= len(losses):
            return losses[:end]
    raise ValueError(f"z: the loss did not fall in {len(losses)} steps")


# Alternating gradient flows --------------------------------------------------------------------


@jax.jit
def grow_dormant_neurons(z, size, dormant, residual, inputs, step, longest):
    """Let dormant neurons climb their utility until the first of them reaches size 1.

    Each direction follows the flow on a residual that stands still; ln size grows by 2U dt.
    """

    climbing = partial(velocity, inputs=inputs, residual=residual / inputs.shape[1])

    def one(state):
        z, size, time, _ = state
        new = heun_step(climbing, z, step)
        stretch = jnp.linalg.norm(new, axis=1)
        return new / stretch[:, None], size + jnp.log(stretch), time + step, jnp.log(stretch)

    def goes_on(state):
        _, size, time, _ = state
        return (jnp.max(jnp.where(dormant, size, -jnp.inf)) < 0) & (time < longest)

    z, size, time, grown = jax.lax.while_loop(goes_on, one, (z, size, 0.0, jnp.zeros(len(z))))
    first = jnp.argmax(jnp.where(dormant, size, -jnp.inf))
    # The last step went a little too far.
    late = jnp.where(grown[first] > 0, step * size[first] / grown[first], 0.0)
    late = jnp.clip(late, 0.0, step)  # none if it was there already, with another one
    return z, size, time - late, first


@jax.jit
def minimise_loss(z, inputs, targets, step):
    """Follow gradient flow until the loss stops falling."""
    power = jnp.sum(targets**2) / (2 * inputs.shape[1])

    def block(carry):
        z, last, _, count = carry
        z, losses = descend(z, inputs, targets, step / FINER, BLOCK)
        return z, losses[-1], last - losses[-1], count + 1

    def goes_on(carry):
        _, _, fall, count = carry
        return ((fall > STILL * power) | (count < 2)) & (count < MOST_STILL)

    z, loss, _, _ = jax.lax.while_loop(goes_on, block, (z, power, power, 0))
    return z, loss


def alternating_flows(task, drawn, scale: float, step: float, longest: float, most: int = ACTIVE):
    """Return jump times and plateau losses of alternating gradient flows from given weights.

    Dormant neurons climb their utility on the residual that the active ones leave. One whose
    accumulated utility ∫ 2U dt passes ln(1/size) joins the active ones, with size 1, and for good.
    These minimise the loss, in no time. At most ``most`` jumps are followed.
    """
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    length = np.linalg.norm(drawn, axis=1)
    z, size = drawn / length[:, None], np.log(scale * length)
    dormant = np.ones(len(z), bool)
    active = np.zeros((ACTIVE, z.shape[1]))  # a neuron of weight zero stays so
    time, times, losses = 0.0, [], []
    for count in range(most):
        residual = residual_of(active, inputs, targets)
        z, size, waited, first = grow_dormant_neurons(
            z, size, dormant, residual, inputs, step, longest - time
        )
        time += float(waited)
        if size[first] < 0 or time >= longest:
            break
        dormant[first] = False
        active = np.array(active)
        active[count] = z[first]
        active, loss = minimise_loss(active, inputs, targets, step)
        times.append(time)
        losses.append(float(loss))
        if loss < FALLEN / 10 * loss_at_zero_output(targets):
            break
    return np.array(times), np.array(losses)


def staircase_loss(found, initial: float, times) -> np.ndarray:
    """Return the loss of alternating gradient flows at given times."""
    jumps, losses = found
    levels = np.concatenate([[initial], losses])
    return levels[np.searchsorted(jumps, times, side="right")]


# The tangent kernel, modes, basins -------------------------------------------------------------


def kernel_losses(task, z, times) -> np.ndarray:
    """Return the losses of a network with its tangent kernel frozen at initialisation."""
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    w, u = np.split(z, [len(inputs)], axis=1)
    activity = np.maximum(w @ inputs, 0)
    signals = ((activity > 0).T[:, None] * u.T).reshape(targets.size, -1)  # samples first
    alike = np.kron(inputs.T @ inputs, np.ones((len(targets), len(targets))))
    kernel = signals @ signals.T * alike + np.kron(activity.T @ activity, np.eye(len(targets)))
    rates, modes = np.linalg.eigh(kernel / inputs.shape[1])
    parts = (modes.T @ np.asarray(residual_of(z, inputs, targets)).T.ravel()) ** 2
    decay = np.exp(-2 * np.outer(times, np.maximum(rates, 0)))
    return decay @ parts / (2 * inputs.shape[1])


def mode_losses(task, width: int, scale: float, times) -> np.ndarray:
    """Return the losses of a linear network of the same width, predicted mode by mode."""
    found = statistics.modes(task)
    start = width * scale**2 / 2
    strengths = theory.mode_trajectory(times, found.singular_values, found.input_variances, start)
    return np.asarray(theory.mode_losses(task, found, strengths))


def basin_neurons(found, width: int, scale: float) -> np.ndarray:
    """Return one neuron per basin that carries the strength of all its neurons."""
    strength = np.sqrt(width * scale**2 * np.array([basin.mass for basin in found]))
    rows = [np.concatenate([basin.input_weights, basin.output_weights]) for basin in found]
    return strength[:, None] * np.array(rows)


# Side by side ----------------------------------------------------------------------------------


def half_loss_step(losses) -> int:
    """Return the first step with less than half the initial loss, or the number of steps.

    Stairs, and the limit of a linear network, may be at half but for rounding: that is not less.
    """
    below = np.asarray(losses) < (0.5 - 1e-6) * losses[0]
    return int(np.argmax(below)) if below.any() else len(below)


def predicted_curves(task, width: int, z, found, step: float, num_steps: int) -> dict:
    """Return the loss curves that each theory predicts from given weights at σ = SIGMA.

    The stand-in (predict) and as many neurons that are drawn, not designed (drawn), one neuron per
    basin (few), alternating flows, linear modes, the kernel at the start.
    """
    times, key = step * np.arange(num_steps), jax.random.key(0)
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    # Flows take Heun's steps: descent in finer ones stays within a thousandth of them.
    fine = theory.predict(network, SIGMA, task, step / REFINED, REFINED * num_steps, key=key)
    number = min(width, MOST_NEURONS) // 4 * 4
    larger = SIGMA * np.sqrt(width / number)
    staircase = alternating_flows(task, z, SIGMA, step, times[-1])
    return {
        "predict": np.asarray(fine.losses[::REFINED]),
        "drawn": flow_losses(task, larger * draw_neurons(task, number, 2), step, num_steps),
        "few": flow_losses(task, basin_neurons(found, width, SIGMA), step, num_steps),
        "flows": staircase_loss(staircase, loss_at_zero_output(task.targets), times),
        "modes": mode_losses(task, width, SIGMA, times),
        "kernel": kernel_losses(task, SIGMA * z, times),
    }


def compare_theories(task: str) -> dict:
    """Return the relative error of several theories of a small ReLU network.

    Results:
        NAME_curve, NAME_half: relative errors of the curve and of the half-loss time, 1 if it never
            comes; of another random seed (other), and of the theories of ``predicted_curves``.
        first: time of the first jump of alternating flows from σ = 1e-32, over ln(1/σ).
        rate: of the fastest basin.
    """
    data, width = task_by_name(task), hidden_width(task)
    z, step = draw_neurons(data, width, 0), flow_step(data)
    losses = flow_losses(data, SIGMA * z, step)
    found = dynamics.basins(data, key=jax.random.key(0))
    curves = predicted_curves(data, width, z, found, step, len(losses))
    curves["other"] = flow_losses(data, SIGMA * draw_neurons(data, width, 1), step, len(losses))
    results = {}
    for name, curve in curves.items():
        half = half_loss_step(curve)
        late = abs(half / half_loss_step(losses) - 1) if half < len(curve) else 1.0
        results |= {f"{name}_curve": deviation(curve, losses), f"{name}_half": late}
    jumps, _ = alternating_flows(data, z, TINY, step, np.inf, most=1)
    return results | {"first": jumps[0] / np.log(1 / TINY), "rate": found[0].rate}


TABLES = {"other_theories": Table(compare_theories, sweeps.grid(task=TASKS), repeated=(0,))}
