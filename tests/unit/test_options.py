"""Options are declared once, in the record that uses them: Python and the command line are derived from it."""

import dataclasses
import inspect
import pickle
from typing import Annotated, Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import untuned
from support.judging import evaluate
from untuned.adapters.score_files.reading import Reading
from untuned.cli.judging_options import takes_records
from untuned.cli.main import app
from untuned.errors import InvalidInput, UnknownName
from untuned.options import declared, option, split, takes_options_of

SCORES = {"a": {"x": [3.0, 4.0, 5.0], "y": [2.0, 3.0, 4.0]}, "b": {"x": [0.0, 1.0, 2.0], "y": [1.0, 0.0, 2.0]}}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Toy:
    """Options of a toy.

    Attributes
    ----------
    colour
        What it looks like.
    size
        How large it is.

    Examples
    --------
    None.
    """

    colour: str = dataclasses.field(default="red", metadata=option("Its colour.", str, choices=("red", "blue")))
    size: int | None = dataclasses.field(default=None, metadata=option("Its size.", int | None, flag="--toy-size"))


def test_a_new_option_is_one_field() -> None:
    program = typer.Typer()
    seen = []

    @program.command()
    @takes_records
    def play(
        name: Annotated[str, typer.Argument()], toy: Toy, loud: Annotated[bool, typer.Option("--loud")] = False
    ) -> None:
        """Play."""
        seen.append((name, toy, loud))

    run = CliRunner().invoke
    assert run(program, ["ball", "--colour", "blue", "--toy-size", "3", "--loud"]).exit_code == 0
    assert run(program, ["ball"]).exit_code == 0
    assert seen == [("ball", Toy(colour="blue", size=3), True), ("ball", Toy(), False)]
    refused = run(program, ["ball", "--colour", "green"]).exception
    assert "--colour green: choose red or blue" in str(refused)
    command: Any = typer.main.get_command(program)
    shown = {each.name: (each.opts, each.help, each.metavar) for each in command.params}
    assert shown["colour"] == (["--colour"], "Its colour.", "red|blue")
    assert shown["size"] == (["--toy-size"], "Its size.", None)

    @takes_options_of(Toy)
    def make(name: str, **options: Any) -> None:
        """Make a toy.

        Parameters
        ----------
        name
            What it is called.
        **options
            And others.
        """

    assert list(inspect.signature(make).parameters) == ["name", "colour", "size", "options"]
    text = inspect.getdoc(make)
    assert text is not None
    assert text.index("What it looks like.") < text.index("How large it is.") < text.index("And others.")
    assert "None." not in text


def test_options_are_told_apart_by_the_record() -> None:
    assert split({"size": 3, "other": 1}, Toy, ["other"]) == ({"size": 3}, {"other": 1})
    with pytest.raises(UnknownName, match="'sice': did you mean 'size'"):
        split({"sice": 3}, Toy, ["other"])


@pytest.mark.parametrize("function", [untuned.evaluate, untuned.run])
def test_help_lists_every_option(function: Any) -> None:
    signature, text = inspect.signature(function), inspect.getdoc(function)
    assert text is not None
    for name, (field, _) in declared(untuned.Judging).items():
        assert signature.parameters[name].default == field.default
        assert f"\n{name}\n    " in text


@pytest.mark.parametrize("name", ["evaluate", "report", "run"])
def test_every_option_of_judging_is_on_the_command_line(name: str) -> None:
    command: Any = typer.main.get_command(app)
    parameters = {each.name: each for each in command.commands[name].params}
    for option_name, (field, each) in declared(untuned.Judging).items():
        assert parameters[option_name].default == field.default
        assert parameters[option_name].help == each.summary
    assert set(declared(Reading)).issubset(parameters) is (name != "run")


def test_an_unknown_option_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="'detla': did you mean 'delta'"):
        untuned.evaluate(SCORES, detla=0.1)
    with pytest.raises(UnknownName, match="'range': did you mean 'ranges'"):
        untuned.evaluate(SCORES, range=(0, 9))
    with pytest.raises(UnknownName, match="'compare_with'"):
        untuned.plan(SCORES, compare_with=["pbp"])
    with pytest.raises(UnknownName, match="'engin': did you mean 'engine'"):
        untuned.run("study.toml", engin="ray")


def test_a_record_and_options_are_the_same() -> None:
    judging = untuned.Judging(intervals="kl", delta=0.2, weights={"x": 1.0, "y": 3.0})
    found = untuned.evaluate(SCORES, judging=judging)
    assert found.judging == judging
    given = untuned.evaluate(SCORES, intervals="kl", delta=0.2, weights={"x": 1.0, "y": 3.0})
    assert found.to_json() == given.to_json()
    alone = judging.judge(untuned.read_scores(SCORES))
    assert alone.to_json() == dataclasses.replace(found, findings=()).to_json()
    other = untuned.evaluate(SCORES, judging=judging, delta=0.1)
    assert other.judging == dataclasses.replace(judging, delta=0.1)
    assert pickle.loads(pickle.dumps(judging)) == judging
    with pytest.raises(InvalidInput, match="ScoreTable"):
        judging.judge(SCORES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"delta": 1.2}, "delta=1.2 is outside"),
        ({"delta": "much"}, "not a number"),
        ({"conventions": "old"}, "'valid' or 'paper'"),
        ({"intervals": "bpb"}, "interval method is called 'bpb'"),
        ({"weights": "equal"}, "'uniform'"),
        ({"weights": [[1.0], [2.0, 3.0]]}, "weights are not numbers"),
        ({"resamples": 0}, "resamples=0"),
        ({"seed": -1}, "seed=-1"),
        ({"refine": 1.5}, "refine=1.5"),
    ],
)
def test_a_record_is_checked_when_it_is_made(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        untuned.Judging(**wrong)


def test_a_record_does_not_change() -> None:
    judging = untuned.Judging()
    with pytest.raises(dataclasses.FrozenInstanceError):
        judging.delta = 0.1  # type: ignore[misc]
    array, by_name = np.array([1.0, 3.0]), {"x": 1.0, "y": 3.0}
    judgings = untuned.Judging(weights=array), untuned.Judging(weights=by_name)
    array[0], by_name["x"] = 100.0, 100.0
    assert judgings == (untuned.Judging(weights=[1, 3]), untuned.Judging(weights={"x": 1.0, "y": 3.0}))
    assert [each.weighting for each in judgings] == ["given", "given"]
    found = [each.judge(untuned.read_scores(SCORES)).environment_weights.tolist() for each in judgings]
    assert found == [[0.25, 0.75], [0.25, 0.75]]


def test_names_are_checked_before_there_are_scores() -> None:
    judging = untuned.Judging(weights={"maze": 1.0})
    judging.check(["a", "b"], ["maze", "arm"])
    with pytest.raises(UnknownName, match="'maze'"):
        judging.check(["a", "b"], ["arm", "hill"])
    with pytest.raises(InvalidInput, match="one algorithm"):
        judging.check(["a"], ["maze"])
    with pytest.raises(InvalidInput, match="one environment"):
        untuned.Judging(weights="game").check(["a", "b"], ["maze"])
    untuned.Judging().check(["a", "b"], ["maze"])


def test_an_evaluation_says_what_was_derived() -> None:
    table = untuned.read_scores(SCORES)
    found = evaluate(table, refine=7)
    assert (found.derived.refine, found.derived.functional) == (7, 0.0)
    assert found.derived.slack is not None
    assert found.judging.refine == 7
    assert evaluate(table).judging.refine is None
    drawn = evaluate(table, intervals="bootstrap", resamples=20)
    assert (drawn.derived.slack, drawn.derived.functional, drawn.derived.refine) == (None, None, None)
    assert set(dataclasses.astuple(evaluate(table, conventions="paper").derived)[1:]) == {None}
    assert found.derived.shares == {"game": 0.5, "uniform": 0.5}
    assert evaluate(table, intervals="betting").derived.shares == {"game": 1.0, "uniform": 1.0}


def test_a_report_says_how_to_make_it_again() -> None:
    judging = untuned.Judging(intervals="bootstrap", resamples=30, seed=4, weights={"x": 1.0, "y": 3.0})
    found = untuned.evaluate(SCORES, judging=judging)
    made = untuned.report(found, compare_with=["kl"], title="Two")
    for words in ("intervals='bootstrap'", "weights={'x': 1.0, 'y': 3.0}", "resamples=30", "seed=4"):
        assert words in made.command
    again = eval(made.command.replace("'report.html'", "None"), {"untuned": untuned, "scores": SCORES})
    assert again.evaluation.to_json() == found.to_json()
    # The other method is judged by the same options.
    assert made.compare_with[0].judging == dataclasses.replace(judging, intervals="kl")
