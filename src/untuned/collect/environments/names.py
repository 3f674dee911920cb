"""The names of the paper's fifteen environments, in a separate module so that listing them costs nothing."""

#: In the order of the paper's table.
NAMES: tuple[str, ...] = (
    "gridworld-5-deterministic",
    "gridworld-5-stochastic",
    "gridworld-10-deterministic",
    "gridworld-10-stochastic",
    "chain-10-deterministic",
    "chain-10-stochastic",
    "chain-50-deterministic",
    "chain-50-stochastic",
    "acrobot",
    "cart-pole",
    "mountain-car",
    "pinball-empty",
    "pinball-box",
    "pinball-medium",
    "pinball-single",
)
