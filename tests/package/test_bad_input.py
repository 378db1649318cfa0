"""Bad input: every argument of every public function, given what it cannot use, is named.

``GOOD`` holds a good call of each public function, class and method; ``KINDS`` says what an
argument is, and each kind what is wrong for it: shapes, NaN, empty, negative, dtypes, types.
"""

import inspect
import json
import pkgutil
import re
import tempfile
from importlib import import_module
from pathlib import Path
from types import FunctionType

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jaxtyping import TypeCheckError

import mdsgdln
from mdsgdln import discovery, networks, statistics, tasks, theory

LEAST_TRIED = 200
pytestmark = [  # networks are narrow here
    pytest.mark.filterwarnings("ignore:predict_losses"),
    pytest.mark.filterwarnings("ignore:drop_times"),
]
NOTHING = object()


# What is wrong for an argument, {in a word: value}, from a value that is good.


def thing(good):
    """An object of a certain class, or a mapping of names."""
    return {"none": None, "text": "text", "number": 3, "type": NOTHING}


def labels(good):
    return path(good) | {"empty": []}


def path(good):
    return {"none": None, "number": 3, "type": NOTHING}


def count(good):
    return {
        "zero": 0,
        "negative": -1,
        "NaN": float("nan"),
        "fraction": 1.5,
        "complex": 1j,
        "text": "two",
        "shape": [2, 2, 2, 2, 2],
        "type": NOTHING,
        "none": None,
    }


def level(good):
    return {
        "negative": -1.0,
        "NaN": float("nan"),
        "infinite": float("inf"),
        "complex": 1j,
        "text": "0.1",
        "shape": [0.1, 0.1, 0.1, 0.1, 0.1],
        "empty": np.zeros(0),
        "type": NOTHING,
        "none": None,
    }


def positive(good):
    return level(good) | {"zero": 0.0}


def share(good):
    """A number above zero, or None."""
    return {fault: bad for fault, bad in positive(good).items() if fault != "none"}


def pair(good):
    """Two increasing numbers, or None."""
    return {"number": 3, "text": "text", "type": NOTHING, "longer": (0, 1, 2), "order": (1, 0)}


def array(good):
    """Any numbers of the right number of axes."""
    good = np.asarray(good, float)
    spoilt = good.copy()
    spoilt.flat[-1] = np.nan
    return {
        "axes": good[None, None],
        "NaN": spoilt,
        "empty": good[:0],
        "text": np.full(good.shape, "a"),
        "objects": np.full(good.shape, NOTHING),
        "complex": good + 1j,
        "type": NOTHING,
        "none": None,
    }


def fitted(good):
    """Numbers with as many rows and columns as something else has."""
    good = np.asarray(good, float)
    return array(good) | {"longer": np.concatenate([good, good], axis=-1)}


def signed(good):
    """A number, or as many as something else has."""
    good = np.asarray(good, float)
    number = {"none": None, "text": "1", "type": NOTHING, "NaN": np.nan, "longer": np.ones(9)}
    return fitted(good) if good.ndim else number


def rates(good):
    return fitted(good) | {"negative": -np.asarray(good, float)}


def sets(good):
    """Rows of which there may be none."""
    return {fault: bad for fault, bad in fitted(good).items() if fault != "empty"}


def gaps(good):
    """Numbers of which some may be missing."""
    return {fault: bad for fault, bad in array(good).items() if fault != "NaN"}


def times(good):
    return array(good) | {"negative": -np.asarray(good), "order": np.asarray(good)[::-1]}


def function(good):
    return {"text": "text", "number": 3, "type": NOTHING, "none": None}


def key(good):
    return thing(good) | {"dtype": np.zeros(2), "shape": jax.random.split(good, 3)}


def columns(good):
    return {
        "outside": [99],
        "empty": [],
        "NaN": [float("nan")],
        "fraction": [0.5],
        "text": "text",
        "shape": [[0, 1]],
        "type": NOTHING,
    }


def whole(good):
    return {"fraction": 0.5, "text": "text", "type": NOTHING, "none": None}


def processes(good):
    return whole(good) | {"zero": 0}


def name(good):
    return {"unknown": "nonsense", "number": 3, "type": NOTHING, "none": None}


def many(of):
    """Several in a list or {name: one}, perhaps none, or one for all: each fault of one of them."""

    def faults(good):
        if not isinstance(good, dict | list | tuple):
            return of(good)
        places = list(good) if isinstance(good, dict) else range(len(good))
        copy = dict if isinstance(good, dict) else list
        found = thing(good)
        if of in (count, level, positive, rates, signed):
            del found["number"]  # one for all
        for fault, bad in of(good[places[0]]).items():
            found[f"one: {fault}"] = copy(good)
            found[f"one: {fault}"][places[0]] = bad
        return found

    return faults


def some(of):
    """The same, but at least one."""

    def faults(good):
        return many(of)(good) | ({"empty": type(good)()} if isinstance(good, dict | list) else {})

    return faults


def complete(of):
    """The same, and as many as something else has."""

    def faults(good):
        if not isinstance(good, dict | list | tuple):
            return of(good)
        fewer = dict(list(good.items())[1:]) if isinstance(good, dict) else list(good)[1:]
        return some(of)(good) | {"one missing": fewer}

    return faults


def each_or_none(good):
    """As many as something else has, None among them."""
    return {fault: bad for fault, bad in complete(fitted)(good).items() if fault != "one: none"}


def free(good):
    """Nothing is wrong for it: truth values, and text that is only shown."""
    return {}


TASK = tasks.Task(np.eye(3), [[1.0, 2.0, 0.0]], labels=["a", "b", "c"])
CONTEXTS = tasks.contextual(3, 4)
ROUTING = tasks.routing(2)
LINEAR = networks.LinearNetwork((3, 2, 1))
RELU = networks.ReLUNetwork((3, 2, 1))
GATED = networks.GatedNetwork(
    {"in": 3, "hidden": 2, "out": 1},
    [("in", "hidden"), ("hidden", "out")],
    {"hidden": [1.0, 1.0, 0.0]},
    {("hidden", "out"): np.ones(3)},
)
ROUTES = networks.routing_network(ROUTING, 2, 8)
KEY = jax.random.key(0)
LAYERS = LINEAR.init(KEY, 0.5)
ALIKE = np.tile([1.0, 1.0, 0.0], (4, 1))  # neurons of one kind
FOUND = discovery.find(ALIKE, resamples=1)
EDGES = GATED.init(KEY, 0.5)
PATH = ("in", "hidden", "out")
PATH_MODES = {PATH: statistics.modes(statistics.effective_dataset(GATED, TASK, PATH))}
NEURONS = {
    "task": TASK,
    "input_weights": np.ones((1, len(TASK.inputs))),
    "residual": TASK.targets,
}
TIMES = np.linspace(0, 40, 30)
LOSS = np.exp(-TIMES)
SETTINGS = [{"seed": 1}, {"seed": 2}]
RECORD = {"setting": {"seed": 1}, "results": {"loss": 1.0}, "failed": "", "seconds": 0.1}
RESULTS = Path(tempfile.mkdtemp()) / "results.jsonl"
RESULTS.write_text(json.dumps(RECORD) + "\n")


def experiment(seed):
    return {"loss": jnp.sin(seed * 1.0)}


INSTANCES = {
    "tasks.Task": TASK,
    "graphs.Graph": GATED.graph,
    "theory.ReducedNetwork": theory.reduced_network(GATED, TASK, 0.1),
    "networks.GatedNetwork": GATED,
    "networks.LinearNetwork": LINEAR,
    "networks.ReLUNetwork": RELU,
}
LAYERED = {
    "": {"sizes": (3, 2, 1)},
    ".init": {"key": KEY, "scale": [0.1, 0.2]},
    ".activations": {"weights": LAYERS, "inputs": np.eye(3), "gates": [np.ones((2, 3))]},
    ".apply": {"weights": LAYERS, "inputs": np.eye(3), "gates": [np.ones((2, 3))]},
}
RACE_OF = {"network": GATED, "task": TASK}
RACE = RACE_OF | {"times": TIMES}
EDGE_RACE = {"network": ROUTES, "task": ROUTING, "starts": dict.fromkeys(ROUTES.graph.edges, 0.1)}
MODES = {"times": TIMES, "singular_values": [2.0, 1.0], "input_variances": [1.0, 1.0]}

GOOD = {
    "tasks.Task": {
        "inputs": np.eye(3),
        "targets": np.ones((1, 3)),
        "node_rows": {"in": slice(0, 3)},
        "labels": ["a", "b", "c"],
    },
    "tasks.Task.take": {"columns": [0, 1]},
    "tasks.contextual": {
        "num_contexts": 3,
        "num_items": 4,
        "structures": ["tree", "ring", "cross"],
        "common": "tree",
    },
    "tasks.routing": {
        "num_domains": 2,
        "num_trained": 1,
        "items": tasks.hierarchy(),
        "input_maps": [np.eye(4), np.eye(4)],
        "output_maps": [np.eye(7), np.eye(7)],
    },
    "tasks.semantic": {"structure": "tree", "num_items": 8},
    "tasks.structure": {"name": np.eye(4), "num_items": 4},
    "tasks.trained_routes": {"num_domains": 3, "num_trained": 2},
    "tasks.xor": {"margin": 1.0},
    "graphs.Graph.build": {"sizes": {"a": 2, "b": 1}, "edges": [("a", "b")]},
    "graphs.Graph.path_edges": {"path": PATH},
    "networks.GatedNetwork": {
        "sizes": {"a": 2, "b": 1},
        "edges": [("a", "b")],
        "node_gates": {"b": np.ones(3)},
        "edge_gates": {("a", "b"): np.ones(3)},
    },
    "networks.GatedNetwork.init": {"key": KEY, "scale": dict.fromkeys(EDGES, 0.1)},
    "networks.GatedNetwork.init_orthogonal": {"gain": 0.1, "key": KEY},
    "networks.GatedNetwork.take": {"columns": [0, 1]},
    "networks.GatedNetwork.activations": {
        "weights": EDGES,
        "inputs": np.eye(3),
        "gates": {"hidden": np.ones(3)},
    },
    "networks.GatedNetwork.apply": {
        "weights": EDGES,
        "inputs": np.eye(3),
        "gates": {"hidden": np.ones(3)},
    },
    **{f"networks.LinearNetwork{method}": call for method, call in LAYERED.items()},
    **{f"networks.ReLUNetwork{method}": call for method, call in LAYERED.items()},
    "networks.ReLUNetwork.gates": {"weights": LAYERS, "inputs": np.eye(3)},
    "networks.pathways": {
        "task": TASK,
        "gates": np.ones((2, 3)),
        "num_hidden": [2, 3],
        "input_masks": np.ones((2, 3)),
    },
    "networks.routing_network": {
        "task": ROUTING,
        "num_trained": 2,
        "num_hidden": 8,
        "num_layers": 2,
        "num_sharing": 1,
    },
    "networks.from_weights": {
        "weights": [np.ones((2, 3)), np.ones((4, 2))],
        "biases": [np.ones(2), None],
        "convention": "torch",
        "activation": "relu",
        "check": (np.ones((1, 3)), np.full((1, 4), 8.0)),
    },
    "tasks.Task.from_samples": {"X": np.ones((3, 2)), "Y": np.ones(3), "labels": list("abc")},
    "tasks.with_ones": {"task": TASK},
    "training.loss": {"network": LINEAR, "weights": LAYERS, "task": TASK},
    "training.train": {
        "network": LINEAR,
        "weights": LAYERS,
        "task": TASK,
        "learning_rate": 0.1,
        "num_steps": 2,
        "optimiser": optax.adam,
        "batch_size": 2,
        "key": KEY,
        "observe": lambda weights: weights[0].sum(),
        "every": 1,
        "loss": lambda network, weights, task: (weights[0] ** 2).sum(),
    },
    "statistics.correlations": {"task": TASK},
    "statistics.condensed": {"task": TASK},
    "statistics.alignment": {
        "maps": np.ones((2, 3, 4)),
        "left": np.eye(3)[:, :2],
        "right": np.eye(4)[:, :2],
    },
    "statistics.residual": {"task": TASK},
    "statistics.modes": {"task": TASK, "tolerance": 1e-6},
    "statistics.effective_dataset": {"network": GATED, "task": TASK, "path": PATH},
    "theory.contextual_closed_form": {
        "num_contexts": 3,
        "num_items": 4,
        "strengths": [0.1, 0.1],
        "times": TIMES,
        "structure": "tree",
    },
    "theory.utility": NEURONS | {"output_weights": np.eye(1)},
    "theory.drive": NEURONS,
    "theory.climb": NEURONS,
    "theory.faces": {"inputs": np.eye(3)},
    "theory.candidates": {"task": TASK, "residual": TASK.targets},
    "theory.basins": {"task": TASK, "residual": TASK.targets, "key": KEY, "num_neurons": 32},
    "theory.first_drop": {
        "basins": theory.basins(TASK, key=KEY, num_neurons=32),
        "num_hidden": 5,
        "scale": [1e-3, 1e-3],
        "amount": 1e-3,
    },
    "theory.drop_times": {"task": TASK, "sizes": (3, 5, 5, 1), "scale": [1e-3, 1e-3, 1e-3]},
    "theory.predict_relu": {
        "task": TASK,
        "num_hidden": 64,
        "scale": [1e-3, 1e-3],
        "times": TIMES,
        "key": KEY,
        "num_neurons": 8,
        "cosine": 0.9,
    },
    "theory.relu_flow": {
        "network": RELU,
        "weights": LAYERS,
        "task": TASK,
        "times": TIMES,
        "step": 0.5,
        "observe": lambda weights: weights[0].sum(),
    },
    "theory.context_preference": {
        "network": RELU,
        "weights": LAYERS,
        "task": TASK,
        "contexts": np.arange(TASK.num_samples) % 2,
    },
    "theory.learning_time": {"num_contexts": 3, "subset_size": 2},
    "theory.mode_trajectory": MODES | {"starts": [0.1, 0.1], "depth": 3},
    "theory.mode_losses": {
        "task": TASK,
        "modes": statistics.modes(TASK),
        "strengths": np.ones((1, 5)),
    },
    "theory.path_gradient": {"network": GATED, "weights": EDGES, "task": TASK},
    "theory.predict_losses": RACE | {"scale": dict.fromkeys(EDGES, 0.1), "learning_rate": 0.1},
    "theory.pathway_modes": {"network": GATED, "task": TASK},
    "theory.pathway_strengths": {"weights": EDGES, "path_modes": PATH_MODES},
    "theory.pathway_race": RACE | {"starts": {PATH: [0.1]}, "path_modes": PATH_MODES},
    "theory.applicability": RACE_OF | {"scale": [0.1, 0.1]},
    "theory.balanced_weights": RACE_OF | {"scale": dict.fromkeys(EDGES, 0.1)},
    "theory.exact_reduction": {"network": GATED, "weights": EDGES, "task": TASK},
    "theory.reduced_network": RACE_OF | {"scale": dict.fromkeys(EDGES, 0.1)},
    "theory.ReducedNetwork.flow": {"learning_rate": 0.1},
    "theory.ReducedNetwork.evolve": {
        "times": TIMES,
        "learning_rate": 0.1,
        "output": theory.ReducedNetwork.outputs,
    },
    "theory.decoupled_weights": EDGE_RACE | {"key": KEY},
    "theory.shared_race": EDGE_RACE | {"times": TIMES, "learning_rate": 0.0},
    "theory.expected_initial_strength": {"num_hidden": 5, "scale": [0.1, 0.1]},
    "theory.measured_initial_strength": {
        "first": LAYERS[0],
        "second": LAYERS[1],
        "modes": statistics.modes(TASK),
    },
    "reln.deviation": {"losses": LOSS, "reference": LOSS, "learned": None},
    "networks.contextual_pathways": {
        "task": CONTEXTS,
        "num_contexts": 3,
        "subset_size": 2,
        "num_hidden": [5, 5, 5, 5],
    },
    "reln.rank_candidates": {
        "task": TASK,
        "candidates": {"one": GATED},
        "scale": 0.1,
        "times": TIMES,
    },
    "plots.style": {"dark": False},
    "plots.panels": {"num_columns": 1, "num_rows": 1, "height": 3.0, "width": 3.0},
    "plots.curves": {
        "times": TIMES,
        "measured": {"loss": LOSS},
        "predicted": {"loss": LOSS},
        "axes": None,
        "x_label": "time",
        "y_label": "loss",
        "title": "",
    },
    "plots.matrices": {
        "named": {"one": np.eye(2)},
        "row_labels": [["a", "b"]],
        "column_labels": [["a", "b"]],
        "annotate": True,
        "limits": None,
    },
    "plots.graph": {"network": GATED, "axes": None, "title": ""},
    "plots.kinds": {"found": FOUND, "x_label": "condition"},
    "gates.context_gates": {"num_contexts": 3, "num_items": 4, "subsets": [[0, 1], [2]]},
    "gates.is_realisable": {"pattern": np.ones((3, 2))},
    "gates.are_realisable": {"gates": np.ones((2, 3)), "inputs": np.eye(3)},
    "gates.count_realisable": {"num_items": 4, "num_contexts": 3},
    "discovery.discover": {"activity": ALIKE, "weights": np.ones(4)},
    "discovery.find": {"activity": ALIKE, "weights": np.ones(4), "resamples": 1},
    "discovery.activity_by_condition": {
        "trials": np.kron(np.eye(3), np.ones(2)),
        "labels": np.repeat([0, 1, 2], 2),
        "baseline": np.zeros(3),
        "threshold": np.zeros(3),
        "suppressed": False,
    },
    "discovery.k_means_gates": {
        "activity": np.eye(4),
        "num_clusters": 2,
        "weights": np.ones(4),
        "seed": 0,
    },
    "discovery.common_patterns": {"activity": np.eye(4), "weights": np.ones(4)},
    "discovery.importance": {"incoming": LAYERS[0], "outgoing": LAYERS[1]},
    "discovery.disagreement": {"gates": np.eye(3), "others": np.eye(3)},
    "sweeps.grid": {"seed": [1, 2]},
    "sweeps.sweep": {
        "experiment": experiment,
        "settings": SETTINGS,
        "path": None,
        "n_jobs": 1,
        "progress": False,
    },
    "sweeps.load": {"paths": RESULTS},
    "sweeps.over_seeds": {"experiment": experiment, "seeds": [1, 2], "at_once": 2},
    "sweeps.read": {"path": RESULTS},
}

# Left out, with the reason.
LEFT_OUT = {
    "discovery.Found": "made by find, which checks",
    "discovery.Recording": "made by activity_by_condition, which checks",
    "discovery.Recording.resampled": "for find, which draws",
    "discovery.Recording.halves": "for find, which draws",
    "discovery.Patterns.held": "for find, which counts",
    "graphs.Graph": "made by Graph.build, which checks; bare where it is known to be right",
    "networks.LinearNetwork.take": "is the network itself, whatever the samples",
    "networks.ReLUNetwork.take": "is the network itself, whatever the samples",
    "networks.Network.init": "only says what a network has",
    "networks.Network.apply": "only says what a network has",
    "theory.ReLUFlow": "made by relu_flow, which checks",
    "theory.ReLUFlow.events": "takes nothing",
}

KINDS = {
    "inputs": fitted, "targets": fitted, "node_rows": many(thing), "labels": labels,
    "columns": columns, "structures": complete(name), "common": name, "structure": name,
    "items": thing, "input_maps": complete(fitted),
    "output_maps": complete(fitted), "margin": level, "sizes": some(count), "edges": some(thing),
    "path": some(thing), "node_gates": many(array),
    "edge_gates": many(array), "key": key, "scale": complete(level), "gain": level,
    "weights": complete(fitted), "task": thing, "gates": fitted,
    "num_hidden": complete(count), "input_masks": fitted, "network": thing,
    "learning_rate": positive, "optimiser": function, "observe": function, "output": function,
    "loss": function, "losses": fitted,
    "tolerance": level, "strengths": rates, "times": times, "singular_values": rates,
    "input_variances": rates, "starts": complete(signed), "modes": thing, "step": positive,
    "path_modes": complete(thing), "first": fitted, "second": fitted,
    "X": array, "Y": array, "biases": each_or_none, "check": some(thing), "convention": name,
    "activation": name,
    "reference": fitted, "candidates": some(thing), "measured": many(gaps),
    "predicted": many(gaps), "named": some(gaps), "row_labels": complete(labels),
    "column_labels": complete(labels), "width": positive, "height": positive,
    "subsets": some(columns), "pattern": array, "activity": fitted, "others": fitted,
    "incoming": array, "outgoing": fitted, "resamples": count, "trials": gaps,
    "baseline": fitted, "threshold": fitted, "found": thing, "maps": fitted,
    "left": fitted, "right": fitted,
    "experiment": function, "settings": some(thing),
    "seeds": labels, "at_once": count, "n_jobs": processes,
    "subset_size": count, "input_weights": array, "output_weights": fitted, "residual": fitted,
    "contexts": fitted, "basins": some(thing), "amount": positive, "cosine": positive,
    "limits": pair,
    "depth": count, "batch_size": count, "every": count,
}  # fmt: skip
KINDS |= dict.fromkeys(("dark", "annotate", "progress", "suppressed"), free)
KINDS |= dict.fromkeys(("x_label", "y_label", "title"), free)
KINDS |= dict.fromkeys(("axes",), thing)
KINDS |= {
    "tasks.structure.name": fitted,
    "networks.GatedNetwork.activations.gates": many(fitted),
    "networks.GatedNetwork.apply.gates": many(fitted),
    "networks.LinearNetwork.activations.gates": complete(fitted),
    "networks.LinearNetwork.apply.gates": complete(fitted),
    "networks.ReLUNetwork.activations.gates": complete(fitted),
    "networks.ReLUNetwork.apply.gates": complete(fitted),
    "networks.pathways.gates": fitted,
    "theory.contextual_closed_form.times": array,
    "theory.faces.inputs": array,
    "theory.mode_trajectory.starts": rates,
    "theory.mode_losses.strengths": array,
    "discovery.common_patterns.activity": array,
    "discovery.common_patterns.weights": rates,
    "discovery.discover.weights": rates,
    "discovery.find.weights": rates,
    "discovery.find.activity": array,
    "discovery.activity_by_condition.labels": labels,
    "discovery.activity_by_condition.baseline": gaps,
    "discovery.k_means_gates.weights": rates,
    "discovery.k_means_gates.seed": whole,
    "discovery.disagreement.gates": sets,
    "discovery.disagreement.others": sets,
    "plots.curves.times": array,
    "reln.deviation.learned": share,
    "reln.rank_candidates.scale": level,
    "sweeps.grid.seed": labels,
    "sweeps.sweep.path": path,
    "sweeps.load.paths": path,
    "sweeps.read.path": path,
    "theory.pathway_race.starts": complete(positive),
    "theory.predict_losses.learning_rate": level,
    "theory.shared_race.learning_rate": level,
    "theory.ReducedNetwork.flow.learning_rate": level,
    "theory.ReducedNetwork.evolve.learning_rate": level,
    "networks.ReLUNetwork.gates.inputs": array,
    "discovery.discover.activity": array,
    "discovery.k_means_gates.activity": array,
}


def public():
    """Yield (name, function) of what takes arguments; a method is bound to a good instance."""
    for found in pkgutil.iter_modules(mdsgdln.__path__):
        if found.name.startswith("_"):
            continue
        module = import_module(f"mdsgdln.{found.name}")
        for name, value in {name: getattr(module, name) for name in dir(module)}.items():
            own = getattr(value, "__module__", "").startswith("mdsgdln.")
            if name.startswith("_") or not own or not isinstance(value, type | FunctionType):
                continue
            name = f"{found.name}.{name}"
            made_by_users = not (hasattr(value, "_fields") or hasattr(value, "_is_protocol"))
            if not isinstance(value, type) or made_by_users and not issubclass(value, Exception):
                yield name, value
            if isinstance(value, type):
                yield from methods(name, value)


def methods(name, kind):
    owners = [owner for owner in kind.__mro__ if owner.__module__.startswith("mdsgdln")]
    for method in {method for owner in owners for method in vars(owner)}:
        function = getattr(INSTANCES.get(name, kind), method)
        if not method.startswith("_") and inspect.isroutine(function):
            yield f"{name}.{method}", function


PUBLIC = {name: call for name, call in public() if inspect.signature(call).parameters}


def kind_of(call, argument):
    """Return what is wrong for an argument: of this function, of this name, or of a count."""
    for name in (f"{call}.{argument}", argument):
        if name in KINDS:
            return KINDS[name]
    assert argument.startswith("num_"), f"{call}.{argument} is of no kind"
    return count


def faults(call, argument):
    """Return {fault: bad value} for an argument of a public function."""
    parameter = inspect.signature(PUBLIC[call]).parameters.get(argument)
    bad = kind_of(call, argument)(GOOD[call][argument])
    if parameter is not None and parameter.default is None:
        bad.pop("none", None)
    return bad


ARGUMENTS = [(call, argument) for call, good in GOOD.items() for argument in good]


def call_of(call, arguments):
    function = PUBLIC[call]
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return function(arguments[name])
    return function(**arguments)


def test_all_public_functions_have_bad_input():
    missing = set(PUBLIC) - set(GOOD) - set(LEFT_OUT)
    assert not missing, f"without a good call: {sorted(missing)}"
    for call, good in GOOD.items():
        parameters = inspect.signature(PUBLIC[call]).parameters.values()
        assert {p.name for p in parameters if p.kind is not p.VAR_KEYWORD} <= set(good), call


@pytest.mark.parametrize("call", GOOD)
def test_the_good_calls_are_good(call):
    call_of(call, GOOD[call])


def test_enough_bad_inputs_are_tried():
    tried = sum(len(faults(*place)) for place in ARGUMENTS)
    assert tried >= LEAST_TRIED, f"{tried} bad inputs to {len(GOOD)} functions"


@pytest.mark.parametrize(("call", "argument"), ARGUMENTS)
def test_bad_input_is_named(call, argument):
    for fault, bad in faults(call, argument).items():
        # Where two do not fit each other, either may be named.
        names = GOOD[call] if fault.endswith(("longer", "empty", "missing")) else [argument]
        try:
            call_of(call, GOOD[call] | {argument: bad})
        except (ValueError, TypeError) as error:
            told = str(error)
            named = re.match(rf"({'|'.join(names)})\b", told)
            assert named or isinstance(error, TypeCheckError), f"{fault}: {told}"
        else:
            pytest.fail(f"{fault}: no error")
