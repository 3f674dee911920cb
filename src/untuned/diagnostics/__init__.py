"""Private. Checks of how scores were made: pure functions on a `ScoreTable`. No files, no printing.

The public names are those of `untuned`.
"""
