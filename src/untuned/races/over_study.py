"""`StudySource`: the trials of a study as the source of a race; and the declarations before its first look."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replaced
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from untuned.collect.engines.engine import Engine, opened
from untuned.collect.progress import Watch
from untuned.collect.resuming import NEW_STUDY
from untuned.collect.rounds import declaration
from untuned.collect.session import Session
from untuned.collect.study import Study
from untuned.errors import InvalidInput
from untuned.judge.judging import GAME, UNIFORM, Judging, whole
from untuned.judge.methods import ANYTIME
from untuned.judge.pooled.rounds import covering_numbers, cut_numbers
from untuned.judge.threads import Progress as Steps
from untuned.judge.weights import weights_of
from untuned.processors import processors
from untuned.races.goals import Goal
from untuned.races.racing import Budget, Look, Racing
from untuned.races.result import Race
from untuned.races.rules import DEFAULT, Rule, rule_of
from untuned.scores import Floats, Ints, ScoreTable
from untuned.version import __version__

_NAMED = ("algorithms", "environments")


class StudySource:
    """The trials of a study.

    Parameters
    ----------
    session
        The study, opened.
    engine
        The engine that runs trials.
    workers
        How many run at the same time.
    keep_going
        Whether to run all trials of an algorithm whose first ones all failed.
    watch
        Called with the progress of a round.
    """

    def __init__(
        self,
        session: Session,
        engine: Engine,
        workers: int,
        *,
        keep_going: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self._session = session
        self._engine = engine
        self._keep_going = keep_going
        self._watch = watch
        self._begun = time.monotonic()
        self.workers = workers
        self.names = _in_declared_order(session)

    def log(self) -> Sequence[Mapping[str, Any]]:
        """Return the entries of the log."""
        return self._session.race_log()

    def note(self, entry: Mapping[str, Any]) -> None:
        """Add an entry to the log."""
        self._session.log_race(entry)

    def collect(self, numbers_ae: Ints, stop: Callable[[], bool]) -> bool:
        """Run trials until every cell has its number; return whether all of them are there."""
        algorithms, environments = self.names
        wanted = {
            (algorithm, environment): int(numbers_ae[a, e])
            for a, algorithm in enumerate(algorithms)
            for e, environment in enumerate(environments)
        }
        found = self._session.collect(
            wanted, engine=self._engine, keep_going=self._keep_going, stop=stop, watch=self._watch
        )
        return found.complete

    def scores(self) -> ScoreTable:
        """Return all scores, with the complete rounds."""
        return self._session.scores().select(*self.names)

    def costs(self, numbers_ae: Ints) -> Floats:
        """Return the mean seconds of the first trials of every cell, [a, e]; NaN where there are none."""
        return self._session.seconds(numbers_ae, self.names)

    def elapsed(self) -> float:
        """Return the seconds since this object was made."""
        return time.monotonic() - self._begun


def raced(
    study: Study | str | Path,
    goal: str,
    folder: str | Path | None,
    *,
    hours: float | None = None,
    max_trials: int | None = None,
    rule: str | Rule = DEFAULT,
    costs: Any = None,
    judging: Judging,
    replace: bool = False,
    keep_going: bool = False,
    engine: str | Engine = "local",
    workers: int | None = None,
    ray_address: str | None = None,
    watch: Watch | None = None,
    look: Callable[[Look], None] | None = None,
    progress: Steps | None = None,
    stop: Callable[[], bool] | None = None,
    judged: bool = True,
) -> Race:
    """Race on a study: see `untuned.race`; the trials are evaluated at the end only if ``judged``."""
    aim, chosen = Goal.parse(goal), rule_of(rule)
    budget = Budget(_seconds(hours), None if max_trials is None else whole("max_trials", max_trials, 1, "or None"))
    with Session.open(study, folder, replace=replace) as session:
        names = _in_declared_order(session)
        judging = for_races(judging if judging.families is not None else replaced(judging, families=session.families))
        judging.check(*names)
        aim.check(names[0])
        budget.check(*names)
        given = _costs(costs, session.names, names)
        with opened(engine, workers, ray_address) as running:
            count = getattr(running, "workers", None) or (processors() if workers is None else workers)
            source = StudySource(session, running, count, keep_going=keep_going, watch=watch)
            racing = Racing(source, aim, judging, chosen, budget, given, look, stop)
            declare(source, session, judging)
            source.note({"kind": "begun", "goal": aim.text, "time": time.time()})
            ending = racing.run()
            source.note({"kind": "ended", "ending": ending, "goal": aim.text, "time": time.time()})
        found = None
        if racing.looks and judged:
            found = judging.judge(session.scores(), workers=count, progress=progress)
        return Race(session.folder, aim, ending, *names, tuple(racing.looks), found, count)


def _in_declared_order(session: Session) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in the order of the race's log, which its indices refer to; without a log, the study's order."""
    log = session.race_log()
    declared = declaration(log) if log else {}
    algorithms, environments = (
        tuple(declared[kind]) if sorted(declared.get(kind, ())) == sorted(names) else names
        for kind, names in zip(_NAMED, session.names, strict=True)
    )
    return algorithms, environments


def for_races(judging: Judging) -> Judging:
    """Return the options of a race: equal weights by default, and anytime-valid methods."""
    if judging.intervals not in (None, ANYTIME) or judging.conventions != "valid" or judging.max_algorithms is not None:
        raise InvalidInput(
            "a race uses methods that hold at all times, for its initial algorithms: leave intervals, conventions and "
            "max_algorithms out"
        )
    return replaced(judging, intervals=ANYTIME, weights=UNIFORM if judging.weights is None else judging.weights)


def _seconds(hours: float | None) -> float:
    if hours is None:
        return math.inf
    if isinstance(hours, bool) or not isinstance(hours, Real) or not 0.0 < float(hours) < math.inf:
        raise InvalidInput(f"hours={hours!r}: pass a positive number, 0.5 for half an hour, or None for no limit")
    return 3600.0 * float(hours)


def _costs(
    given: Any, names: tuple[Sequence[str], Sequence[str]], ordered: tuple[Sequence[str], Sequence[str]]
) -> Floats | None:
    """Return seconds per trial, [a, e] or [round, a, e]; None for the measured ones.

    Parameters
    ----------
    given
        An array in the order of ``names``, or the folder of a raced study.
    names, ordered
        The algorithms and environments in the order of the study, and in the order to return.
    """
    shape = (len(names[0]), len(names[1]))
    if given is None:
        return None
    if isinstance(given, str | Path):
        with Session.at(given) as other:
            log = other.race_log()
        rounds = [entry["costs"] for entry in log if entry["kind"] == "round"]
        if log:
            before = declaration(log)
            if any(sorted(before[kind]) != sorted(each) for kind, each in zip(_NAMED, names, strict=True)):
                raise InvalidInput(f"{given} has other algorithms or environments: name a race of the same ones")
            names = before["algorithms"], before["environments"]
        # Rounds of trials from before the race have no plan, hence no costs.
        kept = [each for each in rounds if each is not None]
        if not kept:
            raise InvalidInput(f"no round of {given} was planned by a race, so it has no record of costs: name another")
        given = [kept[0] if each is None else each for each in rounds]
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape[-2:] != shape or found.ndim not in (2, 3) or not (np.isfinite(found) & (found > 0.0)).all():
        raise InvalidInput(
            f"costs are positive seconds per trial, one for each of {shape[0]} algorithms on each of {shape[1]} "
            "environments: pass an array [algorithm, environment], or the folder of a raced study with the same ones"
        )
    rows, columns = ([there.index(name) for name in each] for there, each in zip(names, ordered, strict=True))
    return np.ascontiguousarray(found[..., rows, :][..., columns])


def declare(source: StudySource, session: Session, judging: Judging) -> None:
    """Record what must not change during a race, or refuse changes.

    Trials from before the first look are divided into rounds at fixed numbers, whatever decided how many there are.
    Where some cells have more trials than others, these rounds bring the others up to them.

    Raises
    ------
    InvalidInput
        When delta, the weights, the algorithms or the environments differ from the declared ones.
    """
    algorithms, environments = source.names
    entry: dict[str, Any] = {
        "kind": "declared",
        "delta": judging.delta,
        "weights": declared_weights(judging, algorithms, environments),
        "algorithms": list(algorithms),
        "environments": list(environments),
        **_declared_families(judging, environments),
        "version": __version__,
        "time": time.time(),
    }
    log = source.log()
    if log:
        _check(session, declaration(log), entry)
    else:
        source.note(entry)
    rounds = [each for each in log if each["kind"] == "round"]
    # Completes the records of a race that was killed while writing them.
    if session.collected and all(each["costs"] is None for each in rounds):
        weights = [q_er for q_er in weights_of(judging, algorithms, environments).values() if q_er is not None]
        weights_e = weights[0].sum(axis=1) if GAME not in judging.weightings and weights else None
        # The game's intervals hold for any number of trials, however it was decided.
        fixed = covering_numbers if weights else cut_numbers
        for numbers_ae in fixed(source.scores().trials, weights_e)[len(rounds) :]:
            source.note({"kind": "round", "numbers": numbers_ae.tolist(), "costs": None})


def declared_weights(judging: Judging, algorithms: Sequence[str], environments: Sequence[str]) -> Any:
    """Return the weights in the form of the log: a name, or [environment, reference]."""
    if isinstance(judging.weights, str):
        return judging.weights
    (q_er,) = weights_of(judging, algorithms, environments).values()
    assert q_er is not None
    return q_er.tolist()


def _check(session: Session, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for key, advice in (
        ("delta", f"--delta {before['delta']:g} (delta={before['delta']:g})"),
        ("weights", "the same --weights (weights=...)"),
        ("families", "the same --families (families=...)"),
    ):
        if before.get(key) != now.get(key):
            raise InvalidInput(
                f"the race in {session.folder} was declared with {key}={_short(before.get(key))}, and now has "
                f"{_short(now.get(key))}: its verdicts hold together at what was declared alone. Pass {advice}, or "
                f"{NEW_STUDY}"
            )


def _declared_families(judging: Judging, environments: Sequence[str]) -> dict[str, Any]:
    """Return the variants of every family as indices of the declared environments; none without families."""
    found = [sorted(map(environments.index, each)) for each in (judging.families or {}).values() if len(each) > 1]
    return {"families": sorted(found)} if found else {}


def _short(value: Any) -> str:
    if not isinstance(value, list) or isinstance(value[0][0], int):
        return f"{value!r}"
    return f"({', '.join(f'{sum(each):.3g}' for each in value)}) of the environments"
