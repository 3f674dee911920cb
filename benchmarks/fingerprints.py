"""Fingerprints of the code that decides the numbers of a file of results, and the files whose code has changed since.

    python benchmarks/fingerprints.py
    python benchmarks/fingerprints.py NAME [NAME ...] --unchanged "why no number of these files changes"
    python benchmarks/fingerprints.py --reproduction FOLDER/reproduction.json

The first command lists the files of docs/results that were measured with other code. The second gives files the
fingerprint of the present code and keeps the reason in them: for an edit that cannot change their numbers. Comments,
docstrings and texts of messages do not count. The third copies the file of ``untuned reproduce``, which has to be the
present code's, into docs/results with its fingerprint.
"""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from untuned.source_trees import tree_digest

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"

#: What judges, and the laws of scores on which it is tried.
JUDGE = ("src/untuned/judge", "src/untuned/scores.py")
LAB = (*JUDGE, *(f"src/untuned/lab/{name}.py" for name in ("mixtures", "population_types", "data_sets", "contenders")))
#: What runs a trial, and all that collects.
TRIAL = tuple(f"src/untuned/collect/{name}" for name in ("agents", "definitions", "environments", "kernels", "runner"))
COLLECT = ("src/untuned/collect",)
#: What decides the numbers of a benchmark, in addition to its own file.
DECIDES: Mapping[str, tuple[str, ...]] = {
    "collect": COLLECT,
    "comparison": LAB,
    "engine": TRIAL,
    "environments": TRIAL,
    "exploitability": JUDGE,
    "failures": LAB,
    "fidelity": TRIAL,
    "gallery": (*JUDGE, "src/untuned/adapters/score_files"),
    "growth": ("src/untuned",),
    "judge": JUDGE,
    "metered": (*COLLECT, "src/untuned/adapters"),
    "peers": JUDGE,
    "plan": LAB,
    "pooled_plan": LAB,
    "pooled_power": LAB,
    "power": LAB,
    "precision": TRIAL,
    "protocols": COLLECT,
    "race_errors": (*LAB, "src/untuned/races", "src/untuned/lab/races.py"),
    "race_savings": (*LAB, "src/untuned/races", "src/untuned/lab/races.py"),
    "reading": ("src/untuned/adapters/score_files",),
    "report": ("src/untuned/reports",),
    "reproduction": (*COLLECT, *JUDGE, "src/untuned/reproduction"),
    "store": ("src/untuned/collect/store",),
    "summary_coverage": LAB,
    "widths": LAB,
}
#: Its options are the settings of its files, and nothing else in it decides a number.
ONLY_SETTINGS = {"failures"}


def fingerprint(benchmark: str) -> dict[str, Any]:
    """Return the fingerprint of a benchmark: files and folders of the project, and the digest of their code."""
    own = ROOT / "benchmarks" / f"{benchmark}.py"
    parts = [*DECIDES.get(benchmark, ("src/untuned",))]
    if own.exists() and benchmark not in ONLY_SETTINGS:
        parts.append(f"benchmarks/{own.name}")
    return {"of": parts, "digest": digest(tuple(parts))}


@cache
def digest(parts: Sequence[str]) -> str:
    """Return the digest of the Python files of these files and folders."""
    files: set[Path] = set()
    for part in parts:
        path = ROOT / part
        files.update(path.rglob("*.py") if path.is_dir() else [path])
    return tree_digest(sorted(files, key=lambda path: path.relative_to(ROOT).as_posix()))


def is_current(content: Mapping[str, Any]) -> bool:
    """Return whether the code that decides a file's numbers is still that which measured it."""
    found = content.get("fingerprint")
    if found is None or not all((ROOT / part).exists() for part in found["of"]):
        return False
    return bool(found["digest"] == digest(tuple(found["of"])))


def outdated(folder: Path = RESULTS) -> list[str]:
    """Return the names of the files that other code has measured."""
    return [
        path.name
        for path in sorted(folder.glob("*.json"))
        if not is_current(json.loads(path.read_text(encoding="utf-8")))
    ]


def restamp(path: Path, reason: str) -> None:
    """Give a file the fingerprint of the present code, and keep the reason."""
    text = path.read_text(encoding="utf-8")
    found = json.loads(text).get("fingerprint")
    if found is None:
        raise SystemExit(f"{path.name} has no fingerprint: measure it again")
    now = digest(tuple(found["of"]))
    # A value of the file as it stands, so that its layout is kept.
    before = f'"digest": "{found["digest"]}"'
    if text.count(before) != 1:
        raise SystemExit(f"{path.name} is not as a benchmark wrote it: measure it again")
    reasons = json.dumps([*found.get("unchanged", []), reason])
    text = re.sub(r', "unchanged": \[("([^"\\]|\\.)*"(, )?)*\]', "", text)
    path.write_text(text.replace(before, f'"digest": "{now}", "unchanged": {reasons}'), encoding="utf-8")


def adopt(path: Path) -> None:
    """Copy the file of a reproduction to the results, with the fingerprint of the present code."""
    content = json.loads(path.read_text(encoding="utf-8"))
    stamped = json.dumps({**content, "fingerprint": fingerprint("reproduction")}, indent=1, ensure_ascii=False)
    (RESULTS / "reproduction.json").write_text(f"{stamped}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="files of docs/results, without .json")
    parser.add_argument("--unchanged", metavar="REASON", help="why an edit changes no number of these files")
    parser.add_argument("--reproduction", type=Path, metavar="FILE", help="the file of a reproduction just made")
    options = parser.parse_args()
    if options.reproduction is not None:
        adopt(options.reproduction)
    if bool(options.names) != bool(options.unchanged):
        parser.error("name the files and give the reason with --unchanged, or neither")
    for name in options.names:
        restamp(RESULTS / f"{re.sub(r'[.]json$', '', name)}.json", options.unchanged)
    for name in outdated():
        print(name)


if __name__ == "__main__":
    main()
