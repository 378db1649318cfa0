"""What the chapters import: claims, tables, experiments, figures of the papers."""

__version__ = "2.0.0"
