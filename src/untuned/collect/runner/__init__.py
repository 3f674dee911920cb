"""Private. Running trials: from a trial's key to its result."""
