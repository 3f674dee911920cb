"""Private. Verdicts for weights chosen beforehand: evidence pooled over environments (docs/theory/pooled.md)."""
