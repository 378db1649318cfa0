"""The kinds of neurons in a recording, how stable they are, and how well each neuron fits."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import bdtrc

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.discovery.caveats import (
    ABOVE_ZERO,
    CENTRED,
    CLOSE,
    OUTSIDE,
    coarseness,
    is_centred,
    never_recorded,
    of_shape,
    silence_is_unknown,
    unsteady,
)
from mdsgdln.discovery.clusters import checked_activity, checked_weights
from mdsgdln.discovery.density import APART, SMALLEST, Mixture, States, mixture
from mdsgdln.discovery.evidence import Tested, tested_modes
from mdsgdln.discovery.recordings import Recording
from mdsgdln.discovery.trials import entries, listed

MOST_NEURONS = 1000  # that are clustered
DISSOLVED = 0.5  # stability of what is no kind
FITS = 0.99  # of a neuron's members whose misfit trial noise explains


@dataclass(frozen=True, eq=False, repr=False)
class Kinds:
    """Kinds of neurons; printed as a table, drawn by ``plots.kinds``.

    Attributes:
        gates: 0 or 1, shape (K, P), in decreasing order of size; none if there are no kinds.
        gate_of: index of each neuron's gate, shape (neurons,); −1 if it has no kind.
        stability: of each kind, shape (K,): the mean Jaccard similarity of its neurons with those
            of the most similar kind in halves of all neurons (clusterwise, Hennig 2007).
        misfit: share of each neuron's conditions that differ from its gate, or from the nearest if
            it has no kind, shape (neurons,); NaN without kinds.
        noise: the misfit that trial noise explains in the mean, as far as halves of the trials
            differ (``Recording.noise``), shape (neurons,); NaN if unknown.
        shares: of all neurons, or of the weight, of each kind, shape (K,).
        silhouette: mean over neurons of 1 − (distance to own gate) / (to the next one), zero for
            neurons of no kind.
        null: the same of each surrogate, with as many kinds at most.
        reason: why there are no kinds, in words; empty if there are kinds.
        caveats: warnings of what the recording cannot tell.
        activity: as given, shape (neurons, P); NaN where not recorded.
        neurons: their names as in the ``Recording``, or their indices.
        conditions: names of the samples as in the ``Recording``, or empty.
    """

    gates: Int[np.ndarray, "K P"]
    gate_of: Int[np.ndarray, " neurons"]
    stability: Float[np.ndarray, " K"]
    misfit: Float[np.ndarray, " neurons"]
    noise: Float[np.ndarray, " neurons"]
    shares: Float[np.ndarray, " K"]
    silhouette: float
    null: Float[np.ndarray, " surrogates"]
    reason: str
    caveats: tuple[str, ...]
    activity: Float[np.ndarray, "neurons P"]
    neurons: tuple[Hashable, ...]
    conditions: tuple[Hashable, ...]

    @property
    def on_for(self) -> list[str]:
        """Conditions in which each gate is on: ``["gate 1: all", "gate 2: A, B"]``."""
        names = self.conditions or range(self.gates.shape[1])
        return [
            f"gate {index}: {in_words(gate, names)}" for index, gate in enumerate(self.gates, 1)
        ]

    def __repr__(self) -> str:
        neurons, conditions = self.activity.shape
        verdict = "no kinds" if self.reason else f"{len(self.gates)} kinds of neurons"
        lines = [f"{neurons} neurons (rows) in {conditions} conditions (columns): {verdict}"]
        lines += [self.reason] if self.reason else ["gate  on for  neurons  stability  misfit"]
        for index, gate in enumerate(self.gates):
            own = self.gate_of == index
            row = f"{index + 1:4d} {gate.sum():4d}/{len(gate):<3d}{own.sum():7d}"
            lines.append(f"{row} {self.stability[index]:10.2f} {self.misfit[own].mean():7.1%}")
        if not self.reason:
            lines.append(f"none {(self.gate_of < 0).sum():15d}")
        lines += ["", "on for", *self.on_for] if self.conditions and not self.reason else []
        return "\n".join([*lines, *([""] if self.caveats else []), *self.caveats])


def in_words(gate: Int[np.ndarray, " P"], names: Sequence[Hashable]) -> str:
    """Return the conditions in which a gate is on, in words.

    If labels are tuples and the gate depends on one of their entries alone, the values of this
    entry are listed; otherwise the conditions, or the missing ones if they are fewer.
    """
    on = [name for name, entry in zip(names, gate, strict=True) if entry]
    off = [name for name, entry in zip(names, gate, strict=True) if not entry]
    if not off:
        return "all"
    for position in range(min(len(entries(name)) for name in names)):
        values, others = ({entries(name)[position] for name in part} for part in (on, off))
        if len(values) < len(on) and not values & others:
            return listed(sorted(values, key=lambda value: (type(value).__name__, value)))
    return f"all but {listed(off)}" if len(off) < len(on) else listed(on)


def find(
    activity: Numbers | Recording,
    weights: Numbers | None = None,
    resamples: int = 10,
    seed: int = 0,
) -> Kinds:
    """Find the kinds of recorded neurons, where there are any, and the neurons that have none.

    A kind is a *mode of density*: a pattern of on and off that many neurons share, up to noise,
    with an empty gap to the next (``density_modes``). Modes are kinds if they

    1. are *decided*: neurons of a stretch of a continuum disagree on the conditions at its ends;
    2. are farther apart, by the silhouette, than in *surrogates*: twenty populations of thresholded
       Gaussians with the same correlations of conditions, of full and of low rank;
    3. have a stability of a half or more.

    A kind has at least five neurons, and two in a hundred of all. One kind alone is none.

    Kinds that differ in fewer than three conditions count as one. In three contexts, or the four
    cells of a task, that may be all, and a warning says so: see ``common_patterns``.

    A continuum with few distinct conditions cannot be told from kinds: if there are no more kinds
    than groups of conditions and one, only a caveat says that 2 is missed. More kinds than that, as
    five in three contexts, need 2, as independent responses would give as many patterns. With so
    many, or with six groups or more, a caveat says if neighbours differ in one or two groups alone:
    of all kinds, or of some, as where one continuum is crossed with another. A neuron whose misfit
    is larger than the noise of its trials explains has no kind.

    For a trained network, in which silence is zero, use a layer of ``network.activations`` and, as
    weights, the ``importance`` of its neurons: as many as these are worth, (Σw)² / Σw², are drawn.
    A caveat says if a second draw has other kinds.

    Args:
        activity: shape (neurons, P), binary or real, on where above zero; stack recordings of
            different neurons. Or a ``Recording``, as from ``activity_by_condition``. A neuron that
            is there several times would count as several, and as a kind. So would neurons that
            share an event, as a movement, if there is one trial a condition; with more
            trials, their gates differ between halves of the trials, and a caveat says so.
        weights: importance of each neuron, shape (neurons,); equal by default.
        resamples: halves of the neurons, from which the stability is computed.
        seed: of what is drawn: surrogates, halves, and 1000 neurons if there are more.

    Warns:
        UserWarning: what the recording cannot tell, or it is transposed.
    """
    resamples = checks.positive_integer("resamples", resamples)
    checks.seed(seed)
    recording = activity if isinstance(activity, Recording) else None
    activity = activity.activity if isinstance(activity, Recording) else checked_activity(activity)
    weight = checked_weights(activity, weights)
    rng, patterns = np.random.default_rng(seed), States.of(activity)
    sample = patterns.take(_clustered(activity, weight, rng))
    tested = tested_modes(sample, rng, seed)
    found, stability, reason, caveats = _lasting(tested, patterns, sample, resamples, rng)
    noise = recording.noise(rng) if recording else np.full(len(activity), np.nan)
    gate_of, misfit = _fitting(found, patterns, noise)
    gates = found.gates.astype(int)
    centred = recording is None and is_centred(activity)
    if reason:
        caveats += [ABOVE_ZERO] * (not centred and silence_is_unknown(activity, recording))
        caveats += [CLOSE.format(tested.close)] * (tested.close > 1)
    else:
        if weights is not None and len(sample.on) < patterns.on.any(axis=1).sum():
            caveats += _in_another_draw(tested, patterns, activity, weight, seed)
        caveats += [OUTSIDE] * bool((gate_of < 0).sum() > len(gate_of) / 2)
    caveats = [*caveats, *[CENTRED] * centred]
    conditions = recording.conditions if recording else ()
    caveats += unsteady(recording.halves(rng), gate_of) if recording else []
    caveats += never_recorded(sample, found.kind(sample), conditions or range(gates.shape[1]))
    caveats = [*of_shape(*activity.shape), *caveats]
    if caveats:
        warnings.warn(f"find: {' '.join(caveats)}", stacklevel=2)
    held = np.bincount(gate_of[gate_of >= 0], weight[gate_of >= 0], minlength=len(gates))
    return Kinds(
        gates=gates,
        gate_of=gate_of,
        stability=stability,
        misfit=misfit,
        noise=noise,
        shares=held / weight.sum(),
        silhouette=tested.apart,
        null=np.array(tested.null),
        reason=reason,
        caveats=tuple(caveats),
        activity=activity,
        neurons=recording.neurons if recording else tuple(range(len(activity))),
        conditions=conditions,
    )


def _clustered(activity: np.ndarray, weight: np.ndarray, rng) -> np.ndarray:
    """Return the neurons that are clustered: of those ever on, as many as the weights are worth.

    They are drawn in proportion to their weights; n equal weights are worth n neurons.
    """
    weight = np.where((activity > 0).any(axis=1), weight / weight.max(), 0)
    worth = weight.sum() ** 2 / (weight**2).sum()
    number = int(np.clip(np.ceil(worth - 1e-6), 1, MOST_NEURONS))
    return np.sort(rng.choice(len(weight), number, replace=False, p=weight / weight.sum()))


def _in_another_draw(
    tested: Tested, patterns: States, activity: np.ndarray, weight: np.ndarray, seed: int
) -> list[str]:
    """Return a caveat if other neurons, drawn by their weights, have other kinds."""
    rng = np.random.default_rng([seed, 1])
    other = tested_modes(patterns.take(_clustered(activity, weight, rng)), rng, seed)
    one, two = (each.modes.gates[each.clear & (not each.reason)] for each in (tested, other))
    alike = ((one[:, None] != two).sum(axis=2) < APART).any(axis=1).sum()
    if alike == len(one) == len(two):
        return []
    return [
        f"A second draw of neurons by their weights has {len(two)} kinds, {alike} of them found "
        "here: compare several seeds."
    ]


def _lasting(
    tested: Tested, patterns: States, sample: States, resamples: int, rng
) -> tuple[Mixture, np.ndarray, str, list[str]]:
    """Return the kinds among tested modes, their stability, or why there are none, and caveats."""
    modes, clear, reason = tested.modes, tested.clear, tested.reason
    found = modes.only(clear & (not reason))
    found = found.only(np.lexsort([*found.gates.T[::-1], found.gates.sum(axis=1)])[::-1])
    stability = _stability(found, sample, tested.share, resamples, rng)
    lasting = stability >= DISSOLVED
    if not reason and lasting.sum() < 2:
        reason = "kinds dissolve in halves of the neurons"
    found, stability = found.only(lasting & (not reason)), stability[lasting & (not reason)]
    if reason:
        return found, stability, reason, []
    caveats = coarseness(found.gates, tested.apart, max(tested.null))
    if not clear.all():
        number = np.isin(modes.kind(patterns), np.flatnonzero(~clear)).sum()
        left = f"{(~clear).sum()} ({number} neurons)"
        caveats.append(f"Modes left out, as their gates are not decided: {left}.")
    if not lasting.all():
        left = f"{(~lasting).sum()}"
        caveats.append(f"Modes left out, as they dissolve in halves of the neurons: {left}.")
    return found, stability, reason, caveats


def _stability(found, sample, share, resamples, rng) -> np.ndarray:
    kind, jaccard = found.kind(sample), np.zeros((resamples, len(found.gates)))
    for row in jaccard if len(found.gates) else ():
        half = rng.permutation(len(kind))[: len(kind) // 2]
        again = mixture(sample.take(half), share, (SMALLEST + 1) // 2).kind(sample.take(half))
        for index in range(len(row)):
            members = kind[half] == index
            others = [again == other for other in range(again.max(initial=-1) + 1)]
            similar = [(members & each).sum() / max((members | each).sum(), 1) for each in others]
            row[index] = max(similar, default=0.0)
    return jaccard.mean(axis=0)


def _fitting(found: Mixture, patterns: States, noise: np.ndarray):
    """Return each neuron's kind, −1 where trial noise does not explain the misfit, and misfit."""
    if not len(found.gates):
        return np.full(len(noise), -1), np.full(len(noise), np.nan)
    kind, active = found.kind(patterns), patterns.on.any(axis=1)
    known, misfits = patterns.known.sum(axis=1).astype(int), patterns.misfit(found.gates)
    misfit = np.where(kind >= 0, misfits[np.arange(len(kind)), kind], misfits.min(axis=1))
    usual = np.array([np.median(misfit[kind == k]) for k in range(len(found.gates))])
    rate = np.fmax(np.fmax(noise, usual[kind]), 0.5 / known)
    as_many = bdtrc(np.rint(misfit * known) - 1, known, rate)  # probability of so many, or more
    explains = np.isnan(noise) | (as_many > 1 - FITS)
    return np.where(active & explains, kind, -1), misfit
