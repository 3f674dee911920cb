"""The store: it returns what was stored to the bit, once, in one order; and a message for every error."""

import dataclasses
import itertools
import json
import math
import os
import pickle
import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import untuned
from support.processes import python
from untuned.collect.definitions.draw import Drawn
from untuned.collect.kernels.jit import INTERPRETED
from untuned.collect.runner.trial import run_trial
from untuned.collect.store import schema, writing
from untuned.collect.store.lock import LOCK_NAME
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.collect.trial import LARGEST, Trial, plain
from untuned.errors import InvalidInput, StoreError, UnknownName

ALGORITHMS = ["zeta", "alpha"]
ENVIRONMENTS = ["hill", "cave", "lake"]
FACTS: dict[str, Any] = {
    "name": "test",
    "seed": 5,
    "algorithms": ALGORITHMS,
    "environments": [{"name": "hill", "score_range": [-10.0, 10.0], "episodes": 4}, "cave", {"name": "lake"}],
}
CELLS = list(itertools.product(ALGORITHMS, ENVIRONMENTS))


def made(algorithm: str = "zeta", environment: str = "hill", trial: int = 0, **changes: Any) -> Trial:
    """Return a trial that its key decides."""
    stream = random.Random(f"{algorithm} {environment} {trial}")
    values: dict[str, Any] = {
        "seed": 5,
        "algorithm": algorithm,
        "environment": environment,
        "trial": trial,
        "score": stream.uniform(-10, 10),
        "final_return": stream.uniform(-10, 10),
        "steps": stream.randrange(10**6),
        "seconds": stream.random(),
        "draws": (
            Drawn("order", stream.randrange(9), -2.5, "U{0..8}"),
            Drawn("rate", stream.random(), 0.25, "U(0, 1)"),
        ),
        "dynamics": {"slip": stream.random()},
        "adapted": {"chosen": 3},
        "definition_version": "1",
        "fingerprint": "kernels",
        "definition_fingerprint": f"of {algorithm}",
        "environment_fingerprint": f"of {environment}",
    }
    return Trial(**(values | changes))


def text(trial: Trial) -> str:
    return json.dumps(trial.as_dict())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "study"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    with Store.create(folder, FACTS) as opened:
        yield opened


# Stored trials are returned unchanged


def test_a_trial_comes_back_as_it_was(store: Store) -> None:
    returns, finals = np.array([1.5, -0.0, math.inf, math.nan, 5e-324]), np.array([0.1])
    trial = made(returns=returns, final_returns=finals, diverged=True)
    assert store.add([trial]) == 1
    found = store.trial("zeta", "hill", 0)
    assert text(found) == text(trial)
    assert found.returns is not None
    assert found.final_returns is not None
    assert found.returns.tobytes() == returns.tobytes()
    assert found.final_returns.tobytes() == finals.tobytes()


@pytest.mark.skipif(INTERPRETED, reason="minutes for a plain interpreter: unset NUMBA_DISABLE_JIT")
@pytest.mark.parametrize("keep", [True, False])
def test_a_result_of_a_real_trial_comes_back_as_it_was(folder: Path, keep: bool) -> None:
    place = untuned.environment("chain-10-stochastic")
    names = ["ppo", "tuned-within[q,3]"]
    with Store.create(folder, {"seed": 3, "algorithms": names, "environments": [place.facts()]}) as store:
        for name in names:
            result = run_trial(name, place, seed=3, trial=8)
            trial = result if keep else dataclasses.replace(result, returns=None, final_returns=None)
            store.add([trial])
            found = store.trial(name, place.name, 8)
            assert text(found) == text(trial)
            assert found.draws == result.draws
            assert found.dynamics == result.dynamics
            assert found.adapted == result.adapted
            assert (found.returns is not None) == keep
            if found.returns is not None:
                assert found.returns.tobytes() == result.returns.tobytes()
        assert store.scores().cell("ppo", place.name).tolist() == [run_trial("ppo", place, seed=3, trial=8).score]
        assert store.scores().ranges == (place.score_range,)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), NUMBERS, st.text(max_size=5).filter(str.isprintable)
)


@settings(max_examples=50, deadline=None)
@given(
    scores=st.tuples(NUMBERS, NUMBERS, NUMBERS),
    draws=st.lists(st.tuples(st.text(max_size=3), VALUES, NUMBERS), max_size=4),
    adapted=st.dictionaries(st.text(max_size=3), NUMBERS, max_size=3),
    returns=st.none() | st.lists(NUMBERS, max_size=20),
    trial=st.integers(0, LARGEST),
    failure=st.none() | st.text(max_size=9),
)
def test_any_trial_comes_back_as_it_was(
    scores: tuple[float, float, float],
    draws: list[tuple[str, Any, float]],
    adapted: dict[str, float],
    returns: list[float] | None,
    trial: int,
    failure: str | None,
) -> None:
    given_trial = made(
        trial=trial,
        score=scores[0],
        final_return=scores[1],
        seconds=scores[2],
        draws=tuple(Drawn(name, value, density, "somewhere") for name, value, density in draws),
        adapted=adapted,
        failure=failure,
        returns=None if returns is None else np.array(returns),
        final_returns=None if returns is None else np.array(returns[:2]),
    )
    with tempfile.TemporaryDirectory() as folder, Store.create(folder, FACTS) as store:
        store.add([given_trial])
        found = store.trial("zeta", "hill", trial)
        assert text(found) == text(given_trial)
        (values,) = store.plain_trials()
        expected = {name: plain(value) for name, value in vars(found).items()}
        assert {name: repr(values[name]) for name in expected} == {name: repr(each) for name, each in expected.items()}
        if returns is not None:
            assert found.returns is not None
            assert found.returns.tobytes() == np.array(returns).tobytes()
        store.check()


def test_numbers_of_numpy_come_back_as_pythons(store: Store) -> None:
    odd = (Drawn("a", np.float64(0.1), np.float64(2), ""), Drawn("b", np.int64(3), 0.0, ""))
    store.add([made(draws=odd, score=np.float64(1.25), steps=np.int32(7), diverged=np.True_)])
    found = store.trial("zeta", "hill", 0)
    assert [type(each.value) for each in found.draws] == [float, int]
    assert (found.score, found.steps, found.diverged) == (1.25, 7, True)


def test_a_zero_keeps_its_sign(store: Store) -> None:
    store.add([made(score=-0.0)])
    assert math.copysign(1, store.trial("zeta", "hill", 0).score) == -1
    assert math.copysign(1, store.scores().cell("zeta", "hill")[0]) == -1


def test_a_failed_trial_is_kept_with_its_reason(store: Store) -> None:
    store.add([made(score=math.nan, final_return=math.nan, failure="out of memory"), made(trial=1, score=2.0)])
    assert store.trial("zeta", "hill", 0).failure == "out of memory"
    assert store.done("zeta", "hill").tolist() == [0, 1]
    with pytest.raises(InvalidInput, match="'zeta' on 'hill' are not all finite"):
        store.scores()
    assert store.scores(nonfinite="worst").cell("zeta", "hill").tolist() == [-10.0, 2.0]


# Resuming, counting, looking up


def test_what_is_done_is_known(store: Store) -> None:
    assert store.done("zeta", "hill").tolist() == []
    store.add(made(trial=number) for number in (7, 2, 900))
    store.add([made("alpha", "lake", LARGEST)])
    assert store.done("zeta", "hill").tolist() == [2, 7, 900]
    assert store.done("alpha", "lake").tolist() == [LARGEST]
    assert store.done("alpha", "hill").dtype == np.int64
    assert store.counts() == {cell: {("zeta", "hill"): 3, ("alpha", "lake"): 1}.get(cell, 0) for cell in CELLS}
    assert list(store.counts()) == CELLS


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda store: store.done("zet", "hill"), "no algorithm of this study is called 'zet': did you mean 'zeta'"),
        (lambda store: store.done("zeta", "hil"), "no environment of this study is called 'hil'"),
        (lambda store: store.trial("beta", "hill", 0), "no algorithm of this study is called 'beta'"),
        (lambda store: store.trial("zeta", "hill", 3), "trial 3 of 'zeta' on 'hill' is not stored: 1 others"),
        (lambda store: store.trial("zeta", "lake", 0), "trial 0 of 'zeta' on 'lake' is not stored: 0 others"),
        (lambda store: store.trial("zeta", "hill", -1), "trial=-1 is not allowed"),
        (lambda store: store.trials(algorithms=["beta"]), "no algorithm of this study is called 'beta'"),
        (lambda store: store.trials(environments="hill"), "environments='hill' is one string"),
        (lambda store: store.scores(nonfinite="drop"), "nonfinite='drop'"),
    ],
)
def test_asking_for_what_is_not_there_is_answered_in_words(
    store: Store, ask: Callable[[Store], object], message: str
) -> None:
    store.add([made(trial=9)])
    with pytest.raises(InvalidInput, match=message):
        ask(store)
    assert store.add([made(trial=10)]) == 1


def test_unknown_names_are_unknown_names(store: Store) -> None:
    with pytest.raises(UnknownName):
        store.done("beta", "hill")
    with pytest.raises(UnknownName):
        store.add([made("beta")])
    with pytest.raises(UnknownName):
        store.add([made("zeta", "sea")])


# One order


def filled(folder: Path, shuffle: int, batch: int) -> list[str]:
    trials = [
        made(*cell, trial, returns=np.arange(3.0), final_returns=np.ones(1)) for cell in CELLS for trial in range(40)
    ]
    random.Random(shuffle).shuffle(trials)
    with Store.create(folder, FACTS) as store:
        for start in range(0, len(trials), batch):
            store.add(trials[start : start + batch])
        table = store.scores()
        return [*map(text, store.trials()), repr([[cell.tolist() for cell in row] for row in table.cells])]


def test_the_order_of_adding_does_not_show(tmp_path: Path) -> None:
    first = filled(tmp_path / "1", shuffle=1, batch=1)
    assert filled(tmp_path / "2", shuffle=2, batch=17) == first
    assert filled(tmp_path / "3", shuffle=3, batch=1000) == first


def test_trials_come_in_declared_order(store: Store) -> None:
    store.add(made(*cell, trial) for trial in (1, 0) for cell in reversed(CELLS))
    keys = [(each.environment, each.algorithm, each.trial) for each in store.trials()]
    assert keys == list(itertools.product(ENVIRONMENTS, ALGORITHMS, (0, 1)))
    some = store.trials(algorithms=["alpha"], environments=("lake", "hill"))
    assert [(each.environment, each.trial) for each in some] == [("hill", 0), ("hill", 1), ("lake", 0), ("lake", 1)]


def test_iterating_goes_beyond_a_chunk_and_leaves_room_for_writing(store: Store) -> None:
    store.add(made(trial=number) for number in range(2500))
    seen = []
    for each in store.trials(returns=False):
        seen.append(each.trial)
        if each.trial == 500:
            store.add([made(trial=3000)])
    assert seen == [*range(2500), 3000]


def test_returns_can_be_left_out(store: Store) -> None:
    store.add([made(returns=np.ones(3), final_returns=np.ones(2))])
    assert [each.returns for each in store.trials(returns=False)] == [None]


def test_scores_are_in_declared_order_with_ranges(store: Store) -> None:
    store.add(made(*cell, trial) for cell in CELLS for trial in (3, 1, 2))
    table = store.scores()
    assert table.algorithms == tuple(ALGORITHMS)
    assert table.environments == tuple(ENVIRONMENTS)
    assert table.ranges == ((-10.0, 10.0), (-math.inf, math.inf), (-math.inf, math.inf))
    assert table.cell("alpha", "cave").tolist() == [made("alpha", "cave", trial).score for trial in (1, 2, 3)]
    assert table.provenance == {"study": "test"}


def test_scores_know_how_many_trials_come_before_a_gap(store: Store) -> None:
    store.add(made("zeta", "hill", trial) for trial in (0, 1, 2, 4, 5))
    store.add(made("alpha", "hill", trial) for trial in range(4))
    store.add(made("zeta", "cave", trial) for trial in (1, 2))
    table = store.scores()
    assert table.trials.tolist() == [[5, 2, 0], [4, 0, 0]]
    assert table.unbroken_ae is not None
    assert table.unbroken_ae.tolist() == [[3, 0, 0], [4, 0, 0]]
    assert table.select(["alpha", "zeta"], ["hill"]).unbroken_ae.tolist() == [[4], [3]]  # type: ignore[union-attr]
    assert pickle.loads(pickle.dumps(table)).unbroken_ae.tolist() == [[3, 0, 0], [4, 0, 0]]
    judged = untuned.evaluate(table.select(environments=["hill", "cave"]), intervals="betting")
    assert judged.trials_ae.tolist() == [[3, 0], [4, 0]]
    assert any("4 trials of 2 cells were left out" in warning for warning in judged.warnings)


def test_a_shard_has_no_gaps_of_its_own(store: Store) -> None:
    store.add(made("zeta", "hill", trial) for trial in (2, 18, 34, 66))
    store.add(made("alpha", "hill", trial) for trial in (18, 34))
    assert store.scores().unbroken_ae.tolist() == [[3, 0, 0], [0, 0, 0]]  # type: ignore[union-attr]


def test_scores_know_what_was_declared_identical(store: Store) -> None:
    store.set_facts(FACTS | {"identical": {"cave": [["zeta", "alpha"]]}})
    assert store.scores().kinds.tolist() == [[0, 1], [0, 0], [0, 1]]


def test_an_empty_store_has_empty_scores(store: Store) -> None:
    assert len(store.scores().missing) == len(CELLS)
    assert list(store.trials()) == []


# No trial twice


def test_the_same_result_again_is_passed_over(store: Store) -> None:
    assert store.add([made(), made(trial=1)]) == 2
    again = [made(seconds=99.0, fingerprint="other build"), made(trial=2), made(trial=1), made(trial=2)]
    assert store.add(again) == 1
    assert store.counts()["zeta", "hill"] == 3
    assert store.trial("zeta", "hill", 0).seconds == made().seconds
    assert store.trial("zeta", "hill", 0).fingerprint == "kernels"


def test_the_same_result_again_may_have_numbers_that_are_not_finite(store: Store) -> None:
    odd: dict[str, Any] = {
        "score": math.nan,
        "final_return": math.nan,
        "draws": (Drawn("rate", math.nan, -math.inf, ""),),
        "adapted": {"step": math.nan},
        "returns": np.array([math.nan, -0.0]),
        "final_returns": np.array([math.inf]),
    }
    store.add([made(**odd, failure="RuntimeError: on one machine")])
    assert store.add([made(**odd, failure="RuntimeError: on another", seconds=99.0)]) == 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"score": 1.0}, "score"),
        ({"score": math.nan}, "score"),
        ({"final_return": 1.0}, "final_return"),
        ({"steps": 1}, "steps"),
        ({"diverged": True}, "diverged"),
        ({"draws": ()}, "draws"),
        ({"dynamics": {"slip": 0.5}}, "dynamics"),
        ({"adapted": {"chosen": 4}}, "adapted"),
        ({"failure": "why"}, "failure"),
        ({"precision": "float32"}, "precision"),
        ({"definition_version": "2"}, "definition_version"),
        ({"returns": np.array([1.0]), "final_returns": np.array([2.0])}, "returns"),
    ],
)
def test_another_result_is_refused_and_nothing_is_replaced(store: Store, changes: dict[str, Any], field: str) -> None:
    kept = made(returns=np.array([1.0]), final_returns=np.array([1.0]))
    store.add([kept])
    with pytest.raises(InvalidInput, match=rf"trial 0 of 'zeta' on 'hill' is stored already .*\(different: .*{field}"):
        store.add([made(trial=1), made(**changes)])
    assert text(store.trial("zeta", "hill", 0)) == text(kept)
    # All or none: what came before it in the batch is not there either, and can be added.
    assert store.done("zeta", "hill").tolist() == [0]
    assert store.add([made(trial=1)]) == 1


def test_with_and_without_returns_is_the_same_result(store: Store) -> None:
    store.add([made(returns=np.array([1.0]), final_returns=np.array([1.0]))])
    assert store.add([made()]) == 0
    assert store.trial("zeta", "hill", 0).returns is not None


def test_a_batch_with_something_impossible_leaves_nothing(store: Store) -> None:
    for wrong, message in [
        (made(seed=6), "trial 0 of 'zeta' on 'hill' was made with seed 6, this study has seed 5"),
        (made(trial=-1), "trial=-1 is not allowed"),
        (
            made(trial=1.5),  # type: ignore[arg-type]
            "trial=1.5 is not allowed",
        ),
        (made(score="high"), "trial 0 of 'zeta' on 'hill' cannot be stored: could not convert"),
        (made(steps=-1), "steps=-1 is not allowed"),
        (made(draws=(Drawn("a", object(), 0.0, ""),)), "cannot be stored: Object of type object"),
        (made(draws=(Drawn("a", 1, "dense", ""),)), "cannot be stored"),  # type: ignore[arg-type]
        (made(returns=np.ones((2, 2)), final_returns=np.ones(2)), r"returns have shape \(2, 2\)"),
        (made(returns=np.ones(2)), "one of returns and final_returns"),
        ("trial 3", "'trial 3' is not a trial"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            store.add([made("alpha"), wrong])  # type: ignore[list-item]
    assert list(store.trials()) == []


def test_adding_nothing_is_fine(store: Store) -> None:
    assert store.add([]) == 0


# Facts


def test_facts_come_back_and_can_be_replaced(store: Store, folder: Path) -> None:
    assert store.facts == FACTS
    store.facts["seed"] = 9
    assert store.facts == FACTS
    more = FACTS | {"algorithms": [*ALGORITHMS, "beta"], "note": {"deep": [1, None, "é"]}}
    store.add([made()])
    with Store.open(folder) as reader:
        assert reader.facts == FACTS
        store.set_facts(more)
        assert reader.facts == more
        store.add([made("beta")])
        assert reader.counts()["beta", "hill"] == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 6}, "seed=6, but the trials stored in .* were made with seed 5"),
        ({"algorithms": ["alpha"]}, "leave out 'zeta', of which trials are stored: keep it among algorithms"),
        ({"environments": ["cave"]}, "leave out 'hill', of which trials are stored: keep it among environments"),
    ],
)
def test_facts_that_trials_rest_on_must_stay(store: Store, changes: dict[str, Any], message: str) -> None:
    store.set_facts(FACTS | changes)
    store.set_facts(FACTS)
    store.add([made()])
    with pytest.raises(InvalidInput, match=message):
        store.set_facts(FACTS | changes)
    assert store.facts == FACTS


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ([1], "facts are list"),
        ({"seed": 1, "algorithms": ["a"]}, "no 'environments'"),
        (FACTS | {"seed": -1}, "seed=-1 is not allowed"),
        (FACTS | {"seed": "1"}, "seed='1' is not allowed"),
        (FACTS | {"algorithms": "zeta"}, "algorithms of the facts are 'zeta'"),
        (FACTS | {"algorithms": []}, r"algorithms of the facts are \[\]"),
        (FACTS | {"algorithms": ["a", "a"]}, "name 'a' twice"),
        (FACTS | {"algorithms": [" "]}, "have ' ' among them"),
        (FACTS | {"environments": [{"title": "a"}]}, "have {'title': 'a'} among them"),
        (FACTS | {"environments": [{"name": "a", "score_range": [1]}]}, "score_range of 'a' is"),
        (FACTS | {"environments": [{"name": "a", "score_range": ["1", "2"]}]}, "score_range of 'a' is"),
        (FACTS | {"note": object()}, "cannot be kept as JSON"),
        (FACTS | {"note": np.float32(1)}, "cannot be kept as JSON"),
    ],
)
def test_facts_that_cannot_be_are_refused_before_anything_is_made(folder: Path, facts: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Store.create(folder, facts)
    assert not folder.exists()


# Opening


def test_a_study_is_made_once(folder: Path) -> None:
    with Store.create(folder, FACTS) as store:
        store.add([made()])
    with pytest.raises(InvalidInput, match="has a study already"):
        Store.create(folder, FACTS)
    with Store.open(folder, write=True) as store:
        assert store.counts()["zeta", "hill"] == 1


def test_leftovers_do_not_get_into_a_new_store(folder: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "other", FACTS) as other:
        other.add(made(trial=number) for number in range(50))
        log = (tmp_path / "other" / f"{RESULTS_NAME}-wal").read_bytes()
    folder.mkdir()
    for name in (f"{RESULTS_NAME}-wal", f"{RESULTS_NAME}.new", f"{RESULTS_NAME}.new-wal"):
        (folder / name).write_bytes(log)
    with Store.create(folder, FACTS) as store:
        assert sum(store.counts().values()) == 0
        store.check()


def test_a_folder_without_a_study_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no folder"):
        Store.open(tmp_path / "nowhere")
    for write in (False, True):
        with pytest.raises(InvalidInput, match="has no study in it"):
            Store.open(tmp_path, write=write)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        Store.create(tmp_path / "file" / "study", FACTS)


def test_names_of_folders_may_be_odd(tmp_path: Path) -> None:
    odd = tmp_path / "what? 100% #1 é"
    with Store.create(odd, FACTS) as store:
        store.add([made()])
    with Store.open(str(odd)) as store:
        assert store.counts()["zeta", "hill"] == 1


def test_a_closed_store_says_so(folder: Path) -> None:
    with Store.create(folder, FACTS) as store:
        pass
    for use in (store.scores, store.counts, lambda: store.add([made()]), lambda: list(store.trials())):
        with pytest.raises(StoreError, match="open the store again"):
            use()


def test_a_reader_cannot_write(store: Store, folder: Path) -> None:
    with Store.open(folder) as reader:
        for write in (lambda: reader.add([made()]), lambda: reader.set_facts(FACTS), lambda: reader.merge_from(folder)):
            with pytest.raises(StoreError, match="open for reading: open it with write=True"):
                write()


# One writer


def test_a_second_writer_is_told_who_the_first_is(store: Store, folder: Path) -> None:
    with pytest.raises(StoreError, match=rf"{folder} is being written by process {os.getpid()} on .+: one writer"):
        Store.open(folder, write=True)
    with pytest.raises(StoreError, match="is being written by"):
        Store.create(folder, FACTS)
    assert store.add([made()]) == 1
    with Store.open(folder) as reader:
        assert reader.counts()["zeta", "hill"] == 1


def test_a_writer_lets_go_at_the_end_also_of_a_failure(folder: Path) -> None:
    def interrupted() -> None:
        with Store.create(folder, FACTS) as store:
            store.add([made()])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with Store.open(folder, write=True) as store:
        assert store.add([made(trial=1)]) == 1
    (folder / LOCK_NAME).write_text("not what it was")
    with Store.open(folder, write=True) as store:
        (folder / LOCK_NAME).write_text("not what it was")
        with pytest.raises(StoreError, match="is being written by another process"):
            Store.open(folder, write=True)


FORKING = """
import os, sys, time
from untuned.collect.store.store import Store
from untuned.errors import StoreError
folder = sys.argv[1]
store = Store.open(folder, write=True)
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.close(writing)
    os.read(reading, 1)
    os._exit(0)
try:
    Store.open(folder, write=True)
except StoreError as error:
    print(error)
store.close()
Store.open(folder, write=True).close()
print("free while the child lives:", os.waitpid(child, os.WNOHANG) == (0, 0))
os.close(writing)
os.waitpid(child, 0)
"""


def run(program: str, folder: Path) -> list[str]:
    finished = python("-c", program, str(folder), timeout=120)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="run this on Linux or macOS: it needs fork")
def test_a_forked_child_does_not_keep_the_lock(folder: Path) -> None:
    Store.create(folder, FACTS).close()
    told, freed = run(FORKING, folder)
    assert "is being written by process" in told
    assert freed == "free while the child lives: True"


# Merging


def test_shards_become_one(store: Store, tmp_path: Path) -> None:
    for shard in range(3):
        with Store.create(tmp_path / f"{shard}", FACTS) as part:
            part.add(made(*cell, trial) for cell in CELLS for trial in range(600) if trial % 3 == shard)
            part.add([made(trial=0)])
    assert [store.merge_from(tmp_path / f"{shard}") for shard in range(3)] == [1200, 1200, 1200]
    assert store.merge_from(str(tmp_path / "1")) == 0
    assert [text(each) for each in store.trials()] == [
        text(made(algorithm, environment, trial))
        for environment, algorithm, trial in itertools.product(ENVIRONMENTS, ALGORITHMS, range(600))
    ]
    store.check()


def test_merging_waits_for_the_disk_once(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def waits() -> bool:
        return bool(store._database.connection.execute("PRAGMA synchronous").fetchone()[0] == 2)

    with Store.create(tmp_path / "part", FACTS) as part:
        part.add(made(trial=trial) for trial in range(2500))
    statements: list[str] = []
    during: list[bool] = []
    store._database.connection.set_trace_callback(statements.append)
    assert store.merge_from(tmp_path / "part", advance=lambda _: during.append(waits())) == 2500
    assert during == [False, False, False]
    # What is committed last waits, and with it what was committed before.
    assert waits()
    last = statements[-statements[::-1].index("PRAGMA synchronous = FULL") :]
    assert [each.split()[0] for each in last if each.startswith(("BEGIN", "COMMIT"))] == ["BEGIN", "COMMIT"]
    monkeypatch.setattr(writing, "add", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.merge_from(tmp_path / "part")
    assert waits()


def test_shards_of_other_studies_are_refused(store: Store, tmp_path: Path) -> None:
    with Store.create(tmp_path / "other", FACTS | {"seed": 6, "note": ""}) as other:
        other.add([made(seed=6)])
    with pytest.raises(InvalidInput, match=r"not of the same study as .* \(note, seed\)"):
        store.merge_from(tmp_path / "other")
    with pytest.raises(InvalidInput, match="there is no folder"):
        store.merge_from(tmp_path / "nowhere")


def test_shards_may_order_their_facts_as_they_like(store: Store, tmp_path: Path) -> None:
    with Store.create(tmp_path / "other", dict(reversed(FACTS.items()))) as other:
        other.add([made()])
    assert store.merge_from(tmp_path / "other") == 1


def test_a_shard_with_another_result_is_refused(store: Store, tmp_path: Path) -> None:
    with Store.create(tmp_path / "other", FACTS) as other:
        other.add([made(trial=4, score=3.0)])
    store.add([made(trial=4)])
    with pytest.raises(InvalidInput, match="trial 4 of 'zeta' on 'hill' is stored already with another result"):
        store.merge_from(tmp_path / "other")
    assert text(store.trial("zeta", "hill", 4)) == text(made(trial=4))


# Versions


#: A store of version 1 as its SQL says: written out, since the package's own words may change. One trial is in it.
VERSION_1 = """
PRAGMA application_id = 1970173045;
PRAGMA user_version = 1;
CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), facts TEXT NOT NULL);
CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE record (id INTEGER PRIMARY KEY, final_return, steps INTEGER NOT NULL, seconds, diverged INTEGER NOT NULL,
  failure TEXT, origin INTEGER NOT NULL, shape INTEGER NOT NULL, numbers BLOB NOT NULL, checksum INTEGER NOT NULL,
  returns BLOB);
CREATE TABLE score (algorithm INTEGER NOT NULL, environment INTEGER NOT NULL, trial INTEGER NOT NULL, score,
  record INTEGER NOT NULL, PRIMARY KEY (algorithm, environment, trial)) WITHOUT ROWID;
INSERT INTO text VALUES (1, 'zeta'), (2, 'hill'), (3, '["float64", "1", "k", "d", "e"]'),
  (4, '{"draws": [["rate", "U(0, 1)"]], "dynamics": ["slip"], "adapted": [], "codes": "dd"}');
INSERT INTO score VALUES (1, 2, 17, 1.5, 1);
"""
RECORD_1 = "INSERT INTO record VALUES (1, 2.5, 40, 0.25, 0, NULL, 3, 4, x'%s', %d, NULL)"
NUMBERS_1 = np.array([0.5, 0.125, -1.0], dtype="<f8").tobytes()
CHECKSUM_1 = 3334953321


def version_1(folder: Path) -> None:
    folder.mkdir()
    connection = sqlite3.connect(folder / RESULTS_NAME)
    connection.executescript(VERSION_1)
    connection.execute(RECORD_1 % (NUMBERS_1.hex(), CHECKSUM_1))
    connection.execute("INSERT INTO study VALUES (1, ?)", (json.dumps(FACTS),))
    connection.commit()
    connection.close()


def check_version_1(store: Store) -> None:
    assert text(store.trial("zeta", "hill", 17)) == text(
        Trial(
            seed=5,
            algorithm="zeta",
            environment="hill",
            trial=17,
            score=1.5,
            final_return=2.5,
            steps=40,
            seconds=0.25,
            draws=(Drawn("rate", 0.5, -1.0, "U(0, 1)"),),
            dynamics={"slip": 0.125},
            definition_version="1",
            fingerprint="k",
            definition_fingerprint="d",
            environment_fingerprint="e",
        )
    )
    store.check()


def test_a_store_of_the_first_version_is_read_and_continued(folder: Path) -> None:
    version_1(folder)
    with Store.open(folder) as store:
        check_version_1(store)
    with Store.open(folder, write=True) as store:
        check_version_1(store)
        assert store.add([made()]) == 1
        assert store.done("zeta", "hill").tolist() == [0, 17]


def tables(folder: Path) -> set[str]:
    connection = sqlite3.connect(folder / RESULTS_NAME)
    found = {
        " ".join(sql.replace(",", " , ").split())
        for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL")
    }
    connection.close()
    return {sql.replace("( ", "(").replace(" )", ")") for sql in found}


def note(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE record ADD COLUMN note TEXT DEFAULT 'migrated'")
    connection.execute("CREATE TABLE extra (id INTEGER)")


def test_an_older_store_becomes_a_present_one(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version_1(folder)
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, note))
    Store.create(tmp_path / "new", FACTS).close()
    # A reader does not migrate it, but can read it.
    with Store.open(folder) as store:
        check_version_1(store)
    assert tables(folder) != tables(tmp_path / "new")
    with Store.open(folder, write=True) as store:
        check_version_1(store)
        store.add([made()])
    with Store.open(folder) as store:
        check_version_1(store)
    connection = sqlite3.connect(folder / RESULTS_NAME)
    assert connection.execute("SELECT note FROM record").fetchall() == [("migrated",)] * 2
    assert connection.execute("PRAGMA user_version").fetchone() == (len(schema.STEPS),)
    connection.close()
    # One that is new has the same tables as one that was migrated.
    assert tables(folder) == tables(tmp_path / "new")


def test_a_migration_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        note(connection)
        raise RuntimeError("halfway")

    version_1(folder)
    before = tables(folder)
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", (*schema.STEPS, fails))
        with pytest.raises(RuntimeError, match="halfway"):
            Store.open(folder, write=True)
    assert tables(folder) == before
    with Store.open(folder, write=True) as store:
        check_version_1(store)


def test_a_newer_store_is_refused(folder: Path) -> None:
    Store.create(folder, FACTS).close()
    connection = sqlite3.connect(folder / RESULTS_NAME)
    connection.execute(f"PRAGMA user_version = {len(schema.STEPS) + 1}")
    connection.close()
    for write in (False, True):
        with pytest.raises(StoreError, match=r"written by a newer untuned .*: pip install --upgrade untuned"):
            Store.open(folder, write=write)


# Damage


def damaged(folder: Path, damage: Callable[[bytes], bytes]) -> bytes:
    """Make a store of some pages, damage its file, and return what it was."""
    with Store.create(folder, FACTS) as store:
        store.add(made(*cell, trial) for cell in CELLS for trial in range(100))
    path = folder / RESULTS_NAME
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    return whole


def other_database(_: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "other"
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE score (score)")
        connection.close()
        return path.read_bytes()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: b"", "is empty, so it is not a study's results: bring back a copy"),
        (lambda whole: b"algorithm,environment,score\n" * 300, "is not a study's results, or its beginning is damaged"),
        (other_database, "is a database, but not a study's results: check the folder's name"),
        (lambda whole: whole[: len(whole) // 2], "is damaged .*: bring back a copy"),
        (lambda whole: whole[:-1], "is damaged .*: bring back a copy"),
        (lambda whole: whole[:100], "damaged"),
        (lambda whole: whole[:100] + bytes(len(whole) - 100), "is damaged .*: bring back a copy"),
    ],
    ids=["empty", "text", "other", "half", "one byte short", "header", "zeros after the header"],
)
@pytest.mark.parametrize("write", [False, True])
def test_what_is_no_store_is_refused_in_words(
    folder: Path, damage: Callable[[bytes], bytes], message: str, write: bool
) -> None:
    damaged(folder, damage)
    before = (folder / RESULTS_NAME).read_bytes()
    with pytest.raises(StoreError, match=message), Store.open(folder, write=write) as store:
        store.check()
    assert (folder / RESULTS_NAME).read_bytes() == before


@pytest.mark.parametrize("filling", ["zeros", "noise", "one bit"])
def test_damage_anywhere_is_found_or_does_no_harm(folder: Path, filling: str) -> None:
    whole = damaged(folder, lambda whole: whole)
    with Store.open(folder) as store:
        right = [text(each) for each in store.trials()]
    stream = random.Random(3)
    found = 0
    places = range(4096, len(whole), 4096) if filling != "one bit" else stream.sample(range(4096, len(whole)), 60)
    for place in places:
        broken = bytearray(whole)
        if filling == "one bit":
            broken[place] ^= 1 << stream.randrange(8)
        else:
            broken[place : place + 4096] = bytes(4096) if filling == "zeros" else stream.randbytes(4096)
        (folder / RESULTS_NAME).write_bytes(broken)
        try:
            with Store.open(folder) as store:
                store.check()
                assert [text(each) for each in store.trials()] == right
        except StoreError:
            found += 1
    assert found > len(places) // 2


def test_a_record_that_is_missing_shows(folder: Path) -> None:
    damaged(folder, lambda whole: whole)
    connection = sqlite3.connect(folder / RESULTS_NAME)
    connection.execute("DELETE FROM record WHERE id = 1")
    connection.commit()
    connection.close()
    with Store.open(folder) as store:
        with pytest.raises(StoreError, match="parts of trial 0 of 'zeta' on 'hill' are missing"):
            store.trial("zeta", "hill", 0)
        with pytest.raises(StoreError, match="is damaged"):
            store.check()


def test_facts_that_are_missing_show(folder: Path) -> None:
    damaged(folder, lambda whole: whole)
    connection = sqlite3.connect(folder / RESULTS_NAME)
    connection.execute("DELETE FROM study")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="the study's facts are missing"):
        Store.open(folder)


class Full(sqlite3.Connection):
    """A connection to a disk with little room."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.execute("PRAGMA max_page_count = 40")


def test_a_full_disk_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sqlite3.connect
    Store.create(folder, FACTS).close()
    stored: list[Trial] = []
    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", lambda *given, **options: real(*given, **options, factory=Full))
        with Store.open(folder, write=True) as store:

            def fill() -> None:
                for start in range(0, 10**4, 50):
                    # A new name in each batch: what stands for it must go with a batch that fails.
                    batch = [made(trial=number, adapted={f"name {start}": 1.0}) for number in range(start, start + 50)]
                    store.add(batch)
                    stored.extend(batch)

            with pytest.raises(
                StoreError, match=r"the disk is full\. Everything stored before is safe: free some space"
            ):
                fill()
            assert stored
            assert [text(each) for each in store.trials()] == [text(each) for each in stored]
    # With room again the same store can be written, new names included.
    with Store.open(folder, write=True) as store:
        assert [text(each) for each in store.trials()] == [text(each) for each in stored]
        assert store.add(made(trial=number + len(stored)) for number in range(500)) == 500
        store.check()


def test_after_a_full_disk_the_same_writer_goes_on(store: Store) -> None:
    store.add([made()])
    (pages,) = store._database.connection.execute("PRAGMA page_count").fetchone()
    store._database.connection.execute(f"PRAGMA max_page_count = {pages}")
    many = [made(trial=number, fingerprint="new text") for number in range(1, 400)]
    with pytest.raises(StoreError, match="the disk is full"):
        store.add(many)
    store._database.connection.execute("PRAGMA max_page_count = 1000000")
    assert store.add(many) == len(many)
    assert store.trial("zeta", "hill", 399).fingerprint == "new text"
    store.check()


# Rights. The superuser may do everything, so another user tries.

WITH_RIGHTS = pytest.mark.skipif(not hasattr(os, "setuid"), reason="run this on Linux or macOS: it sets rights")

AS_ANOTHER = f"""
import os, sys
from untuned.collect.store.store import Store
from untuned.errors import UntunedError
if os.getuid() == 0:
    os.setuid(65534)
folder = sys.argv[1]
try:
    with Store.open(folder) as store:
        print("read", sum(store.counts().values()), len(store.race_log()))
except UntunedError as error:
    print(error)
for write in (lambda: Store.open(folder, write=True), lambda: Store.create(folder + "/new", {FACTS!r})):
    try:
        write()
    except UntunedError as error:
        print(error)
"""


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder with a store of one trial and one entry of a race that no one else may write to."""
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        folder = Path(parent) / "study"
        with Store.create(folder, FACTS) as store:
            store.add([made()])
            store.log_race({"kind": "declared"})
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


@WITH_RIGHTS
def test_a_read_only_folder_is_read_and_not_written(read_only: Path) -> None:
    read, write, create = run(AS_ANOTHER, read_only)
    assert read == "read 1 1"
    assert "cannot be written (Permission denied): give yourself the right to write there" in write
    assert "cannot be made (Permission denied): choose another" in create


@WITH_RIGHTS
def test_a_file_that_may_not_be_written_is_found_at_opening(read_only: Path) -> None:
    read_only.chmod(0o777)
    (read_only / LOCK_NAME).chmod(0o666)
    read, write = run(AS_ANOTHER, read_only)
    assert read == "read 1 1"
    assert "it cannot be written. Give yourself the right to" in write
