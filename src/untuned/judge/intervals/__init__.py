"""Private. From scores to simultaneous intervals: on percentiles, on means, on distributions."""
