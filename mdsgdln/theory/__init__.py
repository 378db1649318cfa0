"""What the data alone predict: closed-form trajectories, random starts, the path sum."""

from mdsgdln.theory.modes import (
    deep_mode as deep_mode,
    depth_mode as depth_mode,
    mode_losses as mode_losses,
    shallow_mode as shallow_mode,
)
from mdsgdln.theory.paths import path_gradient as path_gradient
from mdsgdln.theory.starts import (
    expected_start as expected_start,
    measured_start as measured_start,
)
