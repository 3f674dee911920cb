"""The functions behind the flat names: they take whatever is handed over, and call the rooms."""
