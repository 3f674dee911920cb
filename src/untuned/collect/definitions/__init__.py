"""Private. Definitions: complete algorithms, with the source of every hyperparameter."""
