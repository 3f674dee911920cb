"""Private. Collecting to a goal: rounds of trials, each decided by what earlier ones have shown.

Not called `race`, which is a function of the package: a module of that name would take its place.
"""
