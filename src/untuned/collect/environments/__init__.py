"""Private. The environments: their facts and their kernels."""
