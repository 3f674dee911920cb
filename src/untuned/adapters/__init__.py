"""Private. Bridges to outside libraries, one module or folder each; a library is imported when its bridge is used.

The public names are those of `untuned`.
"""
