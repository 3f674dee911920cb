"""Private. Agents with fixed hyperparameters, and the kernels of their learning rules."""
