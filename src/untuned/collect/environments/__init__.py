"""Private. The environments: what each is, and the kernels that run it."""
