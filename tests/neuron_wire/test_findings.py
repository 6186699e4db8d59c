"""Finding events follow their schema, and older readers can read newer events."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.environment import Rules
from local import REPOSITORY
from neuron_accounts.findings import SCHEMA_FILE
from neuron_accounts.teams import team_rules
from neuron_wire.owners import Owner
from proof.factories.records import record
from tests.aggregator.findings.findings_fleet import NOTHING_RAN, FindingsFleet, busy, idle, maker

STORY_TEAMS = team_rules("research|slurm:*=ml")
STORY_PLACE = {
    "region": "us-east-1",
    "availability_zone": "us-east-1b",
    "account_id": "123456789012",
    "lifecycle": "spot",
}


def story():
    """Return the events in the order in which they were sent."""
    return [*_hours_of_research(), *_a_day_after_a_fault()]


def _hours_of_research():
    fleet = FindingsFleet(Rules(grace_s=60, teams=STORY_TEAMS))
    job = {"cluster": "research", "instance_type": "trn1.2xlarge", "reservations": "known"}
    owner, other = (Owner("0-1", f"slurm:{name}", "default") for name in ("7 ann", "8 ben"))
    works = maker(busy, instance_id="i-0works", owners=(other,), **job)
    holds = [
        maker(
            record,
            instance_id="i-0holds",
            core_state="aa",
            utilization_percent=(0.0, 0.0),
            idle_minutes=(minutes, minutes),
            **NOTHING_RAN,
            **STORY_PLACE,
            **job,
            owners=(replace(owner, executions=0, quiet_minutes=minutes),),
        )
        for minutes in (16, 30, 61)
    ]
    for hold in holds:
        fleet.pass_minute(hold, works)
    for _ in range(3):
        fleet.pass_minute(maker(busy, instance_id="i-0holds", owners=(owner,), **job), works)
    for _ in range(6):  # one instance falls silent, then reports again
        fleet.pass_minute(works)
    unknown = {"cluster": "research", "reservations": "unknown"}
    fleet.pass_minute(maker(idle, instance_id="i-0holds", **unknown), works)
    fleet.pass_minute(
        maker(idle, instance_id="i-0holds", cluster="research", is_clean_shutdown=True), works
    )
    for _ in range(6):  # then it shuts down for good
        fleet.pass_minute(works)
    return fleet.sent


def _a_day_after_a_fault():
    fleet = FindingsFleet(Rules(grace_s=60, silent_after_minutes=60))
    faults = {"HardwareFaults": 2}
    fleet.pass_minute(maker(busy, cluster="serving", readings=faults, ecc_uncorrected_rise=1))
    fleet.pass_minute(maker(busy, cluster="serving", readings=faults))
    for _ in range(24):
        fleet.minute += 59
        fleet.pass_minute(maker(busy, cluster="serving"))
    return fleet.sent


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
    kinds = {"idle-instance", "idle-owner", "silent-instance", "hardware-fault"}
    assert kinds == {event["Kind"] for event in events}
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
