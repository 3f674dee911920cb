"""Private. Other common summaries: interquartile mean, optimality gap, performance profile; all approximate.

The public names are in `untuned.summaries`.
"""
