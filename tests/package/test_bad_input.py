"""Bad input: every argument of every public function, given what it cannot use, is named.

``GOOD`` holds a good call of each public function, class and method. Its arguments are spoilt one
after the other in the ways of ``spoilt``, but for those of ``FINE``; ``CASES`` says what else is
refused. All of it as for a user, without the run-time checks of types: only ``ValueError`` will do.
"""

import inspect
import math
import pkgutil
from importlib import import_module
from types import FunctionType, SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from bad_input import refused

import mdsgdln
import mdsgdln as md
from mdsgdln import discovery, networks, squared_error, statistics, tasks

pytestmark = pytest.mark.filterwarnings("ignore:(predict|find)")
NOTHING = object()
KEY = jax.random.key(0)
TASK = tasks.Task(np.eye(3), [[1.0, 2.0, 0.0]], labels=["a", "b", "c"])
OTHER = tasks.Task(np.eye(3), np.ones((2, 3)))
CONTEXTS = tasks.contextual(3, 4)
UNEVEN = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # Σ over items: 2, 2, 1
ROUTING = tasks.routing(2)
UNEQUAL = tasks.routing(2, input_maps=[np.eye(4)[:3], np.eye(5)[:, :4]])
SHIFTED = tasks.contextual(2, 4, ["tree", np.eye(4)[[0, 2, 1, 3]]])
LINEAR, RELU = networks.LinearNetwork((3, 2, 1)), networks.ReLUNetwork((3, 2, 1))
TWO_LAYERS, NARROW = networks.ReLUNetwork((3, 2, 2, 1)), networks.ReLUNetwork((3, 3, 1))
DEEP = networks.Layered((3, 400, 400, 1), jnp.tanh)
SIZES, EDGES = {"in": 3, "hidden": 2, "out": 1}, [("in", "hidden"), ("hidden", "out")]
GATES = {"hidden": [1.0, 1.0, 0.0]}
GATED = networks.GatedNetwork(SIZES, EDGES, GATES, {EDGES[1]: np.ones(3)})
WIDE_PATHS = networks.GatedNetwork(SIZES | {"out": 2}, EDGES)
SINGLE = networks.GatedNetwork(SIZES, EDGES, {"hidden": np.ones((2, 3))})
ONE_INTO_TWO = networks.GatedNetwork(SIZES | {"other": 1}, [*EDGES, ("hidden", "other")])
DEEP_EDGES = [EDGES[0], ("hidden", "k"), ("k", "out")]
DEEP_PATHS = networks.GatedNetwork(SIZES | {"k": 2}, DEEP_EDGES)
ROUTES = networks.routing_network(ROUTING, 2, 2, 8)
SHIFTED_PATHS = networks.pathways(SHIFTED, np.kron([[1, 1], [1, 0]], np.ones(4)), 8)
LAYERS, BY_EDGE = LINEAR.init(KEY, 0.5), GATED.init(KEY, 0.5)
SCALES = dict.fromkeys(BY_EDGE, 0.1)
PATH = ("in", "hidden", "out")
PATH_MODES = {PATH: statistics.modes(statistics.effective_dataset(GATED, TASK, PATH))}
ALIKE = np.tile([1.0, 1.0, 0.0], (4, 1))  # neurons of one kind
TIMES = np.linspace(0, 40, 30)
LOSS = np.exp(-TIMES)
HALVES = np.kron(np.eye(3), np.ones(2))
W1, W2, B1 = np.ones((2, 3)), np.ones((4, 2)), np.ones(2)


def slope(weights):
    return weights[0].sum()


def decay(network, weights, task):
    return (weights[0] ** 2).sum()


def outputs_of(network, weights, task):
    return network.apply(weights, task.inputs)


INSTANCES = {
    "tasks.Task": TASK,
    "graphs.Graph": GATED.graph,
    "networks.GatedNetwork": GATED,
    "networks.LinearNetwork": LINEAR,
    "networks.Layered": RELU,
    "networks.ReLUNetwork": RELU,
}
METHODS = ("", ".init", ".check", ".scales")
KINDS = "Layered", "LinearNetwork", "ReLUNetwork"
STATE = md.train(LINEAR, LAYERS, TASK, 0.1, 2, optimiser=optax.adam).state
RELU_RUN = {"network": RELU, "weights": LAYERS}
HUGE = [np.full((2, 3), 1e200), LAYERS[1]]
WIDE = {"network": networks.ReLUNetwork((3, 400, 1)), "scale": 1e-4, "optimiser": None}
NOT_DECOUPLED = {"task": SHIFTED, "network": SHIFTED_PATHS, "starts": 0.1}
NO_LEVEL = {"threshold": None, "baseline": None}
LOOKAHEAD = {"optimiser": optax.lookahead(optax.sgd(0.1), 5, 0.5), "learning_rate": None}
PATTERNS = {"weights": np.ones(4)}
READS_ROWS = {"sizes": {"a": 2, "b": 1, "c": 2}, "edges": [("a", "b"), ("c", "b")]}
SQUEEZED = {"network": networks.GatedNetwork(SIZES | {"out": 3}, EDGES), "starts": 0.1}
SQUEEZED |= {"task": tasks.Task(np.eye(3), np.diag([1.0, 2.0, 3.0]))}
EDGE_RACE = {"network": ROUTES, "task": ROUTING, "starts": dict.fromkeys(ROUTES.graph.edges, 0.1)}
STRENGTHS = {"singular_values": [2.0, 1.0], "input_variances": [1.0, 1.0], "starts": [0.1, 0.1]}
LAYERED = {"sizes": (3, 2, 1), "weights": LAYERS, "scale": [0.1, 0.2], "activation": jnp.tanh}
LAYERED |= {"biases": [False, False]}
SMALL = {"scale": [1e-3, 1e-3]}
ARGUMENTS = (  # of most functions, by their names
    {"task": TASK, "inputs": np.eye(3), "targets": np.ones((1, 3))}
    | {"labels": ["a", "b", "c"], "columns": [0, 1], "items": tasks.hierarchy(), "margin": 1.0}
    | {"num_contexts": 3, "num_items": 4, "subset_size": 2, "subsets": [[0, 1], [2]]}
    | {"structure": "tree", "structures": ["tree", "ring", "cross"], "common": "tree"}
    | {"num_domains": 2, "num_trained": 1, "num_layers": 2, "num_sharing": 1}
    | {"network": GATED, "weights": BY_EDGE, "scale": SCALES, "gain": 0.1, "key": KEY}
    | {"sizes": {"a": 2, "b": 1}, "edges": [("a", "b")], "node_gates": {"b": np.ones(3)}}
    | {"rows": {"a": [0, 1]}}
    | {"edge_gates": {("a", "b"): np.ones(3)}, "gates": {"hidden": np.ones(3)}, "path": PATH}
    | {"times": TIMES, "learning_rate": 0.1, "observe": slope, "num_hidden": 5}
    | {"path_modes": PATH_MODES, "modes": statistics.modes(TASK)}
    | {"num_neurons": 32, "losses": LOSS, "reference": LOSS, "learned": None, "seed": 0}
    | {"activity": ALIKE, "resamples": 1, "num_clusters": 2, "baseline": np.zeros(3)}
    | {"threshold": np.zeros(3), "suppressed": False, "axes": None, "title": "", "x_label": "time"}
    | {"names": None}
)
OWN = {  # of those that take others
    "tasks.Task.from_samples": {"X": np.ones((3, 2)), "Y": np.ones(3)},
    "tasks.structure": {"name": np.eye(4)},
    "tasks.routing": {"input_maps": [np.eye(4)] * 2, "output_maps": [np.eye(7)] * 2},
    "tasks.trained_routes": {"num_domains": 3, "num_trained": 2},
    **{f"networks.{kind}{method}": LAYERED for kind in KINDS for method in METHODS},
    "networks.pathways": {"gates": np.ones((2, 3)), "num_hidden": [2, 3]}
    | {"input_masks": np.ones((2, 3)), "output_bias": False},
    "networks.contextual_pathways": {"task": CONTEXTS, "num_hidden": [5, 5, 5, 5]},
    "networks.routing_network": {"task": ROUTING, "num_domains": 2, "num_trained": 2}
    | {"num_hidden": 8},
    "networks.from_weights": {"weights": [W1, W2], "biases": [B1, None], "convention": "torch"}
    | {
        "activation": "relu",
        "check": (np.outer([1, -1], np.ones(3)), np.outer([8, 0], np.ones(4))),
    },
    "losses.check_targets": {"loss": md.logistic},
    "theory.predict": {"num_steps": 2, "optimiser": optax.sgd, "loss": md.squared_error}
    | {"batch_size": 2, "held_out": None, "every": 1},
    "theory.stand_in": {"optimiser": optax.sgd(0.1), "loss": md.squared_error, "num_steps": 9},
    "training.train": {"network": LINEAR, "weights": LAYERS, "num_steps": 2, "every": 1}
    | {"optimiser": optax.adam, "batch_size": 2, "loss": decay}
    | {"held_out": TASK, "state": STATE, "progress": False},
    "theory.contextual_closed_form": {"strengths": [0.1, 0.1]},
    "theory.context_preference": RELU_RUN | {"contexts": np.arange(3) % 2},
    "theory.mode_trajectory": STRENGTHS | {"depth": 3},
    "theory.mode_losses": {"strengths": np.ones((1, 5))},
    "theory.pathway_race": {"starts": {PATH: [0.1]}},
    "theory.applicability": {"scale": [0.1, 0.1]},
    "theory.decoupled_weights": EDGE_RACE,
    "theory.shared_race": EDGE_RACE | {"learning_rate": None},
    "theory.expected_initial_strength": {"scale": [0.1, 0.1]},
    "plots.kinds": {"found": discovery.find(ALIKE, resamples=1)},
    "gates.is_realisable": {"pattern": np.ones((3, 2))},
    "gates.are_realisable": {"gates": np.ones((2, 3))},
    "discovery.find": PATTERNS,
    "discovery.activity_by_condition": {"trials": HALVES, "labels": [0, 0, 1, 1, 2, 2]},
    "discovery.k_means_gates": PATTERNS | {"activity": np.eye(4)},
    "discovery.common_patterns": PATTERNS | {"activity": np.eye(4)},
    "discovery.importance": {"incoming": LAYERS[0], "outgoing": LAYERS[1]},
}
LOSSES = "squared_error", "cross_entropy", "logistic"
FORWARD, BASE = ("activations", "apply", "gates"), ("apply", "init", "take", "check")
UNCHECKED = "traced at every step of training, which checks; here shapes alone are"
LEFT_OUT = {  # with the reason
    "discovery.Kinds": "made by find, which checks",
    "discovery.Recording": "made by activity_by_condition, which checks",
    "discovery.Recording.noise": "for find, which draws",
    "discovery.Recording.halves": "for find, which draws",
    "graphs.Graph": "made by Graph.build, which checks; bare where it is known to be right",
    "losses.check_targets": "for train, which checks the rest",
    **{f"losses.{name}": "called by train, which checks" for name in LOSSES},
    **{f"networks.{kind}.take": "is the network itself, whatever the samples" for kind in KINDS},
    **{f"networks.{kind}.{name}": UNCHECKED for kind in KINDS for name in FORWARD},
    **{f"networks.Network.{name}": "only says what a network has" for name in BASE},
    "networks.GatedNetwork.activations": UNCHECKED,
    "networks.GatedNetwork.apply": UNCHECKED,
    "networks.GatedNetwork.path_gate": "for theory, which checks",
}


def spoilt(good):
    """Yield (fault, value) for what may be wrong in place of a good value."""
    yield "type", NOTHING
    if isinstance(good, jax.Array) and jax.dtypes.issubdtype(good.dtype, jax.dtypes.prng_key):
        yield from {"dtype": np.zeros(2), "several": jax.random.split(good, 3)}.items()
    elif isinstance(good, np.ndarray | jax.Array):
        good = np.asarray(good, float)
        gap = np.where(np.arange(good.size).reshape(good.shape) == 0, np.nan, good)
        yield from {"NaN": gap, "axes": good[None, None], "complex": good + 1j}.items()
        yield from {"empty": good[:0], "longer": np.concatenate([good, good], axis=-1)}.items()
    elif isinstance(good, int | float) and not isinstance(good, bool):
        yield from {"NaN": float("nan"), "text": str(good), "negative": -good - 1}.items()
        yield from {"infinite": float("inf"), "several": [good] * 9}.items()
        if isinstance(good, int):
            yield "zero", 0
    elif isinstance(good, str):
        yield "text", "nonsense"
    elif type(good) in (list, tuple, dict):
        yield "empty", type(good)()
        first, *others = good if isinstance(good, dict) else range(len(good))
        if others:
            yield "fewer", {k: good[k] for k in others} if isinstance(good, dict) else good[1:]
        for fault, wrong in spoilt(good[first]):
            if fault != "several":
                changed = dict(good) if isinstance(good, dict) else list(good)
                changed[first] = wrong
                yield f"one {fault}", changed


FREE = {"suppressed", "x_label", "title"}
ANY_NAME = {"one type", "one text", "one one type", "one one text"}
ANY_LENGTH = ("theory.mode_losses.strengths",)
ONE_FOR_ALL = ("singular_values", "input_variances", "theory.mode_trajectory.starts")
STARTS = ("theory.decoupled_weights.starts", "theory.shared_race.starts")
FINE = {  # what is good after all
    **dict.fromkeys(("node_gates", "edge_gates"), {"empty"}),
    **dict.fromkeys(("X", "pattern", "activity", "incoming", *ANY_LENGTH), {"longer"}),
    **dict.fromkeys(("sizes", *ONE_FOR_ALL), {"fewer"}),
    **dict.fromkeys(STARTS, {"one negative"}),
    "theory.contextual_closed_form.times": {"longer"},
    "labels": ANY_NAME | {"one negative", "one zero", "one infinite"},
    "columns": {"fewer", "one negative", "one zero"},
    "rows": {"empty", "one one zero"},
    "subsets": {"fewer", "one fewer", "one one zero"},
    "trials": {"NaN"},
    "baseline": {"NaN"},
    "seed": {"zero"},
}


def public():
    """Return {name: function} of what takes arguments; a method is bound to a good instance."""
    found = {}
    for each in pkgutil.iter_modules(mdsgdln.__path__):
        module = import_module(f"mdsgdln.{each.name}")
        again = each.name == "prediction"  # all of it is in theory, too
        for name in () if each.name.startswith("_") or again else module.__all__:
            kind, name = getattr(module, name), f"{each.name}.{name}"
            made_by_users = not hasattr(kind, "_fields")
            error = isinstance(kind, type) and issubclass(kind, Exception)
            if isinstance(kind, FunctionType) or isinstance(kind, type) and made_by_users:
                found |= {} if error else {name: kind}
            for method in dir(kind) if isinstance(kind, type) and not error else ():
                function = getattr(INSTANCES.get(name, kind), method)
                own = getattr(function, "__module__", "") or ""
                if own.startswith("mdsgdln.") and not method.startswith("_"):
                    found |= {f"{name}.{method}": function} if inspect.isroutine(function) else {}
    return {name: call for name, call in found.items() if inspect.signature(call).parameters}


PUBLIC = public()


def good_call(name):
    """Arguments of a public function, its own or those of most functions."""
    arguments = ARGUMENTS | OWN.get(name, {})
    return {each: arguments[each] for each in inspect.signature(PUBLIC[name]).parameters}


GOOD = {name: good_call(name) for name in PUBLIC if name not in LEFT_OUT}


@pytest.mark.parametrize("call", GOOD)
def test_good_calls_are_good_and_spoilt_ones_are_named(call):
    PUBLIC[call](**GOOD[call])
    for argument, good in GOOD[call].items():
        fine = FINE.get(f"{call}.{argument}", FINE.get(argument, set()))
        for fault, wrong in () if argument in FREE else spoilt(good):
            if fault not in fine:
                # Where two do not fit each other, either may be named.
                unfit = fault in ("empty", "fewer") or fault.endswith("longer")
                names = ["check", "labels", *GOOD[call]] if unfit else [argument, "path"]
                with refused(rf"^({'|'.join(names)})\b"):
                    PUBLIC[call](**GOOD[call] | {argument: wrong})


@pytest.mark.parametrize("call", GOOD)
def test_good_calls_stay_in_the_default_precision(call):
    """As JAX is when readers import it; a warning, as of a precision that is not there, fails."""

    def single(leaf):
        double = isinstance(leaf, jax.Array) and leaf.dtype == np.float64
        return leaf.astype(np.float32) if double else leaf

    function = PUBLIC[call]
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, type):
        function = getattr(jax.tree.map(single, owner), function.__name__)
    with jax.enable_x64(False):
        found = function(**jax.tree.map(single, GOOD[call]))
        leaves = [leaf for leaf in jax.tree.leaves(found) if isinstance(leaf, jax.Array)]
        assert not [leaf for leaf in leaves if leaf.dtype == np.float64]


def bad(call, words=None, /, **changes):
    """A bad call: a good one with changes, and the words that name what is wrong."""
    words = words or f"^({'|'.join(changes)})\\b"
    return pytest.param(call, changes, words, id=f"{call}-{'-'.join(changes)}")


CASES = [
    bad("tasks.Task.take", columns=[99]),
    bad("tasks.semantic", num_items=6),
    bad("tasks.semantic", structure="ring", num_items=5),
    bad("tasks.semantic", structure="cross", num_items=2),
    bad("tasks.contextual", "structure", structures=[np.ones((3, 7)), "tree", "tree"]),
    bad("tasks.trained_routes", num_trained=4),
    *(bad("networks.Layered", activation=each) for each in (math.tanh, jnp.sum, list)),
    bad("networks.GatedNetwork", sizes={"a": 2, "b": 1, "idle": 1}),
    bad("networks.GatedNetwork", "sizes: .* that can be sorted", sizes={0: 3, "h": 4, 1: 2}),
    bad("networks.GatedNetwork", edges=[("a", "b"), ("a", "b")]),
    bad("networks.GatedNetwork", "cycle", edges=[("a", "b"), ("b", "a")]),
    bad("networks.GatedNetwork", node_gates={"g": np.ones(3)}),
    bad("networks.GatedNetwork", "edges", edges=[(["a"], "b")]),
    bad("networks.GatedNetwork", **READS_ROWS, rows={"a": [0, 1]}),
    bad("networks.GatedNetwork", "or indices", **READS_ROWS, rows={"a": [False, True]}),
    bad("networks.pathways", input_masks=np.zeros((2, 3))),
    bad("networks.pathways", "row of ones, as of tasks.with_ones", output_bias=True),
    bad("discovery.importance", r"incoming\[1\]", incoming=(np.eye(2), np.ones(3))),
    bad("networks.contextual_pathways", num_contexts=5),
    bad("networks.contextual_pathways", num_contexts=4),  # of three contexts and four items
    bad("networks.contextual_pathways", subset_size=4),
    bad("networks.routing_network", task=TASK),
    bad("networks.routing_network", num_sharing=3),
    bad("networks.routing_network", "1 trained outputs", num_trained=1),
    bad("networks.routing_network", "domains of one size", task=UNEQUAL),
    bad("networks.from_weights", r"weights\[1\]: .* from 2 neurons.*torch", weights=[W1, W2.T]),
    bad("networks.from_weights", r"biases\[1\]: expected shape", biases=[B1, np.ones(5)]),
    bad("networks.from_weights", r"check\[1\]", check=(np.ones((1, 3)), np.ones((1, 2)))),
    bad("networks.from_weights", "zeros fit any", check=(np.ones((1, 3)), np.zeros((1, 4)))),
    bad("training.train", batch_size=5),
    bad("training.train", observe=np.ones(2)),
    bad("training.train", optimiser=lambda rate, other: optax.sgd(rate)),
    bad("training.train", "give the inner optimiser", **LOOKAHEAD, state=None),
    bad("training.train", learning_rate=None, optimiser=SimpleNamespace(init=list, update=list)),
    bad("training.train", "state: expected what the same optimiser", optimiser=optax.sgd),
    bad("training.train", r"loss: .* of shape \(\), got \(1, 3\)", loss=outputs_of),
    bad("training.train", "weights.*: expected a finite initial loss", weights=HUGE),
    bad("training.train", "held_out: targets", held_out=OTHER),
    bad("training.train", key=None),
    bad("training.train", "weights", network=GATED),
    bad("training.train", network=GATED, weights=None),
    bad("training.train", "inputs", task=tasks.Task(np.eye(4), np.ones((1, 4)))),
    bad("training.train", "targets", task=OTHER, loss=squared_error),
    bad("training.train", "learning_rate: expected a number", learning_rate=None),
    bad("training.train", "None with an optimiser instance.*0.1", optimiser=optax.adam(0.01)),
    bad("training.train", learning_rate=0.0),
    bad("theory.contextual_closed_form", num_contexts=1),
    bad("theory.contextual_closed_form", "equal summed similarity", num_items=3, structure=UNEVEN),
    bad("theory.context_preference", contexts=np.zeros(3)),
    bad("theory.context_preference", network=TWO_LAYERS),
    bad("theory.context_preference", network=networks.ReLUNetwork((3, 2, 1), [True, False])),
    bad("theory.context_preference", weights=None),
    bad("theory.learning_time", subset_size=3),
    bad("theory.mode_trajectory", starts=[0.1, 0.0]),
    bad("theory.mode_trajectory", times=TIMES[::-1]),
    bad("theory.mode_trajectory", singular_values=[[1.0], [1.0, 2.0]]),
    *(bad("theory.mode_trajectory", times=TIMES - 1.0, depth=depth) for depth in (1, 2, 3)),
    bad("theory.predict", "one edge in and one edge out", network=DEEP_PATHS, scale=1e-3),
    bad("theory.predict", "one per neuron", network=SINGLE, scale=1e-3),
    bad("theory.predict", "scale: expected a finite number above 0", scale=0.0),
    bad("theory.pathway_race", "network", network=DEEP_PATHS),
    bad("theory.pathway_race", "edges, all their own", network=ONE_INTO_TWO, task=OTHER),
    bad("theory.pathway_race", "neuron per mode, 3", **SQUEEZED, path_modes=None),
    bad("theory.pathway_race", path_modes={PATH: statistics.modes(OTHER)}),
    bad("theory.applicability", "scale: expected a finite number above 0", scale=[0.1, 0.0]),
    bad("theory.predict", optimiser=lambda rate: 3),
    bad("theory.predict", "key: expected a random key", **WIDE, key=None),
    bad("theory.predict", "num_neurons: expected at least 4", **WIDE, num_neurons=3),
    bad("theory.predict", "network: expected at least 4", **WIDE | {"network": NARROW}),
    bad("theory.predict", "expected one hidden layer, or", **WIDE | {"network": DEEP}),
    bad("theory.predict", "a hidden layer", **WIDE | {"network": networks.ReLUNetwork((3, 1))}),
    bad("theory.predict", "above 0", **WIDE | {"scale": [0.0, 1e-4]}),
    bad("theory.predict", "held_out: expected 3 rows of inputs", **WIDE, held_out=ROUTING),
    bad("theory.predict", "held_out: expected None for a network with gates", held_out=TASK),
    bad("theory.predict", "samples", task=TASK.take([0, 1])),
    bad("theory.predict", "weights", scale=dict.fromkeys(EDGES, np.ones((2, 2)))),
    bad("theory.predict", "weights", scale={EDGES[0]: BY_EDGE[EDGES[0]]}),
    bad("theory.decoupled_weights", network=networks.routing_network(ROUTING, 2, 2, 3), starts=0.1),
    bad("theory.shared_race", starts=np.ones(3)),
    bad("theory.shared_race", "network: expected a neuron per mode, 3, in", **SQUEEZED),
    bad("theory.shared_race", "modes that decouple", **NOT_DECOUPLED),
    bad("theory.shared_race", "times: expected multiples", times=[0.0, 0.25], learning_rate=0.1),
    bad("theory.shared_race", "times: expected multiples", times=[6000.05], learning_rate=0.1),
    bad("gates.is_realisable", pattern=[[0.5, 1.0]]),
    bad("gates.are_realisable", gates=[[1, 2, 0]]),
    bad("gates.context_gates", subsets=[[True, False, True]]),
    bad("discovery.find", activity=-ALIKE),
    bad("discovery.find", "without a mask", activity=np.ma.masked_greater(ALIKE, 0.5)),
    bad("discovery.find", "without a mask", activity=[*np.ma.masked_greater(ALIKE, 0.5)]),
    bad("discovery.find", activity=np.zeros((4, 3))),
    bad("discovery.find", weights=-np.ones(4)),
    bad("discovery.activity_by_condition", suppressed="up"),
    bad("discovery.activity_by_condition", "or a baseline or thres", trials=-HALVES, **NO_LEVEL),
    bad("discovery.k_means_gates", num_clusters=99),
]


@pytest.mark.parametrize(("call", "changes", "words"), CASES)
def test_bad_calls_are_named(call, changes, words):
    with refused(words):
        PUBLIC[call](**GOOD[call] | changes)


@pytest.mark.parametrize(
    ("network", "weights", "inputs", "words"),
    [
        (RELU, LAYERS[:1], np.eye(3), "weights: expected a list of length 2"),
        (RELU, LAYERS, np.ones((2, 3)), r"inputs: expected shape \(3, P\)"),
        (RELU, LAYERS, TASK, r"inputs: expected numbers of shape \(3, P\)"),
        (GATED, BY_EDGE, np.ones((9, 3)), "inputs: expected 3 rows"),
        (GATED, {}, np.eye(3), "weights: expected matrices"),
        (GATED, LAYERS, np.eye(3), "weights: expected Mapping"),
    ],
)
def test_outputs_of_what_does_not_fit_are_refused(network, weights, inputs, words):
    with refused(words):
        network.apply(weights, inputs)


def test_what_is_computed_by_numpy_is_not_traced():
    calls = {
        "inputs": lambda x: mdsgdln.gates.are_realisable(np.eye(3), x),
        "pattern": mdsgdln.gates.is_realisable,
        "structure": lambda x: tasks.semantic(x, 3).targets,
        "input_masks": lambda x: networks.pathways(TASK, np.ones((3, 3)), 2, x).node_gates,
        "weights": lambda x: md.theory.context_preference(
            RELU, [x[:2], x[:1, :2]], TASK, [0, 1, 1]
        ),
        "starts": lambda x: md.theory.shared_race(WIDE_PATHS, OTHER, x[0, 0], TIMES).losses,
        "scale": lambda x: md.theory.applicability(GATED, TASK, x[0, 0]).holds,
    }
    for name, call in calls.items():
        with refused(f"{name}: expected concrete numbers"):
            jax.jit(call)(np.eye(3))
