"""Private. Algorithms written in Python: functions that take a Gymnasium environment and a draw, and train."""
