"""Experiments too long for a chapter, one a module; `grids` says with which settings they run."""
