"""Private. Collecting to a goal: rounds of trials, each planned from the results of earlier ones.

Not called `race`: a module of that name would shadow the function of the package.
"""
