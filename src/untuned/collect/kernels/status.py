"""What an environment's step returns besides the reward: whether the episode continues."""

RUNNING = 0
#: The task itself ended: the goal was reached, or the pole fell.
TERMINATED = 1
#: The step limit was reached. The paper's agents treat this as a normal end.
TRUNCATED = 2
