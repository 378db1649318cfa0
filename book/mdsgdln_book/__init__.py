"""What the chapters import, and what builds and checks the book."""
