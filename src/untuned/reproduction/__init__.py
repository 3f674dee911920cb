"""Private. The paper's experiment repeated: trials, tables, figures and conclusions next to the published ones.

What is published is in `published`, what is run in `experiment`; `agreement` compares numbers, `conclusions` what the
paper says of them. `untuned.reproduce` does it all.
"""
