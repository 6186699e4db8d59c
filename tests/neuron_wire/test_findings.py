"""Finding events follow their schema, and older readers can read newer events."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from local import REPOSITORY
from neuron_accounts.findings import FINDING_KINDS, SCHEMA_FILE
from tests.aggregator.findings.finding_story import story

EVENTS_FOLDER = REPOSITORY / "tests" / "data" / "findings" / "v1"
VALIDATOR = REPOSITORY / ".venv-tools" / "bin" / "check-jsonschema"
GOLDEN_EVENTS = [
    json.loads(line)
    for path in sorted(EVENTS_FOLDER.glob("*.events.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def violations_of(tmp_path, events):
    """Return the indexes of the events that violate the schema."""
    if not VALIDATOR.exists():
        pytest.skip(f"{VALIDATOR} is missing: make venvs")
    paths = []
    for number, event in enumerate(events):
        paths.append(tmp_path / f"{number:04}.json")
        paths[-1].write_text(json.dumps(event), encoding="utf-8")
    process = subprocess.run(
        [VALIDATOR, "--schemafile", SCHEMA_FILE, "--output-format", "json", *paths],
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(process.stdout)
    assert not answer.get("parse_errors")
    return {int(Path(error["filename"]).stem) for error in answer["errors"]}


def test_close_still_makes_the_golden_events(golden):
    """Close makes the golden events from the story of a small fleet: each kind, change, reason."""
    lines = [json.dumps(event, separators=(",", ":")) for event in story()]
    golden(EVENTS_FOLDER / "story.events.jsonl", "\n".join(lines) + "\n")
    events = [json.loads(line) for line in lines]
    assert {*FINDING_KINDS} == {event["Kind"] for event in events}
    assert {"opened", "worsened", "closed"} == {event["Change"] for event in events}
    reasons = {event.get("Reason", "work") for event in events}
    assert {"work", "reported", "quiet", "gone"} == reasons


def test_every_event_follows_the_schema(tmp_path):
    """The schema accepts the golden events and describes exactly their members."""
    assert set() == violations_of(tmp_path, GOLDEN_EVENTS)
    known = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))["properties"]
    assert set() == {name for event in GOLDEN_EVENTS for name in event} - known.keys()
    assert set() == known.keys() - {name for event in GOLDEN_EVENTS for name in event}


def test_an_older_reader_reads_a_newer_event_and_refuses_a_newer_schema(tmp_path):
    """The schema accepts unknown members and kinds, and refuses a higher Schema number."""
    event = GOLDEN_EVENTS[0]
    newer = {**event, "Kind": "slow-link", "Reason": "repaired", "LinkErrors": {"Total": 3}}
    wrong = [
        {**event, "Schema": 2},
        {**event, "Step": 0},
        {**event, "Change": "repaired"},
        {name: value for name, value in event.items() if name != "Id"},
    ]
    assert {1, 2, 3, 4} == violations_of(tmp_path, [newer, *wrong])
