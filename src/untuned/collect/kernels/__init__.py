"""Private. Code that runs at every time step, for agents and environments: compiling, random numbers, trigonometry."""
