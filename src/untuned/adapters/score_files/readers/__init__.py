"""Private. One reader per file: what other programs write."""
