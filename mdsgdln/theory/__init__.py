"""What the data alone predict: closed-form trajectories, random starts, the path sum."""

from mdsgdln.theory.contexts import (
    contextual_closed_form as contextual_closed_form,
    learning_time as learning_time,
)
from mdsgdln.theory.modes import (
    deep_mode as deep_mode,
    depth_mode as depth_mode,
    mode_losses as mode_losses,
    shallow_mode as shallow_mode,
)
from mdsgdln.theory.paths import path_gradient as path_gradient
from mdsgdln.theory.prediction import predict_losses as predict_losses
from mdsgdln.theory.race import (
    pathway_modes as pathway_modes,
    pathway_strengths as pathway_strengths,
    race_reduction as race_reduction,
)
from mdsgdln.theory.reduction import (
    decoupled_weights as decoupled_weights,
    edge_descent as edge_descent,
    edge_reduction as edge_reduction,
    node_modes as node_modes,
)
from mdsgdln.theory.starts import (
    expected_start as expected_start,
    measured_start as measured_start,
)
