"""What a reader sees: tables, figures and a page, from an `Evaluation`."""
