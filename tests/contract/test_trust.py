"""A study file names code and runs it; a store, a table and an imported log never do: nothing in them is imported."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.programs import environment
from support.stores import ALGORITHMS, ENVIRONMENTS, FACTS, made
from untuned.collect.store.store import Store

#: A module of the stranger, under every name that facts can have, and under names that programs import anyway.
MODULES = ("evil", "evil_package", "html", "numpy", "polars", "sarsa", "zeta", "untuned")
MODULE = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\nprint('ran')\nrun = score = make = None\n"

#: Runs commands, and tells of everything of the stranger that was imported, compiled, executed or unpickled.
WATCHED = """
import json, sys
folder, commands = sys.argv[1], json.loads(sys.argv[2])
from untuned.cli.main import main
import untuned.adapters.exports, untuned.collect.session
seen, codes = [], []
def hook(event, given):
    if event in ("import", "compile", "exec", "pickle.find_class", "os.system", "os.exec", "subprocess.Popen"):
        words = [str(getattr(each, "co_filename", each)) for each in given]
        if any(folder in word or word.startswith("evil") for word in words):
            seen.append((event, words))
sys.addaudithook(hook)
sys.argv[0] = "untuned"
for command in commands:
    try:
        main(command)
    except SystemExit as ending:
        codes.append(ending.code)
print(json.dumps({"codes": codes, "seen": seen}), file=sys.stderr)
"""


def watched(folder: Path, *commands: Sequence[str | Path]) -> Any:
    """Return the exit codes of commands, called from a folder of the stranger's, and what ran there."""
    finished = subprocess.run(
        # As the installed program: the present folder is not on the path.
        [sys.executable, "-P", "-c", WATCHED, str(folder), json.dumps([[*map(str, each)] for each in commands])],
        cwd=folder,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return json.loads(finished.stderr.splitlines()[-1])


def hostile(folder: Path) -> Path:
    """Make a stranger's store: everything in its facts that could name code names theirs."""
    made(folder)
    facts: dict[str, Any] = {
        **FACTS,
        "name": "evil:run",
        "metric": "evil:score",
        "metric_fingerprint": "evil",
        "folder": str(folder),
        "algorithms": [
            {"name": name, "use": "evil:run", "module": "evil", "folder": str(folder)} for name in ALGORITHMS
        ],
        "environments": [
            {
                "name": name,
                "use": "evil:make",
                "gymnasium": "evil_package:Evil-v0",
                "id": "evil_package:Evil-v0",
                "entry_point": "evil:make",
                "score_range": [-10.0, 10.0],
            }
            for name in ENVIRONMENTS
        ],
    }
    with Store.open(folder, write=True) as store:
        store.set_facts(facts)
    return folder


def test_nothing_of_a_stranger_is_imported(tmp_path: Path) -> None:
    store = hostile(tmp_path / "store")
    logs, table = tmp_path / "logs", tmp_path / "table.csv"
    for algorithm in ("evil", "other"):
        for seed in (1, 2):
            place = logs / f"{algorithm}_evil:run_{seed}"
            place.mkdir(parents=True)
            points = f"1,2\n2,{seed + len(algorithm)}\n"
            (place / "progress.csv").write_text(f"time/total_timesteps,rollout/ep_rew_mean\n{points}")
            (place / "config.yaml").write_text("!!python/object/apply:os.system ['touch ran']\n")
    rows = (f"evil:run,evil:make,{k}\nb,evil:make,-{k}\n" for k in "1324")
    table.write_text("algorithm,environment,score\n" + "".join(rows))
    for place in (tmp_path, store, logs, logs / "evil_evil:run_1"):
        for name in MODULES:
            (place / f"{name}.py").write_text(MODULE)
    judging = ("--weights", "uniform", "--intervals", "wilson")
    found = watched(
        tmp_path,
        ("status", store),
        ("show", store, "zeta", "hill", "3"),
        ("export", store, "--returns"),
        ("evaluate", store, *judging),
        ("check", store),
        ("merge", tmp_path / "into", store),
        ("repair", store),
        ("evaluate", table, *judging),
        ("evaluate", logs, "--reduce", "mean", "--pattern", "{algorithm}_{environment}_{seed}", *judging),
    )
    assert found == {"codes": [0] * 9, "seen": []}
    assert not [*tmp_path.rglob("ran")]


def test_a_study_file_runs_what_it_names(tmp_path: Path) -> None:
    """The other side, without which the test above could not fail."""
    (tmp_path / "evil.py").write_text(MODULE)
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "x"\ntrials = 1\nalgorithms = [{ use = "evil:run", name = "zeta" }]\n'
        'environments = ["chain-10-stochastic"]\n'
    )
    assert "evil.py" in str(watched(tmp_path, ("collect", study))["seen"])
    assert (tmp_path / "ran").exists()


def test_what_is_trusted_is_stated() -> None:
    root = Path(__file__).parents[2]
    for page in ("SECURITY.md", "docs/how-to/studies.md"):
        text = " ".join((root / page).read_text(encoding="utf-8").split())
        assert "as `make` runs a Makefile" in text
        assert "A store, a table and an imported log never run code" in text
