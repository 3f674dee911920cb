"""Private. Storing trials: a study's results in one file that any number of readers share with one writer."""
