"""Collecting on Ray: the same bytes as locally, and a node that dies only costs time."""

import dataclasses
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import needs
from support.exporting import exported
from support.processes import python
from untuned import Study, collect_scores
from untuned.collect.engines.ray import _Head
from untuned.collect.session import Session
from untuned.errors import AlgorithmFails, InvalidInput, UntunedError

STUDY = Study(
    "small",
    algorithms=["sarsa", "q"],
    environments=["chain-10-stochastic", "gridworld-5-stochastic"],
    trials=40,
    seed=5,
    keep="returns",
)


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two nodes on this machine, of one processor each."""
    needs.extra("ray", "ray")
    # Ray asks whether its numbers of usage may be collected.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    # A node that was killed refuses at once; asked every half a second instead of every three, it is given up sooner.
    # One that is merely slow has as long as ever, 5 times 10 seconds.
    sooner = {"health_check_period_ms": 500, "health_check_initial_delay_ms": 1000}
    nodes = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, "_system_config": sooner}
    )
    nodes.add_node(num_cpus=1)
    yield nodes
    import ray

    ray.shutdown()
    nodes.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_and_survives_a_node(cluster: Any, tmp_path: Path) -> None:
    here = tmp_path / "here"
    collect_scores(STUDY, here, workers=2)
    assert collect_scores(STUDY, tmp_path / "there", engine="ray", ray_address=cluster.address).complete
    assert exported(tmp_path / "there") == exported(here)

    # Long enough for the second node to die in the middle of it.
    longer = Study("long", algorithms=["sarsa", "q"], environments=["cart-pole"], trials=30, seed=1)
    collect_scores(longer, tmp_path / "long-here", workers=2)
    first = threading.Event()

    def kill() -> None:
        first.wait(120)
        time.sleep(0.5)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    found = collect_scores(
        longer,
        tmp_path / "long-there",
        engine="ray",
        ray_address=cluster.address,
        watch=lambda progress: first.set() if progress.stored else None,
    )
    killer.join()
    assert found.complete
    assert not cluster.worker_nodes
    assert exported(tmp_path / "long-there") == exported(tmp_path / "long-here")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_algorithms_in_python_on_a_cluster_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.extra("ray", "ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    study = Study(
        "theirs",
        algorithms=[
            {"use": f"support.agents_of_users:{name}", "name": name} for name in ("guesses", "raises_sometimes", "dies")
        ],
        environments=[{"gymnasium": "CartPole-v1", "episodes": 3, "score_range": (0, 500)}, "chain-10-stochastic"],
        trials=2,
        keep="returns",
    )
    there = collect_scores(study, tmp_path / "there", engine="ray", workers=2)
    here = collect_scores(study, tmp_path / "here", workers=2)
    assert there.complete
    assert there.failed == here.failed >= 4
    assert exported(tmp_path / "there") == exported(tmp_path / "here")
    crashing = dataclasses.replace(
        study, algorithms=[{"use": "support.agents_of_users:always_raises", "name": "mine"}], trials=20_000
    )
    with pytest.raises(AlgorithmFails, match="RuntimeError: no such layer"):
        collect_scores(crashing, tmp_path / "crashing", engine="ray", workers=2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere.invalid:6379", "127.0.0.1:99999"])
def test_a_cluster_that_does_not_answer(address: str, tmp_path: Path) -> None:
    needs.extra("ray", "ray")
    with pytest.raises(InvalidInput, match="no Ray cluster answers"):
        collect_scores(STUDY, tmp_path / "study", engine="ray", ray_address=address)
    assert not (tmp_path / "study").exists()


@pytest.mark.filterwarnings("ignore")
def test_a_port_that_is_not_rays_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.extra("ray", "ray")
    monkeypatch.setattr("untuned.collect.engines.ray._LONGEST_PROBE", 5.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InvalidInput, match="what listens there does not answer as Ray does"):
            collect_scores(STUDY, tmp_path / "study", engine="ray", ray_address=address)
    assert not (tmp_path / "study").exists()


def in_a_program(address: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Collect on a cluster in another program: Ray reads how to authenticate once."""
    text = 'name = "s"\ntrials = 2\nalgorithms = ["sarsa"]\nenvironments = ["chain-10-stochastic"]\n'
    (folder / "s.toml").write_text(text)
    return python(
        *f"-m untuned collect s.toml --engine ray --ray-address {address} --quiet".split(),
        cwd=folder,
        env={**os.environ, **variables},
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_with_a_token_says_how_to_pass_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.extra("ray", "ray")
    pytest.importorskip("ray._private.authentication", reason="install a newer Ray: this one knows no tokens")
    monkeypatch.setenv("HOME", str(tmp_path))
    # Ray sets it in a process that starts a cluster, as other tests do.
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 2}
    code = (
        "import ray, sys\n"
        "print(ray.init(num_cpus=1, include_dashboard=False, logging_level='error').address_info['gcs_address'])\n"
        "sys.stdout.flush(); sys.stdin.read()\n"
    )
    head = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **token},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert head.stdout is not None
        address = head.stdout.readline().strip()
        for wrong in ({}, {**token, "RAY_AUTH_TOKEN": "fedcba9876543210" * 2}):
            refused = in_a_program(address, tmp_path, **wrong)
            said = " ".join(refused.stderr.split())
            assert refused.returncode == 2
            assert "requires a token" in said
            assert "RAY_AUTH_TOKEN_PATH" in said
        assert in_a_program(address, tmp_path, **token).returncode == 0
    finally:
        head.communicate("", timeout=120)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_without_its_head_a_cluster_is_given_up_in_words(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("untuned.collect.engines.ray._HEAD_LOST", 2.0)
    longer = Study("long", algorithms=["sarsa"], environments=["cart-pole"], trials=3000, seed=1)
    killed: list[bool] = []

    def kill(progress: Any) -> None:
        if progress.stored and not killed:
            killed.append(True)
            cluster.head_node.kill_gcs_server(check_alive=False)

    with pytest.raises(UntunedError, match=r"head node .* has not answered for 2 seconds"):
        collect_scores(longer, tmp_path / "study", engine="ray", ray_address=cluster.address, watch=kill)
    with Session.at(tmp_path / "study") as session:
        assert session.collected


def test_a_head_that_cannot_be_reached_from_here_is_not_called_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untuned.collect.engines.ray._HEAD_LOST", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = _Head(f"127.0.0.1:{server.getsockname()[1]}")
    # Inside a cluster that is reached at "ray://".
    inside = _Head("127.0.0.1:1")
    assert (here.answers(), here.is_lost()) == (False, True)
    assert inside.answers()


def test_another_engine_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'local' or 'ray'"):
        collect_scores(STUDY, tmp_path / "study", engine="cluster")
