"""Experiments too long for a chapter: an `experiment`, its `GRID` and what is `STATIC` in it."""
