"""Private. Figures drawn by matplotlib; `untuned.figures` is the public module."""

from untuned.errors import needs

with needs("figures", "a figure"):
    import matplotlib as _matplotlib  # noqa: F401  (every module of this package needs it)
