"""``untuned import``, and what all commands that read scores have in common: paths, standard input, choices."""

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import untuned
from support.calling import Call, Said, caller
from support.programs import PROGRAM, environment

FORMATS = ("csv", "tsv", "jsonl", "parquet")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Return what puts bytes on standard input."""

    def put(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return put


def scores(trials: int = 12) -> polars.DataFrame:
    rng = np.random.default_rng(4)
    rows = [
        (a, e, seed, float(np.clip(rng.normal(shift, 1.0), -9.0, 9.0)))
        for a, shift in (("sarsa", 1.0), ("q", 0.0), ("ppo", 2.0))
        for e in ("maze", "arm")
        for seed in range(trials)
    ]
    return polars.DataFrame(rows, schema=["algorithm", "environment", "seed", "score"], orient="row")


def curves() -> polars.DataFrame:
    return polars.concat(
        scores(5).with_columns(polars.col("score") + step / 10, step=polars.lit(step)) for step in range(10)
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    scores().write_csv(path)
    return path


def content(frame: polars.DataFrame, form: str) -> bytes:
    buffer = io.BytesIO()
    if form == "parquet":
        frame.write_parquet(buffer)
    elif form == "jsonl":
        frame.write_ndjson(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if form == "tsv" else ",")
    return buffer.getvalue()


def refused(said: Said, *words: str) -> None:
    assert said.code == 2
    assert said.out == ""
    for each in words:
        assert each in said.err


def same(path: Path, frame: polars.DataFrame, **options: Any) -> bool:
    return untuned.read_scores(path).fingerprint == untuned.read_scores(frame, **options).fingerprint


# --- import


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("given", FORMATS)
def test_every_format_becomes_every_other(form: str, given: str, call: Call, tmp_path: Path) -> None:
    source, out = tmp_path / f"given.{given}", tmp_path / f"out.{form}"
    source.write_bytes(content(scores(), given))
    said = call("import", source, "--out", out)
    assert (said.code, said.out) == (0, "")
    assert said.err.startswith(f"wrote {out}: 72 scores, 3 algorithms x 2 environments, from given.{given}")
    assert same(out, scores())


def test_curves_are_kept_or_reduced(call: Call, tmp_path: Path) -> None:
    source, out = tmp_path / "curves.csv", tmp_path / "out.csv"
    curves().write_csv(source)
    assert "300 points of learning curves" in call("import", source, "-o", out).err
    refused(call("evaluate", out), "learning curves", "--reduce")
    said = call("import", source, "-o", out, "--reduce", "final")
    assert "30 scores" in said.err
    assert "reduced by the final value" in said.err
    assert same(out, curves(), reduce="final")


def test_what_import_writes_is_judged_like_its_source(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    call("import", file, "-o", out)
    one, other = (call("evaluate", path, "--json").json for path in (file, out))
    assert one["algorithms"] == other["algorithms"]


def test_choices_are_written(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    options = ("--without", "q", "--rename", "ppo=PPO", "--minimize", "arm", "--environments", "arm")
    assert call("import", file, "-o", out, *options).code == 0
    table = untuned.read_scores(out)
    assert (table.algorithms, table.environments) == (("sarsa", "PPO"), ("arm",))
    assert table.cell("PPO", "arm").tolist() == (-untuned.read_scores(file).cell("ppo", "arm")).tolist()


@pytest.mark.parametrize("name", ["out.xlsx", "out", "out.json", "out.csv.gz"])
def test_an_ending_that_is_none(name: str, call: Call, file: Path, tmp_path: Path) -> None:
    refused(call("import", file, "-o", tmp_path / name), "name a file that ends in .csv, .tsv, .jsonl, .parquet")
    assert not (tmp_path / name).exists()


def test_a_place_that_cannot_be_written(call: Call, file: Path, tmp_path: Path) -> None:
    refused(call("import", file, "-o", tmp_path / "nowhere" / "out.csv"), "cannot be written", "No such file")
    (tmp_path / "taken.csv").mkdir()
    refused(call("import", file, "-o", tmp_path / "taken.csv"), "cannot be written")
    refused(call("import", file, "-o", file / "out.csv"), "cannot be written")


def test_a_file_that_is_missing(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    refused(call("import", tmp_path / "score.csv", "-o", out), "there is no file", "did you mean 'scores.csv'?")
    refused(call("import", file, tmp_path / "gone.csv", "-o", out), "there is no file")
    refused(call("import", "~nobody-has-this-name/a.csv", "-o", out), "~nobody-has-this-name/a.csv")
    assert not out.exists()


def test_import_needs_a_place(call: Call, file: Path) -> None:
    said = call("import", file)
    assert said.code == 2
    assert "--out" in said.err


def test_a_mistake_leaves_what_was_there(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    call("import", file, "-o", out)
    before = out.read_bytes()
    refused(call("import", file, "-o", out, "--without", "nobody"), "no algorithm or environment is called 'nobody'")
    assert out.read_bytes() == before


# --- standard input


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_recognised(
    form: str, packed: bool, call: Call, pipe: Callable[[bytes], None], tmp_path: Path
) -> None:
    data, out = content(scores(), form), tmp_path / "out.csv"
    pipe(gzip.compress(data, mtime=0) if packed else data)
    said = call("import", "-", "-o", out)
    if packed and form == "parquet":
        refused(said, "standard input")
        return
    assert said.code == 0, said.err
    assert "standard input" in said.err
    assert same(out, scores())


@pytest.mark.parametrize("command", [("evaluate",), ("import", "-o", "out.csv")])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "standard input is empty"),
        (b"\n\n", "standard input"),
        (b"\x7fELF\x02\x01\0\0\0\0", "neither text nor parquet"),
        (b"\xff\xfea\0,\0b\0", "UTF-16"),
        (b"algorithm,environment,score\na,x,\xff\n", "not UTF-8"),
        (b"algorithm,environment,score\n", "no rows"),
        (b"PAR1 and nothing more", "standard input"),
        (gzip.compress(b"algorithm,environment,score\na,x,1\n", mtime=0)[:-12], "standard input"),
        (b"\x1f\x8b\x08 and nothing more", "standard input"),
        (b'{"algorithm": "a"}\n{"algorithm": "b"}\n', "has no column"),
        (b"hello\nworld\n", "has no column"),
    ],
    ids=["nothing", "blank", "program", "utf16", "latin", "header", "parquet", "cut", "gzip", "json", "text"],
)
def test_what_standard_input_must_not_be(
    command: tuple[str, ...],
    data: bytes,
    words: str,
    call: Call,
    pipe: Callable[[bytes], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    pipe(data)
    refused(call(command[0], "-", *command[1:]), words)
    assert not list(tmp_path.iterdir())


def test_standard_input_with_a_file(call: Call, pipe: Callable[[bytes], None], tmp_path: Path) -> None:
    frame = scores()
    frame.filter(polars.col("algorithm") == "q").write_csv(tmp_path / "q.csv")
    pipe(content(frame.filter(polars.col("algorithm") != "q"), "csv"))
    facts = call("evaluate", "-", tmp_path / "q.csv", "--json").json
    assert {each["name"] for each in facts["algorithms"]} == {"sarsa", "q", "ppo"}


def test_a_real_pipe() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, "evaluate", "-", "--weights", "uniform"],
        input=content(scores(), "csv"),
        capture_output=True,
        env=environment(),
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr.decode()
    assert finished.stdout.decode().startswith("3 algorithms on 2 environments, 12 trials per cell")
    assert finished.stderr.decode().splitlines() == ["3 algorithms x 2 environments x 12 runs from standard input"]


# --- several paths, folders


def test_several_paths_and_a_folder(call: Call, tmp_path: Path) -> None:
    frame = scores()
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("sarsa", "q", "ppo"):
        frame.filter(polars.col("algorithm") == name).write_csv(folder / f"{name}.csv")
    (folder / "notes.txt").write_text("notes")
    files = [folder / f"{name}.csv" for name in ("sarsa", "q", "ppo")]
    for sources in (files, [folder]):
        said = call("evaluate", *sources, "--json")
        assert said.code == 0, said.err
        assert said.err == "3 algorithms x 2 environments x 12 runs from 3 CSV files\n"


def test_a_folder_with_tables_of_two_kinds(call: Call, tmp_path: Path) -> None:
    frame = scores()
    frame.filter(polars.col("algorithm") == "q").write_csv(tmp_path / "q.csv")
    frame.filter(polars.col("algorithm") != "q").write_parquet(tmp_path / "rest.parquet")
    said = call("evaluate", tmp_path, "--json")
    assert said.code == 0, said.err
    assert said.err == "3 algorithms x 2 environments x 12 runs from 2 files\n"
    said = call("evaluate", tmp_path, "--json", "--reader", "parquet")
    assert said.err == f"2 algorithms x 2 environments x 12 runs from {tmp_path.name}/rest.parquet\n"


def test_the_same_scores_in_two_formats_are_not_twice_as_many(call: Call, tmp_path: Path) -> None:
    scores().write_csv(tmp_path / "scores.csv")
    scores().write_parquet(tmp_path / "scores.parquet")
    refused(call("evaluate", tmp_path), "are both run '0' (column 'seed')", "remove the copies")


def test_the_same_file_twice(call: Call, file: Path, tmp_path: Path) -> None:
    words = "was given twice: name every file once"
    refused(call("evaluate", file, file), words)
    refused(call("evaluate", file, tmp_path), words)
    refused(call("evaluate", file, tmp_path / "." / "scores.csv"), words)
    (tmp_path / "link.csv").symlink_to(file)
    refused(call("evaluate", file, tmp_path / "link.csv"), words)
    refused(call("import", file, file, "-o", tmp_path / "out.csv"), words)


def test_a_folder_without_scores(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    refused(call("evaluate", folder), "there are no files in")
    (folder / "notes.md").write_text("notes")
    refused(call("evaluate", folder), "none of the 1 files in", "is a log or a table of scores that is known")


def test_readers(call: Call, file: Path, tmp_path: Path) -> None:
    refused(call("evaluate", file, "--reader", "cvs"), "no reader is called 'cvs': did you mean 'csv'?")
    strange = tmp_path / "scores.dat"
    strange.write_bytes(file.read_bytes())
    refused(call("evaluate", strange), "ends in .dat, which does not say what it is", "--reader KIND")
    assert call("evaluate", strange, "--reader", "csv", "--json").code == 0
    refused(call("evaluate", file, "--reader", "parquet"), "cannot be read as parquet")


# --- evaluate


def test_what_was_recognised_is_said_on_the_error_stream(call: Call, file: Path) -> None:
    said = call("evaluate", file, "--json")
    assert said.err == "3 algorithms x 2 environments x 12 runs from scores.csv\n"
    assert said.json["provenance"]["recognised as"] == "3 algorithms x 2 environments x 12 runs from scores.csv"
    assert call("evaluate", file).err == said.err


def test_it_is_said_before_the_judging(call: Call, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def judge(*arguments: Any, **options: Any) -> None:
        said.append("judged")
        raise untuned.InvalidInput("no judging today")

    monkeypatch.setattr("untuned.judge.judging.Judging.judge", judge)
    found = call("evaluate", file)
    assert said == ["judged"]
    assert found.code == 2
    assert found.err.index("12 runs from scores.csv") < found.err.index("no judging today")


def names(said: Said) -> tuple[set[str], list[str]]:
    assert said.code == 0, said.err
    facts = said.json
    return {each["name"] for each in facts["algorithms"]}, [each["name"] for each in facts["environments"]]


def test_every_choice(call: Call, file: Path) -> None:
    everyone = {"sarsa", "q", "ppo"}

    def chosen(*options: str) -> tuple[set[str], list[str]]:
        return names(call("evaluate", file, "--json", "--weights", "uniform", *options))

    assert chosen() == (everyone, ["maze", "arm"])
    assert chosen("--algorithms", "ppo,q") == ({"ppo", "q"}, ["maze", "arm"])
    assert chosen("--algorithms", "ppo, q") == ({"ppo", "q"}, ["maze", "arm"])
    assert chosen("--environments", "arm,maze") == (everyone, ["arm", "maze"])
    assert chosen("--environments", "arm") == (everyone, ["arm"])
    assert chosen("--without", "sarsa,maze") == ({"q", "ppo"}, ["arm"])
    assert chosen("--rename", "q=Q(λ)", "--rename", "arm=robot = arm") == (
        {"sarsa", "Q(λ)", "ppo"},
        ["maze", "robot = arm"],
    )


def test_lower_is_better(call: Call, file: Path) -> None:
    best = call("evaluate", file, "--json", "--weights", "uniform").json["algorithms"]
    worst = call("evaluate", file, "--json", "--weights", "uniform", "--minimize", "all").json["algorithms"]
    assert [each["name"] for each in best] == ["ppo", "sarsa", "q"]
    assert [each["name"] for each in worst] == ["q", "sarsa", "ppo"]
    facts = call("evaluate", file, "--json", "--minimize", "arm", "--range", "arm=-10:9", "--range", "maze=-9:9").json
    assert {each["name"]: each["range"] for each in facts["environments"]} == {"maze": [-9, 9], "arm": [-9, 10]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--algorithms", "pp0"], "no algorithm is called 'pp0': did you mean 'ppo'?"),
        (["--environments", "leg"], "no environment is called 'leg'"),
        (["--without", "nobody"], "no algorithm or environment is called 'nobody'"),
        (["--without", "sarsa,q,ppo"], "no algorithm is left"),
        (["--without", ""], "write names with commas between them"),
        (["--algorithms", "ppo,,q"], "write names with commas between them"),
        (["--rename", "q"], "--rename q: write OLD=NEW"),
        (["--rename", "q="], "--rename q=: write OLD=NEW"),
        (["--rename", "=q"], "write OLD=NEW"),
        (["--rename", "q=ppo"], "--rename would call two 'ppo'"),
        (["--rename", "nobody=q"], "no algorithm or environment is called 'nobody'"),
        (["--minimize", "leg"], "no environment is called 'leg'"),
        (["--reduce", "median"], "--reduce median: write mean, final"),
        (["--reduce", "final"], "--reduce final needs to know which of a run's rows comes last"),
        (["--columns", "a,b"], "write three names"),
        (["--columns", "a,b,c"], "has no column 'a', 'b' and 'c'"),
        (["--run", "trial"], "has no columns called 'trial'"),
        (["--step", "when"], "has no column 'when'"),
        (["--nonfinite", "best"], "--nonfinite best: choose error or worst"),
        (["--accept", "everything"], "no finding is called 'everything'"),
        (["--range", "leg=0:1"], "no environment is called 'leg'"),
    ],
)
def test_choices_that_are_mistakes(options: list[str], words: str, call: Call, file: Path) -> None:
    said = call("evaluate", file, *options)
    assert said.code == 2
    assert said.out == ""
    assert words in " ".join(said.complaints.split())


def test_curves_are_reduced(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "curves.parquet"
    curves().write_parquet(path)
    for how in ("mean", "final", "last:3", "last:50%", "at:4"):
        said = call("evaluate", path, "--json", "--weights", "uniform", "--reduce", how)
        assert said.code == 0, said.err
        assert said.err.startswith("3 algorithms x 2 environments x 5 runs from curves.parquet, reduced by the ")
    said = call("evaluate", path, "--json", "--weights", "uniform", "--reduce", "best")
    assert "best-of-curve" in [each["code"] for each in said.json["findings"]]


def test_columns_with_other_names(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    scores().rename({"algorithm": "who", "environment": "where", "score": "much", "seed": "which"}).write_csv(path)
    refused(call("evaluate", path), "has no column")
    said = call("evaluate", path, "--json", "--columns", "who,where,much", "--run", "which")
    assert said.code == 0, said.err
    assert said.err == "3 algorithms x 2 environments x 12 runs from scores.csv, columns who, where, much\n"


def test_missing_scores_count_as_the_worst_where_that_is_said(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    scores().with_columns(
        score=polars.when((polars.col("algorithm") == "q") & (polars.col("seed") == 3)).then(None).otherwise("score")
    ).write_csv(path)
    refused(call("evaluate", path), "not all finite")
    refused(call("evaluate", path, "--nonfinite", "worst"), "declares no worst score")
    assert call("evaluate", path, "--without", "q", "--json").code == 0
    facts = call("evaluate", path, "--nonfinite", "worst", "--range=-9:9", "--json").json
    assert facts["failures"] == [
        {"algorithm": "q", "failed": 2, "trials": 24, "environments": ["maze", "arm"]},
    ]
