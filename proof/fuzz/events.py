"""What EventBridge delivers: alarms and departures; and the rollups that messages are made of."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from aggregator.departure import NoDepartureError, departure_of
from aggregator.explain.event import EventError, transition_of
from aggregator.explain.notification import notify
from neuron_wire import OtherRecord, parse
from neuron_wire.names import MESSAGE
from proof.factories import alarms as made_alarms
from proof.factories.alarms import ENVIRONMENT, MINUTE, RANG_S
from proof.fuzz import broken_json
from proof.fuzz.target import Target, require_sentence
from proof.memory_table import MemoryTable

if TYPE_CHECKING:
    from aggregator.explain.message import Publication

SNS_BYTES: Final = 262_144
CHATTING: Final = replace(ENVIRONMENT, chat_topic_arn=f"{ENVIRONMENT.alarm_topic_arn}-chat")
_DEPARTURE: Final = {
    "version": "0",
    "detail-type": "EC2 Instance State-change Notification",
    "source": "aws.ec2",
    "account": "123456789012",
    "time": "2026-11-21T08:15:30Z",
    "region": "us-east-1",
    "resources": ["arn:aws:ec2:us-east-1:123456789012:instance/i-0123456789abcdef0"],
    "detail": {"instance-id": "i-0123456789abcdef0", "state": "terminated"},
}


def _document(content: bytes) -> dict[str, Any] | None:
    """An event as Lambda's runtime hands it over: nothing but an object in JSON gets there."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def tells_of_an_alarm(content: bytes) -> None:
    """The event is refused in one sentence, or told once in a message that SNS takes."""
    event = _document(content)
    if event is None:
        return
    try:
        transition = transition_of(event)
    except EventError as error:
        require_sentence(error, 400)
        return
    texts = (transition.identity, transition.cluster or "", transition.alarm, transition.reason)
    "".join(texts).encode()  # half a letter fits into no table and no message
    table = made_alarms.table_with(made_alarms.rollup())
    sent: list[Publication] = []
    lines: list[str] = []
    publish = lambda _, one: sent.append(one)  # noqa: E731
    first = notify(transition, table, CHATTING, publish, RANG_S, printer=lines.append)
    again = notify(transition, table, CHATTING, publish, RANG_S, printer=lines.append)
    assert (first.outcome, again.outcome) in {("sent", "repeated"), ("dropped", "dropped")}
    assert (len(sent), len(lines)) in {(2, 1), (0, 0)}
    assert all(len(one.body.encode()) < SNS_BYTES for one in sent)
    assert all(parse(one) == OtherRecord(MESSAGE) for one in lines)
    if first.message is not None:
        _check_message(first.message)


def tells_of_a_rollup(content: bytes) -> None:
    """Whatever is kept as the last rollup, a message is written and SNS takes it."""
    table = MemoryTable()
    text = content.decode(errors="replace")
    for about in ("minute", "ecc", "errors"):
        table.write_last_rollup(about, "training", MINUTE, text)
    for metric in ("IdleCorePercent", "SilentInstances", "EccUncorrectedRise", "ExecutionErrors"):
        transition = transition_of(made_alarms.of_an_alarm(metric))
        told = notify(transition, table, CHATTING, lambda *_: None, RANG_S, printer=lambda _: None)
        assert told.message is not None
        _check_message(told.message)


def reads_a_departure(content: bytes) -> None:
    """The event is refused in one sentence, or names an instance and a minute."""
    event = _document(content)
    if event is None:
        return
    try:
        departure = departure_of(event)
    except NoDepartureError as error:
        require_sentence(error, 1_200)  # 90 letters of others, each as its number
        return
    assert departure.instance_id.startswith("i-")
    assert len(departure.instance_id) <= 19
    MemoryTable().put_departure(departure.instance_id, departure.minute, 0)


def _check_message(message: Any) -> None:
    assert 1 <= len(message.subject) < 100
    assert message.subject.isascii()
    assert message.subject.isprintable()
    assert len(message.sms) <= 140
    assert message.sms.isascii()
    assert len(message.by_protocol().encode()) < SNS_BYTES
    assert all(one.isprintable() for one in message.text.split("\n"))
    assert isinstance(json.loads(message.document), dict)
    assert all(value and len(value) <= 256 for value in message.attributes.values())


def _alarms() -> list[bytes]:
    over = made_alarms.state("OK", made_alarms.OVER)
    muted = {"mutedByArn": "arn", "muteWindowStart": made_alarms.RANG_MS}
    events = [
        made_alarms.of_an_alarm(),
        made_alarms.of_an_alarm("SilentInstances", now=over, before=made_alarms.state("ALARM")),
        made_alarms.of_an_alarm("EccUncorrectedRise", muteDetail=muted),
        made_alarms.of_a_contributor(),
    ]
    return [json.dumps(one).encode() for one in events]


def _rollups() -> list[bytes]:
    silent = {"InstanceId": "i-1", "LastSeen": "2026-11-21T03:00Z"}
    made = [made_alarms.rollup(), made_alarms.rollup(SilentInstanceNames=[silent])]
    return [json.dumps(one).encode() for one in made]


ALARMS: Final = Target("alarm events", tells_of_an_alarm, _alarms, broken_json.broken)
ROLLUPS: Final = Target("kept rollups", tells_of_a_rollup, _rollups, broken_json.broken)
DEPARTURES: Final = Target(
    "departure events",
    reads_a_departure,
    lambda: [json.dumps(_DEPARTURE).encode()],
    broken_json.broken,
)
