"""The catalogue is complete and consistent, and describes exactly the lines that are written."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from neuron_wire import encode
from neuron_wire.catalogue import (
    ALARMED,
    CATALOGUE_MEMBERS,
    DEFAULT_ROLLUP_METRICS,
    EMITTED,
    EVENT_NAMES,
    MEMBERS_BY_SUBJECT,
    ROLLUP_NUMBERS,
    STACK_METRICS,
    members_of,
    rollup_metrics,
)
from neuron_wire.extraction import UNITS
from tests.neuron_wire.emf_documents import undocumented
from tests.neuron_wire.wire_records import V1_FOLDER, everything

GOLDEN = [
    pytest.param(json.loads(line), id=f"{path.name.partition('.')[0]}-{number}")
    for path in sorted(V1_FOLDER.glob("*.lines.jsonl"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines())
]
MEMBERS_GONE = {"Stalls"}  # earlier releases wrote these; readers ignore them
STATISTICS = {
    "gauge": {"Average", "Maximum", "Minimum"},
    "tally": {"Sum"},
    "total": {"difference"},
    "label": {""},
}
SCRIPT_DIMENSIONS = {
    "instance_id",
    "instance_type",
    "ami_id",
}  # spelled as in neuron-monitor-cloudwatch.py


@pytest.mark.parametrize("subject", MEMBERS_BY_SUBJECT)
def test_each_member_is_described_completely(subject):
    """
    Each member has a source, a sentence and known kinds, and its statistic fits its family.

    A member has a CloudWatch unit exactly if it is a number.
    """
    for member in MEMBERS_BY_SUBJECT[subject]:
        assert (member.family == "label") == (member.unit == "")
        assert member.unit in UNITS | {""}
        assert member.statistic in STATISTICS[member.family]
        assert member.source
        assert member.folds
        assert re.fullmatch(r"[A-Za-z].*[^.]\.", member.meaning)
        assert not set("\n|") & set(member.meaning + member.source + member.folds)
        assert member.name in SCRIPT_DIMENSIONS or re.fullmatch(
            r"([A-Z][A-Za-z0-9]+\.?)+", member.name
        )
        assert member.kinds
        assert set(member.kinds) <= {*EMITTED, "rollup", "stack", "profile", "message"}


@pytest.mark.parametrize("kind", [*EMITTED, "rollup", "stack", "profile", "message"])
def test_a_name_has_one_meaning_in_a_line(kind):
    """No two members of one kind have the same name, and no member is called `_aws`."""
    names = [member.name for member in CATALOGUE_MEMBERS if kind in member.kinds]
    assert sorted(set(names)) == sorted(names)
    assert "_aws" not in names
    assert names


def test_a_cluster_costs_at_most_eighteen_metrics_and_the_stack_five():
    """The defaults are 18 metrics per cluster and 5 for the stack, with every alarm's metric."""
    assert 18 == len(DEFAULT_ROLLUP_METRICS)
    assert 5 == len(STACK_METRICS)
    assert (
        set(ALARMED)
        < DEFAULT_ROLLUP_METRICS.keys()
        < ROLLUP_NUMBERS.keys()
        <= members_of("rollup").keys()
    )
    assert {"gauge", "tally"} == {number.family for number in ROLLUP_NUMBERS.values()}


@pytest.mark.parametrize(
    ("text", "chosen", "unknown"),
    [
        ("", DEFAULT_ROLLUP_METRICS.keys(), ()),
        (" , ", DEFAULT_ROLLUP_METRICS.keys(), ()),
        ("TeraFlops", {*ALARMED, "TeraFlops"}, ()),
        (" Stragglers ,IdleCost,Stragglers", {*ALARMED, "Stragglers", "IdleCost"}, ()),
        ("idlecores,Records,Publication", {*ALARMED}, ("idlecores", "Records", "Publication")),
        (",".join(ROLLUP_NUMBERS), ROLLUP_NUMBERS.keys(), ()),
    ],
)
def test_the_parameter_metrics_chooses_metrics(text, chosen, unknown):
    """`Metrics` adds known rollup metrics to those that alarms need, and returns unknown names."""
    metrics, unknown_names = rollup_metrics(text)
    assert chosen == metrics.keys()
    assert unknown == unknown_names
    assert all(ROLLUP_NUMBERS[name] is metric for name, metric in metrics.items())


def test_each_member_of_a_minute_line_is_written_by_some_record():
    """The catalogue describes no member that a minute line cannot have."""
    record = everything("b" * 101 + "au?")
    line = json.loads(encode({"Timestamp": record.minute_ms, **record.members()}))
    arrays = ("Holders", "Owners")
    inner = {f"{array}.{name}" for array in arrays for name in line[array][0]}
    by_settings = {"NeuronCoreUtilizationNC0"}
    elsewhere = SCRIPT_DIMENSIONS | by_settings
    assert members_of("minute").keys() - elsewhere == line.keys() | inner
    assert [] == undocumented(line)


@pytest.mark.parametrize("line", GOLDEN)
def test_released_lines_are_documented(line):
    """The catalogue keeps every member that an emitter of this schema has ever written."""
    assert [] == [name for name in undocumented(line) if name.partition(".")[0] not in MEMBERS_GONE]


EMITTER_FOLDER = Path(__file__).resolve().parent.parent.parent / "emitter"
DOCUMENTED = EVENT_NAMES.keys() | members_of("event").keys() | members_of("minute").keys()
MEMBER_NAME = re.compile(r"[A-Z][a-z0-9]+([A-Z][a-z0-9]+)*")
COMPOUND = re.compile(r"[A-Z][a-z0-9]+([A-Z][a-z0-9]+)+")


def makes_events(tree):
    """Return True if the module imports the class Event at run time."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "neuron_emitter.logs"
        and any(name.name == "Event" for name in node.names)
        for node in tree.body
    )


PARSED = {path: ast.parse(path.read_text("utf-8")) for path in sorted(EMITTER_FOLDER.rglob("*.py"))}
TREES = {path: tree for path, tree in PARSED.items() if makes_events(tree)}


def names_in(tree):
    """Yield texts that look like event names, and keys that look like member names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if COMPOUND.fullmatch(node.value):
                yield node.value
        elif isinstance(node, ast.keyword) and node.arg and MEMBER_NAME.fullmatch(node.arg):
            yield node.arg
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and MEMBER_NAME.fullmatch(str(key.value)):
                    yield key.value


@pytest.mark.parametrize("path", TREES, ids=lambda path: str(path.relative_to(EMITTER_FOLDER)))
def test_events_and_their_members_are_documented(path):
    """The catalogue has each event name and each event member that a module uses."""
    assert set() == set(names_in(TREES[path])) - DOCUMENTED


def test_each_event_of_the_catalogue_is_made_somewhere():
    """Some module makes each event of the catalogue, or the event without `Cleared`."""
    used_names = {name for tree in TREES.values() for name in names_in(tree)}
    assert [] == [name for name in EVENT_NAMES if name.removesuffix("Cleared") not in used_names]
