"""Tables and figures of the documentation, made of the files that the benchmarks write."""
