"""Private. From scores to a verdict: pure functions on arrays. No files, no clock, no printing, no plotting.

The public names are those of `untuned`.
"""
