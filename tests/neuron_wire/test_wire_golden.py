"""Lines of released emitters, kept in files: each is written as before and read for ever."""

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
    """How the lines of one file were made."""

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
"""What was written once: nothing makes these lines again, and every reader reads them."""

MADE_ELSEWHERE = {"kinds", "owned", "reservations"}
"""By test_length.py, from values and not from reports."""

GOLDEN_LINES = [
    pytest.param(line, id=f"{path.name.partition('.')[0]}-{number}")
    for path in sorted(V1_FOLDER.glob("*.lines.jsonl"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines())
]


def kept(line, frozen):
    """Return the part of a JSON value *line* that *frozen* has: no new member, no new metric."""
    if isinstance(frozen, dict):
        return {name: kept(line[name], frozen[name]) for name in line if name in frozen}
    if isinstance(frozen, list) and len(line) == len(frozen):
        return [kept(*pair) for pair in zip(line, frozen, strict=True)]
    return [entry for entry in line if entry in frozen] if isinstance(frozen, list) else line


@pytest.mark.parametrize("name", MADE)
def test_replay_prints_all_that_the_golden_lines_say(name, golden):
    """A new member may come in. A changed one changes the contract, and is read in review."""
    made = MADE[name]
    settings = ReplaySettings(
        cluster="golden",
        interval=made.interval,
        start="2026-01-01T00:00:00Z",
        metrics=made.metrics,
        metric=made.metric,
        raw_reports=made.raw_reports,
        runtime_lines="none",
    )
    replayed = replay([V1_FOLDER / f"{made.reports}.reports.jsonl"], settings)
    lines = [line for line in map(json.loads, replayed) if line["Kind"] != "event"]
    path = V1_FOLDER / f"{name}.lines.jsonl"
    frozen = map(json.loads, path.read_text("utf-8").splitlines()) if path.exists() else lines
    said = [kept(*pair) for pair in zip(lines, frozen, strict=True)]
    golden(path, "".join(f"{encode(line)}\n" for line in said))


def test_every_golden_file_has_its_maker():
    """Each is made above, kept from an older release, or made by another test."""
    files = [path.name.partition(".")[0] for path in V1_FOLDER.glob("*.lines.*")]
    assert sorted([*MADE, *KEPT_GOLDENS, *MADE_ELSEWHERE]) == sorted(files)


@pytest.mark.parametrize("line", GOLDEN_LINES)
def test_a_line_is_read_and_is_written_the_same(line):
    """Every line of this schema can be read, and compact JSON has one form."""
    parse(line)
    assert line == encode(json.loads(line))


def test_the_schema_of_aws_accepts_each_line_with_metrics(program_of, tmp_path):
    """The schema that AWS publishes for the format refuses a wrong line, and no golden line."""
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
    """What the stack reads in one file."""
    return [parse(line) for line in (V1_FOLDER / f"{name}.lines.jsonl").read_text().splitlines()]


def test_cores_assigned_to_a_pod_without_a_process_are_reserved():
    """They stay unattached, and quiet for each whole minute that the pod has them."""
    for minutes, record in enumerate(records("reserved"), 1):
        pod = Owner("", "ml/trainer-0/main", "ml", "0-1", None, minutes)
        assert "uu" == record.core_state
        assert (pod,) == record.owners
        assert "known" == record.reservations


def test_no_golden_of_schema_1_changes():
    """Every reader reads what an emitter wrote. A new line gets a new file, listed here, too."""
    listed = (V1_FOLDER / "frozen.sha256").read_text("ascii").splitlines()
    found = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in sorted(V1_FOLDER.glob("*.jsonl"))
    ]
    assert listed == found
