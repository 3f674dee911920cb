"""The page that compares ways of evaluating."""
