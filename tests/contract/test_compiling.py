"""Compiling: what is cached, what makes it stale, and what the flags keep."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import untuned
from support.processes import python
from untuned.collect.kernels import jit

PROGRAM = """
import numpy as np
import untuned
from untuned.collect.environments.rollout import random_returns
from untuned.collect.kernels.rng import random_state
environment = untuned.environment("chain-10-stochastic")
random = random_state(1)
dynamics = environment.draw(random)
returns = np.zeros(5)
state = environment.new_state()
random_returns(environment.compiled_reset, environment.compiled_step, state, dynamics.vector, random, 2, returns)
print(returns.tolist())
"""


def run(program: str, **variables: str) -> str:
    finished = python("-c", program, env={**os.environ, **variables}, timeout=900)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def files_below(directory: Path) -> set[Path]:
    return {path for path in directory.rglob("*") if path.is_file()}


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_a_second_process_compiles_nothing_and_finds_the_same(tmp_path: Path) -> None:
    first = run(PROGRAM, NUMBA_CACHE_DIR=str(tmp_path))
    compiled = files_below(tmp_path)
    assert compiled
    assert all(path.relative_to(tmp_path).parts[0] == f"kernels-{jit.fingerprint()}" for path in compiled)
    assert run(PROGRAM, NUMBA_CACHE_DIR=str(tmp_path)) == first
    assert files_below(tmp_path) == compiled


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_other_packages_kernels_do_not_go_into_our_cache(tmp_path: Path) -> None:
    program = PROGRAM + "import numba; print(numba.config.CACHE_DIR)"
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()[-1] == str(tmp_path)


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_one(tmp_path: Path) -> None:
    # A file where the directory should be: unlike permissions, that stops root as well.
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    program = "from untuned.collect.kernels.jit import cache_directory; print(cache_directory())"
    found = run(program, NUMBA_CACHE_DIR=str(blocked), TMPDIR=str(tmp_path)).strip()
    assert Path(found).is_relative_to(tmp_path)
    assert not Path(found).is_relative_to(blocked)


TWICE = """
from untuned.cli.terminal import telling_of_compiling
from kernels import twice
with telling_of_compiling():
    print(twice(1), twice(1.5))
"""


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_compiling_is_told_once_and_only_when_it_happens(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(
        "from untuned.judge.jit import kernel\n\n@kernel\ndef twice(x):\n    return 2 * x\n"
    )
    search = os.pathsep.join([str(tmp_path), *sys.path])
    told = []
    for _ in range(2):
        finished = python(
            "-c",
            TWICE,
            env={**os.environ, "PYTHONPATH": search, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            check=True,
        )
        assert finished.stdout == "2 3.0\n"
        told.append(finished.stderr)
    assert told == ["compiling, once on this machine: this can take a minute ...\n", ""]


def copied_package(folder: Path) -> Path:
    source = Path(untuned.__file__).parent
    shutil.copytree(source, folder / "untuned", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "untuned"


FINGERPRINT = "from untuned.collect.kernels.jit import fingerprint; print(fingerprint())"


def test_editing_any_kernel_source_changes_the_fingerprint(tmp_path: Path) -> None:
    package = copied_package(tmp_path)
    collect = package / "collect"
    names = [path.relative_to(Path(untuned.__file__).parent / "collect") for path in jit.kernel_sources()]
    folders = {"kernels", "environments", "agents", "definitions"}
    assert {name.parts[0] for name in names} == folders | {"distributions.py", "runner"}
    for folder in folders:
        assert {path.name for path in (collect / folder).rglob("*.py")} == {
            name.name for name in names if name.parts[0] == folder
        }
    # One process for all files: the function is asked again after each edit.
    program = f"""
from pathlib import Path
from untuned.collect.kernels.jit import fingerprint
seen = [fingerprint()]
for name in {[name.as_posix() for name in names]!r}:
    path = Path({str(collect)!r}) / name
    path.write_text(path.read_text() + "\\n# edited\\n")
    fingerprint.cache_clear()
    seen.append(fingerprint())
print(len(seen), len(set(seen)))
"""
    total, distinct = run(program, PYTHONPATH=str(tmp_path)).split()
    assert total == distinct == str(len(names) + 1)


def test_the_fingerprint_repeats_and_knows_the_flags(tmp_path: Path) -> None:
    assert run(FINGERPRINT).strip() == jit.fingerprint()
    assert run(FINGERPRINT, UNTUNED_STRICT="1").strip() != jit.fingerprint()


def test_tests_for_nan_and_infinity_survive_the_flags() -> None:
    @jit.kernel
    def odd_values(values: np.ndarray) -> tuple[int, int]:
        nans = infinities = 0
        for value in values:
            if np.isnan(value) or value != value:
                nans += 1
            if np.isinf(value):
                infinities += 1
        return nans, infinities

    values = np.array([1.0, np.nan, np.inf, -np.inf, np.inf - np.inf])
    assert odd_values(values) == (2, 2)


@pytest.mark.parametrize("variables", [{"NUMBA_DISABLE_JIT": "1"}, {"UNTUNED_STRICT": "1"}])
def test_interpreted_and_strict_play_is_the_compiled_play(variables: dict[str, str]) -> None:
    # A chain's arithmetic is exact, so flags and compiler cannot show.
    assert run(PROGRAM, **variables, PYTHONWARNINGS="ignore") == run(PROGRAM)


# Short enough to be nothing compared with compiling; a table and features for each family.
TRIALS = """
import dataclasses
import untuned
from untuned.collect.environments.environment import Budget
for place in ("chain-10-stochastic", "cart-pole"):
    few = dataclasses.replace(untuned.environment(place), budget=Budget(episodes=3))
    for algorithm in ("sarsa", "q-parl2", "ac-parl2", "nac-td", "ppo"):
        print(untuned.run_trial(algorithm, few, seed=1).returns.tolist())
"""


@pytest.mark.slow
@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_a_second_process_compiles_no_agent(tmp_path: Path) -> None:
    first = run(TRIALS, NUMBA_CACHE_DIR=str(tmp_path))
    compiled = files_below(tmp_path)
    kernels = {path.name.partition("-")[0] for path in compiled}
    for agent in ("sarsa", "actor_critic", "nac_td", "ppo"):
        for kind in ("features", "table"):
            assert f"{agent}.learn_{kind}" in kernels
    times = {path: path.stat().st_mtime_ns for path in compiled}
    assert run(TRIALS, NUMBA_CACHE_DIR=str(tmp_path)) == first
    assert files_below(tmp_path) == compiled
    assert {path: path.stat().st_mtime_ns for path in compiled} == times


DIVERGING = """
import numpy as np
from untuned import Definition, run_trial
from untuned.collect.agents.sarsa import Sarsa
from untuned.collect.agents.features import Tabular
wild = Definition("wild", "Wild", 1, "", lambda environment, draw: Sarsa(Tabular(10), 0.9, 0.5, 0.1, 1e100))
result = run_trial(wild, "chain-10-stochastic")
print(result.diverged, bool(np.isfinite(result.returns).all()))
"""


@pytest.mark.parametrize("strict", ["0", "1"])
def test_divergence_is_seen_whatever_the_flags(strict: str) -> None:
    # Flags that let the compiler assume finite numbers would make every trial a healthy one.
    assert run(DIVERGING, UNTUNED_STRICT=strict, PYTHONWARNINGS="ignore") == "True True\n"


def run_oracles(*arguments: str, **variables: str) -> None:
    finished = python(
        *["-m", "pytest", "-q", "-p", "no:cacheprovider"],
        *arguments,
        env={**os.environ, **variables},
        cwd=Path(__file__).parents[2],
        timeout=900,
    )
    assert finished.returncode == 0, finished.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.skipif(jit.INTERPRETED, reason="this is the run with NUMBA_DISABLE_JIT")
@pytest.mark.parametrize("tests", ["test_environments.py", "test_agents.py", "test_judging.py"])
def test_the_oracles_agree_with_the_kernels_as_plain_python(tests: str) -> None:
    # Without the compiler a mistake in a kernel is a Python error, and coverage tools see every line.
    # NumPy warns where a 64-bit word overflows, which is what the random numbers are made by.
    run_oracles("-W", "ignore:overflow:RuntimeWarning", f"tests/oracle/{tests}", NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_the_oracles_agree_with_the_agents_under_strict_arithmetic() -> None:
    # A table and features for every agent: all kernels, each compiled without any licence.
    run_oracles("tests/oracle/test_agents.py", "-k", "chain-10 or cart-pole-1-1", UNTUNED_STRICT="1")
