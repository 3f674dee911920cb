"""Private. Adapters for external libraries, one module or folder each; a library is imported when it is needed.

The public names are those of `untuned`.
"""
