"""Private. What runs at every time step and belongs to nobody alone: compiling, random numbers, trigonometry."""
