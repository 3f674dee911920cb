"""Private. What a reader sees: tables, figures and a page, from an `Evaluation`.

The public names are those of `untuned`.
"""
