"""Gymnasium, both ways: our environments as Gymnasium's, and Gymnasium's described as ours."""
