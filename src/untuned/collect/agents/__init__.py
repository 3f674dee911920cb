"""Private. Agents: what they are once every hyperparameter has its value, and the kernels that make them learn."""
