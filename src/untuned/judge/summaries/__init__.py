"""Private. Summaries known from elsewhere: interquartile mean, optimality gap, performance profile; all approximate.

What is public of it is in `untuned.summaries`.
"""
