"""Private. Our environments as Gymnasium environments, and Gymnasium environments described as ours."""

from untuned.errors import needs

with needs("gymnasium", "a Gymnasium environment"):
    import gymnasium as _gymnasium  # noqa: F401  (every module below needs it; checked once, here)
