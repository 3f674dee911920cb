"""Private. What scores say about how they were made: pure functions on a `ScoreTable`. No files, no printing.

The public names are those of `untuned`.
"""
