"""What the data alone predict: trajectories, random starts, the path sum, gates that win."""

from mdsgdln.theory.conditions import Applicability, Condition, applicability
from mdsgdln.theory.contexts import context_preference, contextual_closed_form, learning_time
from mdsgdln.theory.first_drops import first_drop
from mdsgdln.theory.flow import ReducedNetwork
from mdsgdln.theory.maxima import Candidate, candidates, drive
from mdsgdln.theory.paths import path_gradient
from mdsgdln.theory.prediction import predict_losses
from mdsgdln.theory.race import PathwayRace, pathway_modes, pathway_race, pathway_strengths
from mdsgdln.theory.reduction import exact_reduction
from mdsgdln.theory.relu_basins import Basin, basins
from mdsgdln.theory.relu_neurons import Merger
from mdsgdln.theory.relu_prediction import ReLUPrediction, predict_relu
from mdsgdln.theory.shared_edges import SharedRace, decoupled_weights, shared_race
from mdsgdln.theory.sliding_flow import ReLUFlow, relu_flow
from mdsgdln.theory.starts import (
    balanced_weights,
    expected_initial_strength,
    measured_initial_strength,
)
from mdsgdln.theory.trajectories import mode_losses, mode_trajectory
from mdsgdln.theory.waiting import drop_times

__all__ = [
    "Applicability",
    "Basin",
    "Candidate",
    "Condition",
    "Merger",
    "PathwayRace",
    "ReLUFlow",
    "ReLUPrediction",
    "ReducedNetwork",
    "SharedRace",
    "applicability",
    "balanced_weights",
    "basins",
    "candidates",
    "context_preference",
    "contextual_closed_form",
    "decoupled_weights",
    "drive",
    "drop_times",
    "exact_reduction",
    "expected_initial_strength",
    "first_drop",
    "learning_time",
    "measured_initial_strength",
    "mode_losses",
    "mode_trajectory",
    "path_gradient",
    "pathway_modes",
    "pathway_race",
    "pathway_strengths",
    "predict_losses",
    "predict_relu",
    "relu_flow",
    "shared_race",
]
__dir__ = __all__.copy  # what completion shows
