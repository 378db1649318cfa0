"""What the chapters import, and what builds and checks the book."""

__version__ = "1.0.0"
