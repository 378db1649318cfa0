"""Theory: closed forms, from the data and the initial weights, and ``prediction``'s stand-ins."""

from mdsgdln.prediction import predict, stand_in
from mdsgdln.theory.conditions import Applicability, Condition, applicability
from mdsgdln.theory.contexts import context_preference, contextual_closed_form, learning_time
from mdsgdln.theory.race import path_gradient, pathway_modes, pathway_race, pathway_strengths
from mdsgdln.theory.shared_edges import decoupled_weights, shared_race
from mdsgdln.theory.trajectories import (
    Race,
    expected_initial_strength,
    mode_losses,
    mode_trajectory,
)

__all__ = [
    "Applicability",
    "Condition",
    "Race",
    "applicability",
    "context_preference",
    "contextual_closed_form",
    "decoupled_weights",
    "expected_initial_strength",
    "learning_time",
    "mode_losses",
    "mode_trajectory",
    "path_gradient",
    "pathway_modes",
    "pathway_race",
    "pathway_strengths",
    "predict",
    "shared_race",
    "stand_in",
]
__dir__ = __all__.copy  # what completion shows
