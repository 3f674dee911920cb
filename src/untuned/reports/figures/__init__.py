"""Figures of an evaluation, drawn by matplotlib."""
