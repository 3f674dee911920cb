"""Private. Everything before there is a score: environments, agents, definitions, running and storing trials.

The public names are those of `untuned`.
"""
