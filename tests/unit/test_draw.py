import inspect
import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untuned.collect.definitions.draw import Draw, Drawn, Noted
from untuned.collect.distributions import (
    Categorical,
    Constant,
    LogInteger,
    LogUniform,
    Minus,
    Stepped,
    Uniform,
    UniformInteger,
)
from untuned.errors import InvalidInput


class Counted:
    """Random numbers that are counted."""

    def __init__(self, seed: int = 0) -> None:
        self.taken = 0
        self._next = random.Random(seed).random

    def __call__(self) -> float:
        self.taken += 1
        return self._next()


def fixed(*numbers: float) -> Callable[[], float]:
    numbers_left: Iterator[float] = iter(numbers)
    return lambda: next(numbers_left)


Ask = Callable[[Draw], Any]
ASKED: dict[str, Ask] = {
    "float": lambda draw: draw.suggest_float("x", -1, 3),
    "float, log": lambda draw: draw.suggest_float("x", 1e-3, 1, log=True),
    "float, step": lambda draw: draw.suggest_float("x", 0, 1, step=0.1),
    "float, one point": lambda draw: draw.suggest_float("x", 2, 2),
    "float, log, one point": lambda draw: draw.suggest_float("x", 2, 2, log=True),
    "float, step, one point": lambda draw: draw.suggest_float("x", 2, 2, step=1),
    "int": lambda draw: draw.suggest_int("x", 1, 6),
    "int, log": lambda draw: draw.suggest_int("x", 1, 1000, log=True),
    "int, step": lambda draw: draw.suggest_int("x", 10, 100, step=5),
    "int, one point": lambda draw: draw.suggest_int("x", 4, 4),
    "categorical": lambda draw: draw.suggest_categorical("x", ["a", "b", None]),
    "categorical, one point": lambda draw: draw.suggest_categorical("x", ("a",)),
    "uniform": lambda draw: draw.suggest_uniform("x", 0, 1),
    "loguniform": lambda draw: draw.suggest_loguniform("x", 1, 10),
    "discrete uniform": lambda draw: draw.suggest_discrete_uniform("x", 0, 1, 0.25),
    "any": lambda draw: draw.suggest("x", Minus(1.0, LogUniform(1e-4, 0.05))),
    "constant": lambda draw: draw.suggest("x", Constant(5)),
}
EVERY = pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)


@EVERY
def test_every_new_draw_takes_exactly_one_number(ask: Ask) -> None:
    uniform = Counted()
    draw = Draw(uniform)
    ask(draw)
    assert uniform.taken == 1
    # And again none, when the name is known.
    assert [ask(draw) for _ in range(3)] == [draw.params["x"]] * 3
    assert uniform.taken == 1
    assert len(draw.record) == 1


@EVERY
def test_a_draw_is_recorded_as_it_came_out(ask: Ask) -> None:
    draw = Draw(Counted())
    value = ask(draw)
    (drawn,) = draw.record
    distribution = draw.distributions["x"]
    assert drawn == Drawn("x", value, distribution.log_density(value), str(distribution))
    assert draw.params == {"x": value}
    assert draw.log_density == drawn.log_density > -math.inf
    assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("ask", "distribution"),
    [
        (ASKED["float"], Uniform(-1, 3)),
        (ASKED["float, log"], LogUniform(1e-3, 1)),
        (ASKED["float, step"], Stepped(0, 1, 0.1)),
        (ASKED["float, one point"], Constant(2.0)),
        (ASKED["int"], UniformInteger(1, 6)),
        (ASKED["int, log"], LogInteger(1, 1000)),
        (ASKED["int, step"], UniformInteger(10, 100, 5)),
        (ASKED["categorical"], Categorical(["a", "b", None])),
        (ASKED["uniform"], Uniform(0, 1)),
        (ASKED["loguniform"], LogUniform(1, 10)),
        (ASKED["discrete uniform"], Stepped(0, 1, 0.25)),
    ],
)
def test_questions_ask_for_their_distributions(ask: Ask, distribution: Any) -> None:
    draw = Draw(fixed(0.7))
    assert ask(draw) == distribution.quantile(0.7)
    assert draw.distributions == {"x": distribution}


def test_values_have_pythons_types_whatever_was_given() -> None:
    draw: Any = Draw(lambda: np.float64(0.6))
    asked = (
        (draw.suggest_float("a", np.float32(0), np.int64(4)), float),
        (draw.suggest_float("b", 1, 1), float),
        (draw.suggest_float("c", 0, 3, step=np.float64(1)), float),
        (draw.suggest_int("d", np.int64(1), np.uint8(9)), int),
        (draw.suggest_int("e", np.int64(1), 9, log=True), int),
        (draw.suggest_categorical("f", [np.int64(1), np.int64(2)]), int),
        (draw.suggest_categorical("g", list(np.array([0.5, 0.25]))), float),
        (draw.suggest_categorical("h", [True, False]), bool),
    )
    assert [type(value) for value, _ in asked] == [kind for _, kind in asked]


POINTS = st.one_of(st.sampled_from([0.0, 1 - 2.0**-53]), st.floats(0, 1, exclude_max=True))


@given(st.integers(-1000, 1000), st.integers(0, 1000), st.integers(1, 50), POINTS)
def test_whole_numbers_are_on_their_grid(low: int, width: int, step: int, u: float) -> None:
    value = Draw(lambda: u).suggest_int("x", low, low + width, step=step)
    assert value in range(low, low + width + 1, step)


@given(st.integers(1, 10**6), st.integers(0, 10**6), POINTS)
def test_whole_numbers_in_their_logarithm_are_in_their_range(low: int, width: int, u: float) -> None:
    assert low <= Draw(lambda: u).suggest_int("x", low, low + width, log=True) <= low + width


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), POINTS)
def test_floats_are_in_their_range(low: float, width: float, u: float) -> None:
    assert low <= Draw(lambda: u).suggest_float("x", low, low + width) <= low + width


@pytest.mark.parametrize("u", [0.0, 0.5, 1 - 2.0**-53])
def test_one_point_is_returned(u: float) -> None:
    draw = Draw(lambda: u)
    assert draw.suggest_float("a", 0.1, 0.1) == 0.1
    assert draw.suggest_float("b", 0.1, 0.1, log=True) == 0.1
    assert draw.suggest_float("c", 0.1, 0.1, step=0.3) == 0.1
    assert draw.suggest_int("d", 7, 7) == 7
    assert draw.suggest_int("e", 7, 7, log=True) == 7
    assert draw.log_density == 0.0


def test_narrowing_one_draw_to_a_point_changes_no_other() -> None:
    def drawn(high: float) -> list[float]:
        draw = Draw(Counted(5))
        return [draw.suggest_float(name, 0, high if name == "b" else 1) for name in "abc"]

    wide, narrow = drawn(1.0), drawn(0.0)
    assert (wide[0], wide[2]) == (narrow[0], narrow[2])
    assert narrow[1] == 0.0 != wide[1]


def test_log_densities_add_up() -> None:
    draw = Draw(Counted())
    draw.suggest_float("a", 0, 4)
    draw.suggest_int("b", 1, 10)
    draw.suggest_categorical("c", ["x", "y"])
    assert draw.log_density == pytest.approx(-math.log(4) - math.log(10) - math.log(2))
    assert Draw(Counted()).log_density == 0.0


def test_the_record_is_in_the_order_of_the_questions() -> None:
    draw = Draw(fixed(0.5, 0.25))
    draw.suggest_int("second", 1, 2)
    draw.suggest_float("first", 0, 1)
    draw.suggest_int("second", 1, 2)
    assert draw.record == (
        Drawn("second", 2, -math.log(2), "U{1..2}"),
        Drawn("first", 0.25, 0.0, "U(0, 1)"),
    )


def test_what_is_shown_cannot_change_what_was_drawn() -> None:
    draw = Draw(fixed(0.5))
    draw.suggest_float("x", 0, 1)
    draw.params["x"] = 7
    draw.distributions.clear()
    assert draw.params == {"x": 0.5}
    assert list(draw.distributions) == ["x"]


@pytest.mark.parametrize(
    ("again", "now"),
    [
        (lambda draw: draw.suggest_float("x", 0, 2), "U(0, 2)"),
        (lambda draw: draw.suggest_float("x", 0.5, 1, log=True), "ln-uniform(0.5, 1)"),
        (lambda draw: draw.suggest_int("x", 0, 1), "U{0..1}"),
        (lambda draw: draw.suggest_float("x", 0, 1, step=0.5), "U{0, 0.5..1}"),
        (lambda draw: draw.suggest_categorical("x", [0, 1]), "one of 0, 1"),
    ],
)
def test_one_name_has_one_distribution(again: Ask, now: str) -> None:
    uniform = Counted()
    draw = Draw(uniform)
    value = draw.suggest_float("x", 0, 1)
    with pytest.raises(InvalidInput) as caught:
        again(draw)
    assert str(caught.value) == (
        f"'x' was drawn from U(0, 1) and is now to be drawn from {now}: one name has one distribution within a trial; "
        "take another name for another hyperparameter"
    )
    assert uniform.taken == 1
    assert draw.params == {"x": value}


def test_true_is_not_one_and_one_is_not_true() -> None:
    draw = Draw(fixed(0.0))
    draw.suggest_categorical("x", [True, False])
    with pytest.raises(InvalidInput, match="one name has one distribution"):
        draw.suggest_categorical("x", [1, 0])


def test_the_number_is_the_trials() -> None:
    assert Draw(Counted()).number == 0
    draw = Draw(Counted(), number=7)
    assert (draw.number, draw.within("1.").number) == (7, 7)


# Views.


def test_a_view_writes_into_the_same_record_under_its_prefix() -> None:
    draw = Draw(fixed(0.1, 0.2, 0.3, 0.4))
    draw.suggest_float("x", 0, 1)
    one, ten = draw.within("1."), draw.within("10.")
    assert one.suggest_float("x", 0, 1) == 0.2
    assert ten.suggest_float("x", 0, 2) == 0.6
    assert one.within("a.").suggest_float("x", 0, 1) == 0.4
    assert [each.name for each in draw.record] == ["x", "1.x", "10.x", "1.a.x"]
    assert draw.params == {"x": 0.1, "1.x": 0.2, "10.x": 0.6, "1.a.x": 0.4}
    # A definition sees its own names, wherever it is drawn within.
    assert one.params == {"x": 0.2, "a.x": 0.4}
    assert list(ten.distributions) == ["x"]
    assert [each.name for each in one.record] == ["1.x", "1.a.x"]
    assert [each.name for each in ten.everything] == ["10.x"]
    assert ten.log_density == pytest.approx(-math.log(2))
    assert draw.log_density == pytest.approx(-math.log(2))
    # And again: nothing new.
    assert draw.within("1.").suggest_float("x", 0, 1) == 0.2


# Notes.


def test_a_note_takes_no_number_and_is_no_draw() -> None:
    uniform = Counted()
    draw = Draw(uniform)
    draw.suggest_float("x", 0, 1)
    draw.note("step_size", "adapted, starts at 1")
    draw.note("step_size", "adapted, starts at 1")
    draw.within("1.").note("step_size", "fixed")
    draw.suggest_float("y", 0, 1)
    assert uniform.taken == 2
    assert [each.name for each in draw.record] == list(draw.params) == ["x", "y"]
    assert draw.notes == (Noted("step_size", "adapted, starts at 1"), Noted("1.step_size", "fixed"))
    assert [each.name for each in draw.everything] == ["x", "step_size", "1.step_size", "y"]


def _noted(draw: Draw) -> None:
    draw.note("x", "adapted")


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (
            _noted,
            lambda draw: draw.suggest_float("x", 0, 1),
            "'x' was noted as 'adapted', so it is not drawn: take another name",
        ),
        (
            lambda draw: draw.suggest_float("x", 0, 1),
            _noted,
            "'x' was drawn, so there is nothing to note: take another name",
        ),
        (_noted, lambda draw: draw.note("x", "2"), "'x' was noted as 'adapted' and now as '2': say it once"),
    ],
)
def test_one_name_means_one_thing(first: Ask, then: Ask, message: str) -> None:
    draw = Draw(Counted())
    first(draw)
    with pytest.raises(InvalidInput) as caught:
        then(draw)
    assert str(caught.value) == message


# Mistakes.

FINITE = "give a finite number"
WHOLE = "give a whole number, 3 and not 3.0"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda d: d.suggest_float("x", 3, 1), "x: low=3.0 is above high=1.0: give the smaller number first"),
        (
            lambda d: d.suggest_float("x", 0, 1, log=True),
            "x: low=0 is not allowed with log=True: give a number above 0",
        ),
        (
            lambda d: d.suggest_float("x", 0, 0, log=True),
            "x: low=0 is not allowed with log=True: give a number above 0",
        ),
        (lambda d: d.suggest_float("x", -1, 1, log=True), "x: low=-1 is not allowed with log=True"),
        (lambda d: d.suggest_float("x", 0, 1, step=0), "x: step=0.0 is not allowed for a grid: give a number above 0"),
        (lambda d: d.suggest_float("x", 0, 1, step=-1), "x: step=-1.0 is not allowed for a grid"),
        (lambda d: d.suggest_float("x", 0, 1, step=math.nan), f"x: step=nan is not allowed: {FINITE}"),
        (
            lambda d: d.suggest_float("x", 1, 2, step=1, log=True),
            "x: step=1 and log=True exclude each other: leave one of the two out",
        ),
        (lambda d: d.suggest_float("x", math.nan, 1), f"x: low=nan is not allowed: {FINITE}"),
        (lambda d: d.suggest_float("x", 0, math.inf), f"x: high=inf is not allowed: {FINITE}"),
        (lambda d: d.suggest_float("x", 0, 10**400), f"is not allowed: {FINITE}"),
        (lambda d: d.suggest_float("x", "0", 1), f"x: low='0' is not allowed: {FINITE}"),
        (lambda d: d.suggest_float("x", 0, None), f"x: high=None is not allowed: {FINITE}"),
        (lambda d: d.suggest_float("x", False, 1), f"x: low=False is not allowed: {FINITE}"),
        (lambda d: d.suggest_float("x", -1e308, 1e308), "x: low=-1e+308 to high=1e+308 is wider than any float"),
        (lambda d: d.suggest_float("x", 0, 1, log="yes"), "x: log='yes' is not allowed: give True or False"),
        (lambda d: d.suggest_int("x", 3, 1), "x: low=3 is above high=1: give the smaller number first"),
        (lambda d: d.suggest_int("x", 0, 3, log=True), "x: low=0 is not allowed for a logarithm of whole numbers"),
        (lambda d: d.suggest_int("x", 0, 3, step=0), "x: step=0 is not allowed: give a whole number above 0"),
        (
            lambda d: d.suggest_int("x", 1, 9, step=2, log=True),
            "x: step=2 and log=True exclude each other: leave one of the two out",
        ),
        (lambda d: d.suggest_int("x", 0, 3.0), f"x: high=3.0 is not allowed: {WHOLE}"),
        (lambda d: d.suggest_int("x", math.nan, 3), f"x: low=nan is not allowed: {WHOLE}"),
        (lambda d: d.suggest_int("x", True, 3), f"x: low=True is not allowed: {WHOLE}"),
        (lambda d: d.suggest_int("x", 0, 3, step=0.5), f"x: step=0.5 is not allowed: {WHOLE}"),
        (lambda d: d.suggest_int("x", 0, 10**30), "is not allowed: give a whole number below 2**52 in size"),
        (lambda d: d.suggest_int("x", 0, 3, log=1), "x: log=1 is not allowed: give True or False"),
        (lambda d: d.suggest_categorical("x", []), "x: choices is empty: give at least one value"),
        (lambda d: d.suggest_categorical("x", "ab"), "x: choices='ab' is not allowed: give a list of values"),
        (lambda d: d.suggest_categorical("x", 3), "x: choices=3 is not allowed: give a list of values"),
        (lambda d: d.suggest_categorical("x", [math.inf]), "x: inf is not allowed among the choices"),
        (lambda d: d.suggest_categorical("x", [(1, 2)]), "(1, 2) is not allowed among the choices"),
        (lambda d: d.suggest("x", 3), "x: 3 is not a distribution: give one of untuned.collect.distributions"),
        (lambda d: d.suggest("", Uniform(0, 1)), "'' is not allowed for name: give each hyperparameter a name"),
        (lambda d: d.suggest_float(3, 0, 1), "3 is not allowed for name: give each hyperparameter a name"),
        (lambda d: d.note("x", ""), "'' is not allowed for the note on x: say what becomes of it"),
        (lambda d: d.within(""), "'' is not allowed for prefix: give a text such as '1.'"),
    ],
)
def test_mistakes_say_what_is_allowed(ask: Ask, message: str) -> None:
    uniform = Counted()
    draw = Draw(uniform)
    with pytest.raises(InvalidInput) as caught:
        ask(draw)
    assert message in str(caught.value)
    # And nothing happened.
    assert uniform.taken == 0
    assert draw.everything == ()


@pytest.mark.parametrize("number", [1.0, -0.1, math.nan])
def test_random_numbers_outside_of_their_range_are_refused(number: float) -> None:
    draw = Draw(lambda: number)
    with pytest.raises(InvalidInput, match=r"uniform\(\) gave .*: it must give numbers from 0 up to, not including, 1"):
        draw.suggest_float("x", 0, 1)
    assert draw.record == ()


def test_the_questions_are_optunas() -> None:
    # As in Optuna 5.0's Trial: names, order, what is by keyword alone, defaults.
    expected = {
        "suggest_float": "(name, low, high, *, step=None, log=False)",
        "suggest_int": "(name, low, high, *, step=1, log=False)",
        "suggest_categorical": "(name, choices)",
        "suggest_uniform": "(name, low, high)",
        "suggest_loguniform": "(name, low, high)",
        "suggest_discrete_uniform": "(name, low, high, q)",
    }
    draw = Draw(Counted())
    for name, signature in expected.items():
        found = inspect.signature(getattr(draw, name))
        bare = found.replace(
            parameters=[each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()],
            return_annotation=inspect.Signature.empty,
        )
        assert str(bare) == signature
