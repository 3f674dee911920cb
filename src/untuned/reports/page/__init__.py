"""One HTML page with everything, that needs no network."""
