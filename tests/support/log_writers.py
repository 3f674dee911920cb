"""Writes small logs as the programs do that the readers of logs are for, from their formats alone."""

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Point = tuple[int, float]


def crc32c(data: bytes) -> int:
    """Return the CRC-32C, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(number: int) -> bytes:
    number %= 1 << 64
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number: int, content: bytes | int) -> bytes:
    """Return a field of a message: a number, or bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    return varint(number << 3 | 5) + struct.pack("<f", value)


# TensorBoard


def tfrecord(data: bytes) -> bytes:
    def masked(part: bytes) -> bytes:
        crc = crc32c(part)
        return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)

    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def scalar(tag: str, value: float) -> bytes:
    """Return a number as PyTorch writes it."""
    return field(1, field(1, tag.encode()) + single(2, value))


def tensor(tag: str, kind: int, content: bytes) -> bytes:
    """Return a tensor as TensorFlow 2 writes it."""
    return field(1, field(1, tag.encode()) + field(8, field(1, kind) + field(2, b"") + content))


def event(step: int, summary: bytes, wall: float = 1.7e9) -> bytes:
    return tfrecord(double(1, wall) + (field(2, step) if step else b"") + field(5, summary))


def write_events(path: Path, series: Mapping[str, Iterable[Point]], wall: float = 1.7e9) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = tfrecord(double(1, wall) + field(3, b"brain.Event:2"))
    points = sorted((step, tag, value) for tag, curve in series.items() for step, value in curve)
    path.write_bytes(data + b"".join(event(step, scalar(tag, value), wall) for step, tag, value in points))
    return path


# W&B


def leveldb(records: Iterable[bytes], start: int = 7) -> bytes:
    """Return records in blocks of 32 KiB."""
    out = b""
    for record in records:
        begin = True
        while True:
            left = 32_768 - (start + len(out)) % 32_768
            if left < 7:
                out += bytes(left)
                continue
            piece, record = record[: left - 7], record[left - 7 :]
            kind = bytes([(1 if begin else 4) if not record else (2 if begin else 3)])
            out += struct.pack("<IHB", zlib.crc32(kind + piece), len(piece), kind[0]) + piece
            begin = False
            if not record:
                break
    return out


def wandb_history(row: Mapping[str, object], step: int) -> bytes:
    items = b"".join(
        field(1, field(2, key.encode()) + field(16, json.dumps(value).encode())) for key, value in row.items()
    )
    return field(2, items + field(2, field(1, step) if step else b""))


def wandb_run(run: str, config: Mapping[str, object]) -> bytes:
    items = (field(1, field(1, key.encode()) + field(16, json.dumps(value).encode())) for key, value in config.items())
    return field(17, field(1, run.encode()) + field(4, b"".join(items)))


def wandb_exit(code: int) -> bytes:
    return field(18, field(1, code) if code else b"")


def write_wandb(path: Path, records: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    numbered = (field(1, number) + record for number, record in enumerate(records, start=1))
    path.write_bytes(b":W&B\xe1\xbe\x00" + leveldb(numbered))
    return path


# MLflow

_MLFLOW = """
CREATE TABLE experiments (experiment_id INTEGER NOT NULL, name VARCHAR(256) NOT NULL, lifecycle_stage VARCHAR(32));
CREATE TABLE "runs" (run_uuid VARCHAR(32) NOT NULL, name VARCHAR(250), status VARCHAR(9), start_time BIGINT,
    lifecycle_stage VARCHAR(20), experiment_id INTEGER, CONSTRAINT run_pk PRIMARY KEY (run_uuid));
CREATE TABLE "metrics" ("key" VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL,
    run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
    CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan));
CREATE TABLE "params" ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL);
CREATE TABLE "tags" ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL);
INSERT INTO experiments VALUES (0, 'Default', 'active'), (1, 'bench', 'active');
"""


def write_mlflow(path: Path, runs: Iterable[Mapping[str, object]]) -> Path:
    """Write runs: ``id``, ``status``, ``stage``, ``params``, and ``metrics`` of key, value, step."""
    database = sqlite3.connect(path)
    database.executescript(_MLFLOW)
    for start, run in enumerate(runs):
        name = run["id"]
        row = (name, name, run.get("status", "FINISHED"), start, run.get("stage", "active"), run.get("experiment", 1))
        database.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)
        params, metrics = run.get("params", {}), run.get("metrics", ())
        assert isinstance(params, Mapping)
        assert isinstance(metrics, Sequence)
        database.executemany("INSERT INTO params VALUES (?, ?, ?)", [(k, str(v), name) for k, v in params.items()])
        for key, value, step in metrics:
            nan = value != value
            # An infinite value is stored as the largest number.
            stored = 0.0 if nan else max(-1.7976931348623157e308, min(value, 1.7976931348623157e308))
            database.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", (key, stored, step, name, step, nan))
    database.commit()
    database.close()
    return path


def write_mlruns(
    folder: Path,
    run: str,
    metrics: Mapping[str, Iterable[Point]],
    params: Mapping[str, object],
    status: int = 3,
    **meta: str,
) -> Path:
    """Write a run below the folder of an experiment."""
    home = folder / run
    home.mkdir(parents=True)
    (folder / "meta.yaml").write_text("experiment_id: '7'\nlifecycle_stage: active\nname: bench\n")
    known = {"lifecycle_stage": "active", "run_id": run, "status": status, "tags": "[]"} | meta
    (home / "meta.yaml").write_text("".join(f"{key}: {value}\n" for key, value in known.items()))
    for kind, entries in (
        (
            "metrics",
            {key: "".join(f"{1 + step} {value!r} {step}\n" for step, value in c) for key, c in metrics.items()},
        ),
        ("params", {key: str(value) for key, value in params.items()}),
    ):
        for name, text in entries.items():
            (home / kind / name).parent.mkdir(parents=True, exist_ok=True)
            (home / kind / name).write_text(text)
    return home


# Optuna

_OPTUNA = """
CREATE TABLE studies (study_id INTEGER NOT NULL PRIMARY KEY, study_name VARCHAR(512) NOT NULL);
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8) NOT NULL,
    study_id INTEGER NOT NULL, objective INTEGER NOT NULL);
CREATE TABLE study_system_attributes (study_system_attribute_id INTEGER PRIMARY KEY, study_id INTEGER,
    "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trials (trial_id INTEGER NOT NULL PRIMARY KEY, number INTEGER, study_id INTEGER,
    state VARCHAR(8) NOT NULL);
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER NOT NULL, objective INTEGER NOT NULL,
    value FLOAT, value_type VARCHAR(7) NOT NULL);
CREATE TABLE trial_system_attributes (trial_system_attribute_id INTEGER PRIMARY KEY, trial_id INTEGER,
    "key" VARCHAR(512), value_json TEXT);
"""

#: A study: its name, its directions, and the state, the values and the attributes of every trial.
Study = tuple[str, Sequence[str], Sequence[tuple[str, Sequence[float], Sequence[str]]]]

STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")


def write_optuna(path: Path, studies: Iterable[Study]) -> Path:
    database = sqlite3.connect(path)
    database.executescript(_OPTUNA)
    known, trial = {float("inf"): "INF_POS", float("-inf"): "INF_NEG"}, 0
    for study, (name, directions, trials) in enumerate(studies, start=1):
        database.execute("INSERT INTO studies VALUES (?, ?)", (study, name))
        for objective, direction in enumerate(directions):
            database.execute("INSERT INTO study_directions VALUES (NULL, ?, ?, ?)", (direction, study, objective))
        for number, (state, values, attributes) in enumerate(trials):
            trial += 1
            database.execute("INSERT INTO trials VALUES (?, ?, ?, ?)", (trial, number, study, state))
            for objective, value in enumerate(values):
                row = (trial, objective, None if value in known else value, known.get(value, "FINITE"))
                database.execute("INSERT INTO trial_values VALUES (NULL, ?, ?, ?, ?)", row)
            for key in attributes:
                database.execute("INSERT INTO trial_system_attributes VALUES (NULL, ?, ?, '0')", (trial, key))
    database.commit()
    database.close()
    return path


def write_journal(path: Path, studies: Iterable[Study]) -> Path:
    lines: list[dict[str, object]] = []
    trial = 0
    for study, (name, directions, trials) in enumerate(studies):
        codes = [("NOT_SET", "MINIMIZE", "MAXIMIZE").index(each) for each in directions]
        lines.append({"op_code": 0, "worker_id": "w", "study_name": name, "directions": codes})
        for state, values, attributes in trials:
            waiting = {"state": 4} if state == "WAITING" else {}
            lines.append({"op_code": 4, "worker_id": "w", "study_id": study, "datetime_start": None, **waiting})
            lines += [
                {"op_code": 9, "worker_id": "w", "trial_id": trial, "system_attr": {key: 0}} for key in attributes
            ]
            if state not in ("RUNNING", "WAITING"):
                end = {"state": STATES.index(state), "values": list(values) or None, "datetime_complete": "2026-01-01"}
                lines.append({"op_code": 6, "worker_id": "w", "trial_id": trial, **end})
            trial += 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


# Sacred


def write_sacred(
    folder: Path, series: Mapping[str, Sequence[Point]], config: object, status: str = "COMPLETED"
) -> Path:
    folder.mkdir(parents=True)
    metrics = {
        name: {"steps": [s for s, _ in curve], "timestamps": [""] * len(curve), "values": [v for _, v in curve]}
        for name, curve in series.items()
    }
    for name, content in (
        ("metrics", metrics),
        ("config", config),
        ("run", {"experiment": {"name": "sarsa"}, "status": status}),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder
