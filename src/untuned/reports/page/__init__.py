"""Private. One HTML page with everything in it, which needs no network."""

from untuned.errors import needs

with needs("report", "a report"):
    import jinja2 as _jinja2  # noqa: F401
