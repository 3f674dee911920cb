"""Fingerprints: what decides numbers changes them, and nothing else does."""

import enum
import functools
import importlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from untuned import InvalidInput, Trainer
from untuned.collect.fingerprints import source_digest
from untuned.collect.store.store import Store
from untuned.collect.store.study_facts import StudyFacts
from untuned.lab.work_units import decisive_code
from untuned.source_trees import own_code, tree_digest

Digest = Callable[..., str]

AGENTS = '''
    """Two agents."""
    import math
    import numpy as np
    import untuned
    from helpers import rate as step_size, UNUSED

    DISCOUNT = 0.9
    TABLE = {"a": 1}
    TABLE["b"] = 2

    def shared(x):
        return x + DISCOUNT

    class Memory:
        """Remembers."""
        size: int = 3

        def read(self):
            return TABLE

    def sarsa(environment, draw):
        """Learn."""
        if draw is None:
            raise ValueError(f"no draw for {environment}")
        return shared(step_size()) + Memory().size

    def qlearn(environment, draw):
        # Without traces.
        return math.sqrt(2.0) * np.pi

    if __name__ == "__main__":
        untuned.run([sarsa, qlearn], trials=10)
'''

HELPERS = """
    UNUSED = 1
    RATE = 0.1

    def rate():
        return RATE

    def another():
        return 2
"""


@pytest.fixture
def digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Digest:
    """Return a function that loads modules from texts and returns the fingerprint of something in the first."""
    numbers = itertools.count()

    def found(name: str, agents: str = AGENTS, helpers: str = HELPERS) -> str:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        (folder / "agents.py").write_text(textwrap.dedent(agents))
        (folder / "helpers.py").write_text(textwrap.dedent(helpers))
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(folder))
            for module in ("agents", "helpers"):
                patch.delitem(sys.modules, module, raising=False)
            thing: Any = importlib.import_module("agents")
            for part in name.split("."):
                thing = getattr(thing, part)
            digest = source_digest(thing)
            for module in ("agents", "helpers"):
                patch.delitem(sys.modules, module, raising=False)
        return digest

    return found


def changed(old: str, new: str, text: str = AGENTS) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Two agents."""', ""),
        ('"""Learn."""', '"""Learn quickly."""'),
        ('"""Learn."""', ""),
        ('"""Remembers."""', ""),
        ('f"no draw for {environment}"', '"a draw is needed"'),
        ("# Without traces.", ""),
        ("sarsa(environment, draw)", 'sarsa(environment: "untuned.Draw", draw: int) -> float'),
        ("return math.sqrt(2.0) * np.pi", "return (\n            math.sqrt(2.0)\n            * np.pi\n        )"),
        ("import math\n", "import math\n    import json\n"),
        ("trials=10", "trials=20"),
        ("rate as step_size, UNUSED", "UNUSED, rate as step_size"),
    ],
)
def test_what_only_readers_see_changes_nothing(digests: Digest, old: str, new: str) -> None:
    for name in ("sarsa", "qlearn", "Memory"):
        assert digests(name, changed(old, new)) == digests(name)


@pytest.mark.parametrize(
    ("old", "new", "whose"),
    [
        ("step_size()) + Memory", "step_size()) - Memory", {"sarsa"}),
        ("x + DISCOUNT", "x - DISCOUNT", {"sarsa"}),
        ("DISCOUNT = 0.9", "DISCOUNT = 0.99", {"sarsa"}),
        ("raise ValueError", "raise KeyError", {"sarsa"}),
        ("size: int = 3", "size: int = 4", {"sarsa", "Memory"}),
        ('{"a": 1}', '{"a": 2}', {"sarsa", "Memory"}),
        ('TABLE["b"] = 2', 'TABLE["b"] = 3', {"sarsa", "Memory"}),
        ('TABLE["b"] = 2', "TABLE.clear()", {"sarsa", "Memory"}),
        ("np.pi", "np.e", {"qlearn"}),
        ("import numpy as np", "import cmath as np", {"qlearn"}),
        ("import math\n", "import cmath as math\n", {"qlearn"}),
    ],
)
def test_a_function_counts_with_what_it_uses(digests: Digest, old: str, new: str, whose: set[str]) -> None:
    edited = changed(old, new)
    assert {name for name in ("sarsa", "qlearn", "Memory") if digests(name, edited) != digests(name)} == whose


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [("RATE = 0.1", "RATE = 0.2", True), ("return RATE", "return 2 * RATE", True), ("return 2\n", "return 3\n", False)],
)
def test_other_modules_of_the_folder_count_where_they_are_reached(
    digests: Digest, old: str, new: str, differs: bool
) -> None:
    edited = changed(old, new, HELPERS)
    assert (digests("sarsa", helpers=edited) != digests("sarsa")) == differs
    assert digests("qlearn", helpers=edited) == digests("qlearn")


@pytest.mark.parametrize(
    "use",
    [
        "import helpers\ndef train(environment, draw): return helpers.rate()",
        "import helpers as h\ndef train(environment, draw): return h.rate()",
        "from helpers import *\ndef train(environment, draw): return rate()",
        "def train(environment, draw):\n    from helpers import rate\n    return rate()",
        "def train(environment, draw):\n    try:\n        import helpers as h\n    except ImportError:\n"
        "        h = None\n    return h.rate()",
        "import helpers\ndef train(environment, draw): return getattr(helpers, draw)",
        "import helpers\nclass Table:\n    rule = helpers.rate\ndef train(environment, draw): return Table.rule()",
        "from helpers import rate\ndef train(environment, draw): return [rate() for each in draw]",
        "from helpers import rate\ntrain = lambda environment, draw: rate()",
        "from helpers import rate\ndef made():\n    return lambda environment, draw: rate()\ntrain = made()",
        "from helpers import rate\nALL = {}\ndef put(f):\n    ALL[1] = f\n    return f\n@put\n"
        "def one(): return rate()\ndef train(environment, draw): return ALL[1]()",
        "from helpers import rate\ndef start():\n    global RULE\n    RULE = rate\n"
        "def train(environment, draw): return RULE()",
        "from helpers import rate\ndef train(environment, draw): return globals()['rate']",
        "from helpers import rate\ndef train(environment, draw): return again(draw)\n"
        "def again(draw): return train(None, draw) or rate()",
        "import functools\nfrom helpers import rate\ndef noisy(f):\n    @functools.wraps(f)\n"
        "    def inner(*a): return rate() and f(*a)\n    return inner\n@noisy\ndef train(environment, draw): return 1",
        "from helpers import rate\nclass Agent:\n    def __call__(self, environment, draw): return rate()\n"
        "train = Agent()",
        "from helpers import rate\nclass Agent:\n    def learn(self, environment, draw): return rate()\n"
        "train = Agent().learn",
        "import functools, helpers\ndef base(environment, draw, rule): return rule()\n"
        "train = functools.partial(base, rule=helpers.rate)",
    ],
)
def test_every_way_to_use_a_helper_is_seen(digests: Digest, use: str) -> None:
    first = digests("train", use)
    assert digests("train", use) == first
    assert digests("train", use, changed("RATE = 0.1", "RATE = 0.2", HELPERS)) != first


@pytest.mark.parametrize(
    "use",
    [
        "import random\ndef train(environment, draw): return random.random()",
        "from random import *\ndef train(environment, draw): return choice([1])",
        "import helpers\ndef train(environment, draw, helpers=None): return helpers.rate()",
        "from helpers import rate\ndef train(environment, draw):\n    rate = 3\n    return rate",
        "from helpers import rate\ndef train(environment, draw): return 1\nprint(rate())",
        "from helpers import rate\ndef timed(f): return f\n@timed\ndef train(environment, draw): return 1\n"
        "@timed\ndef other(): return rate()",
        "import helpers, untuned\ndef train(environment, draw): raise untuned.BudgetSpent\nuntuned.Draw(helpers.rate)",
    ],
)
def test_what_is_not_used_does_not_count(digests: Digest, use: str) -> None:
    assert digests("train", use, changed("RATE = 0.1", "RATE = 0.2", HELPERS)) == digests("train", use)


def test_code_that_is_nested_too_deeply_counts_as_compiled(digests: Digest) -> None:
    use = "def train(environment, draw):\n    return " + " + ".join(["1.5 * draw"] * 2000)
    assert digests("train", use) == digests("train", use) != digests("train", use.replace("1.5", "2.5"))


def test_modules_that_cannot_be_read_count_by_name(digests: Digest) -> None:
    use = "def train(environment, draw):\n    import broken\n    return broken.learn()"
    assert digests("train", use) == digests("train", use)


def test_packages_and_relative_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    found = []
    for number, constant in enumerate((1, 2)):
        package = tmp_path / f"package_{number}"
        (package / "inner").mkdir(parents=True)
        (package / "__init__.py").write_text("from .inner.deep import value\n")
        (package / "inner" / "__init__.py").write_text("")
        (package / "inner" / "deep.py").write_text(f"from .. import other\ndef value(): return {constant}\n")
        (package / "agents.py").write_text(
            "from . import value\nfrom .inner import deep\ndef one(environment, draw): return value()\n"
            "def two(environment, draw): return deep.value()\n"
        )
        (package / "other.py").write_text("")
        module = importlib.import_module(f"package_{number}.agents")
        found.append([source_digest(module.one), source_digest(module.two)])
    assert found[0][0] != found[1][0]
    assert found[0][1] != found[1][1]


def typed_in(source: str) -> Any:
    names: dict[str, Any] = {"__name__": "nowhere"}
    exec(textwrap.dedent(source), names)
    return names["train"]


def test_without_a_file_functions_count_with_what_they_use() -> None:
    source = """
        RATE = 1
        def helper(n): return helper(n - 1) if n else RATE
        def train(environment, draw): return helper(3)
    """
    assert source_digest(typed_in(source)) == source_digest(typed_in(source))
    assert source_digest(typed_in(source)) != source_digest(typed_in(source.replace("= 1", "= 2")))
    assert source_digest(typed_in(source)) != source_digest(typed_in(source.replace("n - 1", "n - 2")))


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def configured(environment: object, draw: object, settings: object) -> None:
    """Take settings that a partial function holds."""


def test_what_functions_hold() -> None:
    held: list[Any] = [Colour.RED, Colour.BLUE, np.arange(3), np.arange(4), {"a": [1]}, {"a": [2]}, max, np, Colour]
    digests = [source_digest(functools.partial(configured, settings=each)) for each in held]
    assert len(set(digests)) == len(held)
    with pytest.raises(InvalidInput, match="declare a version"):
        source_digest(functools.partial(configured, settings=object()))
    assert source_digest(functools.partial(configured, settings=object()), lenient=True)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InvalidInput, match="holds itself"):
        source_digest(functools.partial(configured, settings=endless))


def test_functions_of_c_and_of_other_packages() -> None:
    assert source_digest(max) != source_digest(min)
    assert source_digest(textwrap.dedent) != source_digest(textwrap.indent)
    assert source_digest(json.dumps) == source_digest(json.dumps)


def test_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    digests = []
    for text in ("x = 1", '"""Words."""\nx = 1  # more', "x = 2"):
        path.write_text(text)
        digests.append(tree_digest([path]))
    assert digests[0] == digests[1] != digests[2]
    assert len(decisive_code()) == 16


def test_names_that_do_not_exist_are_noticed() -> None:
    with pytest.raises(LookupError, match="no_such_function"):
        own_code("untuned.collect.runner.trial:no_such_function")


# Our own code: what a cell runs, and nothing else.

# One process for all edits: fingerprints of code are read from the files, whatever was imported from them.
CELLS = """
import json, sys
from pathlib import Path
import untuned
from untuned import source_trees
from untuned.collect.fingerprints import source_digest

def train(environment, draw):
    return None

def cells():
    for cached in (source_trees.own_code, source_trees._package_module):
        cached.cache_clear()
    return {
        **{each.name: source_digest(each) for each in untuned.algorithms()},
        **{each.name: source_digest(each) for each in untuned.environments()},
        "python": source_digest(untuned.Trainer("mine", "mine", 1, "", train)),
        "gymnasium": source_digest(untuned.from_gymnasium("CartPole-v1", episodes=3)),
        "chain by id": source_digest(untuned.from_gymnasium("untuned/Chain10Stochastic-v0", episodes=3)),
    }

found = [cells()]
for file, old, new in json.loads(sys.argv[1]):
    path = Path(untuned.__file__).parent / file
    source = path.read_text()
    assert old in source, old
    path.write_text(source.replace(old, new))
    found.append(cells())
    path.write_text(source)
print(json.dumps(found))
"""

TD = {"sarsa", "sarsa-s", "sarsa-parl2", "q", "q-s", "q-parl2", "tuned-within[sarsa-s,4]"}
AC = {"ac", "ac-s", "ac-parl2"}
COMPILED = {*TD, *AC, "nac-td", "ppo"}
PINBALL = {"pinball-empty", "pinball-box", "pinball-medium", "pinball-single"}
CHAINS = {f"chain-{size}-{kind}" for size in (10, 50) for kind in ("deterministic", "stochastic")} | {"chain by id"}

EDITS: list[tuple[str, str, str, set[str]]] = [
    ("collect/agents/ppo.py", "_FIRST_DECAY = 0.9", "_FIRST_DECAY = 0.8", {"ppo"}),
    ("collect/agents/sarsa.py", "min(step_size, 1.0 / overshoot)", "min(step_size, 0.9 / overshoot)", TD),
    ("collect/environments/pinball.py", "x_velocity *= drag", "x_velocity *= drag * drag", PINBALL),
    ("collect/environments/chain.py", "steps >= 20.0 *", "steps >= 21.0 *", CHAINS),
    ("collect/definitions/paper.py", "SURPRISE_BONUS = 0.01", "SURPRISE_BONUS = 0.02", AC),
    ("collect/runner/trial.py", "final_returns = np.zeros(FINAL_EPISODES)", "final_returns = np.ones(3)", COMPILED),
    ("collect/kernels/fourier.py", "def write_features(", "def write_features(unused=0, *, ", COMPILED),
    ("adapters/training/budgeted.py", "_PATIENCE = 1000", "_PATIENCE = 1001", {"python"}),
    # What follows decides no number.
    ("collect/agents/sarsa.py", '"""Sarsa(lambda).\n', '"""Sarsa(lambda), as published.\n', set()),
    ("collect/agents/features.py", "{features} has too few", "{features} is too small", set()),
    ("collect/definitions/paper.py", '"PPO",', '"PPO!",', set()),
    ("collect/environments/chain.py", "walk to the right end of", "walk to the last of", set()),
    ("adapters/training/trial.py", "train returned after", "training was over after", set()),
    ("collect/store/cells.py", "CHUNK = ", "CHUNK = 1 + ", set()),
    ("collect/kernels/jit.py", '"kernels",', '"kernel",', set()),
    ("judge/percentiles.py", "import numpy as np", "import numpy as np\nEXTRA = 1", set()),
    ("version.py", '__version__ = "', '__version__ = "9.', set()),
]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """Return the fingerprints of everything in a copy of the package, without an edit and after each."""
    folder = tmp_path_factory.mktemp("copied")
    shutil.copytree(Path(untuned.__file__).parent, folder / "untuned", ignore=shutil.ignore_patterns("__pycache__"))
    finished = subprocess.run(
        [sys.executable, "-c", CELLS, json.dumps([each[:3] for each in EDITS])],
        # Not compiled: fingerprints of code do not depend on that, and it takes a fraction of the time.
        env={**os.environ, "PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found: list[dict[str, str]] = json.loads(finished.stdout)
    return found


def test_the_same_in_every_process_compiled_or_not(edited: list[dict[str, str]]) -> None:
    listed: list[Any] = [*untuned.algorithms(), *untuned.environments()]
    for each in listed:
        assert source_digest(each) == edited[0][each.name]
    assert len(set(edited[0].values())) == len(edited[0])


@pytest.mark.parametrize("number", range(len(EDITS)), ids=lambda number: f"{EDITS[number][0]} {number}")
def test_an_edit_changes_the_cells_that_run_it(edited: list[dict[str, str]], number: int) -> None:
    before, after = edited[0], edited[number + 1]
    assert {name for name in before if after[name] != before[name]} == EDITS[number][3]


# Merging.


def facts(**changes: Any) -> StudyFacts:
    environment = {"name": "chain", "fingerprint": "e", "trials": 3, "summary": "", "score_range": [0, 1]}
    algorithm = {"name": "mine", "title": "Mine", "fingerprint": "a", "version": "1"}
    return StudyFacts.of(
        {"seed": 1, "untuned": "0.1.0", "algorithms": [algorithm], "environments": [environment], **changes}
    )


def test_versions_of_the_package_and_words_do_not_keep_stores_apart() -> None:
    title = [{"name": "mine", "title": "Mine!", "fingerprint": "a", "version": "1"}]
    assert facts().same_as(facts(untuned="0.1.1", algorithms=title))
    assert facts().differences(facts(untuned="0.1.1", algorithms=title)) == []
    other = [{"name": "mine", "title": "Mine", "fingerprint": "b", "version": "1"}]
    assert facts().differences(facts(algorithms=other)) == ["algorithms"]
    assert not facts().same_as(facts(seed=2))


def test_shards_of_two_releases_merge(tmp_path: Path) -> None:
    study = untuned.Study("s", algorithms=["sarsa"], environments=["chain-10-stochastic"], trials=4)
    for number in (1, 2):
        untuned.collect_scores(study, tmp_path / str(number), shard=f"{number}/2", workers=1)
    with Store.open(tmp_path / "2", write=True) as store:
        store.set_facts({**store.facts, "untuned": "9.0.0"})
    with Store.open(tmp_path / "1", write=True) as store:
        assert store.merge_from(tmp_path / "2") == 2
        assert store.facts["untuned"] == untuned.__version__


def test_trainers_of_one_module_are_told_apart() -> None:
    assert Trainer.of(configured_alone).fingerprint != Trainer.of(configured_too).fingerprint


def configured_alone(environment: object, draw: object) -> None:
    """Take no settings."""


def configured_too(environment: object, draw: object) -> None:
    """Take none either."""
    assert environment
