"""What the chapters import: claims, tables, experiments, figures of the papers."""
