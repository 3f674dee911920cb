"""Private. The page that compares ways of evaluating."""
