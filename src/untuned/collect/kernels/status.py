"""What an environment's step returns besides the reward: whether the episode continues."""

RUNNING = 0
#: The task itself ended: the goal was reached, or the pole fell.
TERMINATED = 1
#: The time was up. The paper's agents treat this as the end all the same.
TRUNCATED = 2
