"""Private. What each way of evaluating concludes from the same scores, where they disagree, and why."""
