"""Private. Everything up to the scores: environments, agents, definitions, running and storing trials.

The public names are those of `untuned`.
"""
