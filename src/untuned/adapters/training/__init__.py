"""Other people's algorithms: functions in Python that get a Gymnasium environment and a draw, and train."""
