"""No name, number or list makes a message too long, adds a line to it or makes it fail."""

from __future__ import annotations

import functools
import json
import operator
import re
import shlex
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator.explain import chat
from aggregator.explain.event import ALARM_SUBJECTS, read_transition
from aggregator.explain.explanation import JSON_PROTOCOLS
from aggregator.explain.notification import notify
from aggregator.rollups.sums import FAILING
from aggregator.storage.values import TableError
from neuron_wire.line_members import iso_minute
from neuron_words.now_words import URGENCIES
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import (
    ALARM_MINUTE,
    ENVIRONMENT,
    FIRED_S,
    of_a_contributor,
    of_an_alarm,
    rollup,
    state,
    table_with,
)

SNS_BYTES = 262_144
CHAT_OF_ALARM_TOPIC = replace(ENVIRONMENT, chat_topic_arn=f"{ENVIRONMENT.alarm_topic_arn}-chat")
COMMAND_LINE = re.compile(r"[1-4]\. [A-Z][A-Za-z, ]+[:?] +")
ALLOWED_PROGRAMS = {
    "aws",
    "kubectl",
    "scontrol",
    "squeue",
    "sstat",
    "systemctl",
    "ps",
    "neuron-emf",
    "neuron-top",
    "pgrep",
    "sudo",
}
STOP = re.compile(r"\b(stop|cancel|kill|end|terminate|delete|restart|reboot)\b", re.IGNORECASE)
CONDITION_WORDS = re.compile(r"\b(only if|when|ask|tell)\b")
MARGIN = 10_000  # room for attributes and for the envelope that SNS adds to a message

ANY_NAMES = st.text(max_size=40) | st.sampled_from(
    [
        "x" * 10_000,
        "\U0001f4a9" * 5_000,
        "a\nSubject: b",
        "a\r\n\r\nb",
        "'; rm -rf / #",
        '"\\',
        "\u202eevil",
        "\x1b[2J",
        "$(reboot)",
        "<!channel>",
        "\udc00",
        "",
    ]
)
ANY_OWNERS = ANY_NAMES | st.sampled_from(
    [
        "slurm:4711 ada",
        "ml/a-0/main",
        "ecs:search/llama/server",
        "unit:jupyter ada",
        "[unnamed]",
        "[unallocated]",
        "[not reported]",
        "[others]",
        "team:ml",
        "process:python ada",
        "x" * 300 + "/y",
    ]
)
ANY_NUMBERS = st.integers(-(10**400), 10**400) | st.floats()
CORES_AND_MINUTES = st.sampled_from(
    ["0-1", "0-31", "16-23", iso_minute(ALARM_MINUTE), iso_minute(ALARM_MINUTE - 9999)]
)
ANY_ROLLUP_VALUES = st.recursive(
    st.none() | st.booleans() | ANY_NUMBERS | ANY_OWNERS | CORES_AND_MINUTES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
ENTRY = {"InstanceId": "i-0c3f5a7b9d1e2f4a6", "InstanceType": "trn1.32xlarge"}
WHOLE_ROLLUP = rollup(
    HardwareErrors=1,
    PricesOverridden=["trn2"],
    UnpricedTypes=["trn2"],
    StragglerInstances=[{**ENTRY, "BusyUtilization": 1, "TypeMedian": 2}],
    SilentInstanceNames=[{**ENTRY, "LastSeen": "2026-11-21T03:00Z"}],
    **{name: [{**ENTRY, amount: 1, "Owners": ["ml/a-0/main"]}] for name, amount in FAILING.items()},
)
ROLLUP_LISTS = ("TopIdleInstances", "SilentInstanceNames", "StragglerInstances", *FAILING)


def places(value):
    """Yield the path to each member of a rollup and of the entries of its lists."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in pairs:
        yield (name,)
        if isinstance(inner, (dict, list)):
            yield from ((name, *path) for path in places(inner))


ROLLUP_PLACES = sorted(places(WHOLE_ROLLUP), key=str)


def message_for(event, line):
    """Return the message about *event* if *line* is the last rollup."""
    transition = read_transition(event)
    table = MemoryTable()
    sent = []
    for about in ("minute", "hardware", "errors"):
        with suppress(TableError):  # no cluster has a name that the table rejects as a key
            table.write_last_rollup(about, transition.cluster or "", ALARM_MINUTE, json.dumps(line))
    message = notify(
        transition,
        table,
        CHAT_OF_ALARM_TOPIC,
        lambda *call: sent.append(call),
        FIRED_S + 1,
        printer=lambda _: None,
    ).message
    assert_chat_fits(dict(sent)[CHAT_OF_ALARM_TOPIC.chat_topic_arn])
    return message


def assert_chat_fits(publication):
    """Check the limits of Amazon Q, which drops a larger message without an error."""
    document = json.loads(publication.body, parse_constant=pytest.fail)
    assert len(publication.body.encode()) <= SNS_BYTES - MARGIN
    assert "1.0" == document.pop("version")
    assert "custom" == document.pop("source")
    assert {"id", "content", "metadata"} == document.keys()
    content = document["content"]
    metadata = document["metadata"]
    assert {"textType", "title", "description", "keywords"} <= content.keys()
    assert "client-markdown" == content["textType"]
    assert 1 <= len(content["title"]) <= chat.MAX_TITLE_CHARS == 250
    assert 1 <= len(content["description"]) <= chat.MAX_DESCRIPTION_CHARS == 8_000
    assert all(1 <= len(text) <= 350 for text in content.get("nextSteps", []))
    assert all(1 <= len(text) <= 75 for text in content["keywords"])
    assert all(isinstance(text, str) for text in metadata["additionalContext"].values())
    assert re.fullmatch("[0-9a-f]{32}", metadata["threadId"])
    assert CHAT_OF_ALARM_TOPIC.runbook in content["description"]
    assert not re.search("<[^0-9]", json.dumps(content))  # so no name mentions a whole channel


def assert_within_bounds(message):
    """Check the limits of SNS, of text messages and of a mail's subject."""
    assert 1 <= len(message.subject) < 100
    assert message.subject.isascii()
    assert message.subject.isprintable()
    assert len(message.sms) <= 140
    assert message.sms.isascii()
    assert message.sms.isprintable()
    body = message.topic_message.body
    assert len(body.encode()) <= SNS_BYTES - MARGIN
    forms = json.loads(body, parse_constant=pytest.fail)
    assert {"default", "sms", *JSON_PROTOCOLS} == forms.keys()
    document = json.loads(forms["sqs"], parse_constant=pytest.fail)
    assert message.subject.startswith(f"{document['State']}: ")
    assert_within_twelve_lines(message.text)
    assert_stops_nothing(message.text)
    assert message.attributes["Urgency"] == document["Urgency"] in URGENCIES
    assert message.subject.startswith(f"{document['State']}: {document['Urgency']}: ")
    assert "resolved" not in message.text.lower()
    for name, value in message.attributes.items():
        assert name.isalnum()
        assert value
        text = "".join(value)
        assert text.isprintable()
        assert len(text) <= 256


def assert_stops_nothing(text):
    """Check that a next step ends work only under a condition, after a look at the work."""
    for line in text.split("\n"):
        if line.startswith("Next step: "):
            for sentence in re.split(r"(?<=[.;]) ", line):
                assert not STOP.search(sentence) or CONDITION_WORDS.search(sentence), sentence


def assert_within_twelve_lines(text):
    """
    Check that the text has at most twelve lines, and that its commands are quoted for a shell.
    """
    lines = text.removesuffix("\n").split("\n")
    assert 2 <= len(lines) <= 12
    for line in lines:
        assert line
        assert line.isprintable()
        assert len(line) <= 1_000
    for typed in [line for line in lines if COMMAND_LINE.match(line)]:
        command = COMMAND_LINE.sub("", typed)
        assert "$(" not in command
        assert shlex.split(command)[0] in ALLOWED_PROGRAMS


@pytest.mark.parametrize("metric", ALARM_SUBJECTS)
@given(st.lists(st.tuples(st.sampled_from(ROLLUP_PLACES), ANY_ROLLUP_VALUES), max_size=8))
@example([(("TopIdleOwners", 0, "Owner"), ["ml"])])
def test_any_rollup_gives_a_bounded_message(metric, changes):
    """
    Any rollup gives a message within bounds: 10,000 letters, other alphabets, huge numbers, lists.
    """
    line = json.loads(json.dumps(WHOLE_ROLLUP))
    for path, value in sorted(changes, key=lambda change: -len(change[0])):
        *folders, last = path
        functools.reduce(operator.getitem, folders, line)[last] = value
    assert_within_bounds(message_for(of_an_alarm(metric), line))


@given(
    st.sampled_from([*sorted(ALARM_SUBJECTS), "Other"]),
    st.tuples(ANY_NAMES, ANY_NAMES, ANY_NAMES, ANY_NAMES),
    st.sampled_from(["ALARM", "OK", "INSUFFICIENT_DATA"]),
)
def test_any_event_gives_a_bounded_message(metric, names, now):
    """Any names of alarms and clusters give a message within bounds."""
    cluster, alarm, region, text = names
    event = of_a_contributor(metric, cluster=cluster, now=state(now, reason=text))
    event["region"] = region
    event["account"] = text
    event["resources"] = [text]
    event["detail"]["alarmName"] = alarm or "alarm"
    event["detail"]["muteDetail"] = {"mutedByArn": text}
    assert_within_bounds(message_for(event, rollup()))


SILENT_MINUTES = st.lists(st.integers(6, 60), max_size=5)
STATE_REASONS = {
    "data": "Threshold Crossed: 6 of 10.",
    "filled": "2 datapoints and 8 missing datapoints were treated as [NonBreaching].",
    "gone": "No data was returned for this contributor",
}


@given(SILENT_MINUTES, st.integers(0, 2), st.sampled_from([*STATE_REASONS]))
@example([60], 0, "data")
@example([60, 9], 0, "gone")
@example([9], 1, "data")
def test_an_ok_message_claims_of_silent_instances_only_what_was_seen(absent, unlisted, reason):
    """
    An OK message has the number of forgotten instances, and says if data was missing.
    """
    names = [
        {"InstanceId": f"i-0{number:016x}", "LastSeen": iso_minute(ALARM_MINUTE - minutes)}
        for number, minutes in enumerate(absent)
    ]
    count = len(names) + unlisted
    silent = rollup(SilentInstances=count, SilentInstanceNames=names)
    event = of_a_contributor("SilentInstances", now=state("OK", reason=STATE_REASONS[reason]))
    table = table_with(rollup(minute=ALARM_MINUTE + 10))
    table.write_last_rollup("silent", "training", ALARM_MINUTE, json.dumps(silent))
    message = notify(
        read_transition(event),
        table,
        ENVIRONMENT,
        lambda *_: None,
        FIRED_S + 601,
        printer=lambda _: None,
    ).message
    assert_within_bounds(message)
    forgotten = sum(minutes >= 60 for minutes in absent)
    assert (f"no longer counted: {forgotten} instance" in message.text) is bool(forgotten)
    assert ("lack of data" in message.text) is (reason != "data" and not forgotten)
    seen = "Each was seen again, or its stop was reported." in message.text
    assert seen is (len(names) > forgotten and not unlisted)
    assert ("can wait" == message.attributes["Urgency"]) is (reason == "data" and not forgotten)


@pytest.mark.parametrize("metric", ALARM_SUBJECTS)
def test_the_longest_lists_are_cut(metric):
    """Long lists are cut in the text, and in the JSON form to the size that SNS accepts."""
    entry = {
        "InstanceId": "i-0c3f5a7b9d1e2f4a6",
        "InstanceType": "trn1.32xlarge",
        "Cores": ",".join(str(2 * core) for core in range(64)),
        "AttachedCores": ",".join(str(2 * core) for core in range(64)),
        "IdleMinutes": 10**6,
        "Holders": [{"Cores": "0", "Name": "x" * 128, "Pid": 1, "Tag": "y" * 128}] * 8,
        "LastSeen": "2026-11-21T03:00Z",
    }
    message = message_for(
        of_an_alarm(metric), rollup(**{name: [entry] * 50 for name in ROLLUP_LISTS})
    )
    assert_within_bounds(message)
    document = json.loads(message.document)
    assert document["RollupListsCut"] is True
    assert 0 < len(document["Rollup"]["TopIdleInstances"]) < 50


def test_a_rollup_that_no_cutting_makes_fit_is_left_out():
    """
    If a rollup is too large even after the cut, the document says that the rollup was omitted.
    """
    message = message_for(of_an_alarm(), rollup(**{f"Member{n}": "x" * 500 for n in range(100)}))
    document = json.loads(message.document)
    assert document["RollupLeftOut"] is True
    assert "Rollup" not in document
