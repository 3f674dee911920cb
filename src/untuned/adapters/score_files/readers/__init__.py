"""Private. One module per reader of other programs' files."""
