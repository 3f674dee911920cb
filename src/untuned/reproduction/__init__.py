"""The paper's experiment once more, from its first trial to its tables, figures and conclusions beside the published.

What is published is in `published`, what is run in `experiment`; `agreement` compares numbers, `conclusions` what the
paper says of them. `untuned.reproduce` does it all.
"""
