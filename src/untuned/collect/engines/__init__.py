"""Private. Engines: they run the trials of a study on this machine's processors, or on a cluster's."""
