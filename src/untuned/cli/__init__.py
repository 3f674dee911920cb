"""Private. The command line: a thin shell over the library, one file per command.

The public names are those of `untuned`.
"""
