"""How to cite what an evaluation rests on."""

_PAPER = """@inproceedings{jordan2020evaluating,
  title     = {Evaluating the Performance of Reinforcement Learning Algorithms},
  author    = {Jordan, Scott M. and Chandak, Yash and Cohen, Daniel and Zhang, Mengxue and Thomas, Philip S.},
  booktitle = {Proceedings of the 37th International Conference on Machine Learning},
  series    = {Proceedings of Machine Learning Research},
  volume    = {119},
  pages     = {4962--4973},
  year      = {2020}
}"""


def citation(version: str) -> str:
    """Return BibTeX entries of the paper and of this program."""
    return f"""{_PAPER}

@software{{untuned,
  author  = {{{{The untuned authors}}}},
  title   = {{untuned: reinforcement-learning algorithms, evaluated as they come}},
  version = {{{version}}}
}}"""
