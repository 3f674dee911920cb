"""Private. Definitions: what an algorithm is, down to where every one of its hyperparameters comes from."""
