"""Private. The paper's experiment repeated: trials, tables, figures and conclusions next to the published ones.

`published` has the published figures, `experiment` the study; `agreement` compares numbers, `conclusions` the paper's
statements about them. `untuned.reproduce` runs everything.
"""
