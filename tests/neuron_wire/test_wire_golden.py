"""Lines of released emitters: today's emitter writes them unchanged, and readers read them."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

import pytest

from neuron_emitter.replay import replay
from neuron_emitter.settings import ReplaySettings
from neuron_wire import encode, parse
from neuron_wire.owners import Owner
from tests.neuron_wire.emf_documents import metric
from tests.neuron_wire.wire_records import TESTS_DATA, V1_FOLDER
from tests.programs import run_program

WRONG_UNIT = json.dumps(metric(Unit="Counts"))


class Golden(NamedTuple):
    """The arguments of replay that make one golden file."""

    reports: str
    interval: float
    metrics: str = "cluster"
    metric: tuple[str, ...] = ()
    raw_reports: int | None = None


MADE = {
    "reservations_busy": Golden("busy", 15.0),
    "reservations_bare": Golden("busy", 15.0, "none"),
    "reserved": Golden("reserved", 30.0),
    "empty": Golden("empty", 30.0),
    "unknown": Golden("unknown", 30.0),
    "nothing": Golden("nothing", 5.0),
    "reservations_wide": Golden("wide", 15.0),
    "reservations_chosen": Golden(
        "chosen",
        30.0,
        "none",
        ("CoreIdleMinutes", "ExecutionsTimedOut@instance"),
        raw_reports=1,
    ),
}
WITHOUT_OWNERS = ("busy", "bare", "wide", "chosen")
OWNED_GOLDENS = [f"owned_{name}" for name in WITHOUT_OWNERS]
KEPT_GOLDENS = {"messages", "stalled", "without_holders", *WITHOUT_OWNERS, *OWNED_GOLDENS}
"""Files that no program makes any more. Every reader must read them."""

MADE_ELSEWHERE = {"kinds", "owned", "reservations"}
"""Files that test_length.py makes from values, not from reports."""

GOLDEN_LINES = [
    pytest.param(line, id=f"{path.name.partition('.')[0]}-{number}")
    for path in sorted(V1_FOLDER.glob("*.lines.jsonl"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines())
]


def kept(line, frozen):
    """Return *line* without the members and metrics that *frozen* does not have."""
    if isinstance(frozen, dict):
        return {name: kept(line[name], frozen[name]) for name in line if name in frozen}
    if isinstance(frozen, list) and len(line) == len(frozen):
        return [kept(*pair) for pair in zip(line, frozen, strict=True)]
    return [entry for entry in line if entry in frozen] if isinstance(frozen, list) else line


@pytest.mark.parametrize("name", MADE)
def test_replay_prints_the_golden_lines(name, golden):
    """Replay prints the golden lines. New members are permitted; a change needs a review."""
    maker = MADE[name]
    settings = ReplaySettings(
        cluster="golden",
        interval=maker.interval,
        start="2026-01-01T00:00:00Z",
        metrics=maker.metrics,
        metric=maker.metric,
        raw_reports=maker.raw_reports,
        runtime_lines="none",
    )
    replayed = replay([V1_FOLDER / f"{maker.reports}.reports.jsonl"], settings)
    lines = [line for line in map(json.loads, replayed) if line["Kind"] != "event"]
    path = V1_FOLDER / f"{name}.lines.jsonl"
    frozen = map(json.loads, path.read_text("utf-8").splitlines()) if path.exists() else lines
    golden_lines = [kept(*pair) for pair in zip(lines, frozen, strict=True)]
    golden(path, "".join(f"{encode(line)}\n" for line in golden_lines))


def test_every_golden_file_has_its_maker():
    """A golden file is made here or by another test, or kept from an older release."""
    files = [path.name.partition(".")[0] for path in V1_FOLDER.glob("*.lines.*")]
    assert sorted([*MADE, *KEPT_GOLDENS, *MADE_ELSEWHERE]) == sorted(files)


@pytest.mark.parametrize("line", GOLDEN_LINES)
def test_a_line_is_read_and_is_written_the_same(line):
    """Each golden line can be read, and encoding it again gives the same bytes."""
    parse(line)
    assert line == encode(json.loads(line))


def test_the_schema_of_aws_accepts_each_line_with_metrics(program_of, tmp_path):
    """AWS's published EMF schema refuses a line with a wrong unit and accepts every golden line."""
    texts = [path.read_text("utf-8") for path in sorted(TESTS_DATA.rglob("*.jsonl"))]
    lines = [line for text in texts for line in text.splitlines() if '"_aws":' in line]
    documents = tmp_path / "documents.json"
    documents.write_text(f"[{','.join([WRONG_UNIT, *lines])}]", "utf-8")
    validator = program_of(".venv-tools", "check-jsonschema")
    command = [
        validator,
        "--schemafile",
        TESTS_DATA / "wire/emf.schema.json",
        "--output-format",
        "json",
    ]
    ended = run_program([*command, documents])
    refused = [error["path"] for error in json.loads(ended.stdout)["errors"]]
    assert ["$[0]['_aws'].CloudWatchMetrics[0].Metrics[0].Unit"] == refused


def records(name):
    """Return the records in a golden file."""
    return [parse(line) for line in (V1_FOLDER / f"{name}.lines.jsonl").read_text().splitlines()]


def test_cores_assigned_to_a_pod_without_a_process_are_reserved():
    """Cores of a pod without a process are unattached, reserved and quiet in each minute."""
    for minutes, record in enumerate(records("reserved"), 1):
        pod = Owner("", "ml/trainer-0/main", "ml", "0-1", None, minutes)
        assert "uu" == record.core_state
        assert (pod,) == record.owners
        assert "known" == record.reservations


def test_golden_files_of_schema_1_do_not_change():
    """Golden files never change. A new line gets a new file and an entry in frozen.sha256."""
    listed = (V1_FOLDER / "frozen.sha256").read_text("ascii").splitlines()
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in sorted(V1_FOLDER.glob("*.jsonl"))
    ]
    assert listed == sums
