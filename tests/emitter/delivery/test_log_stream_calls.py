"""A log stream: what one send asks of CloudWatch Logs, and what it reads in the answer."""

from __future__ import annotations

import time

import pytest
from batches_sent import GROUP, HOUR_MS, STREAM, batch_of, now_ms

from emitter import __version__
from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.delivery import Delivery
from emitter.delivery.destination import (
    MAX_BATCH_BYTES,
    MAX_BATCH_EVENTS,
    Delivered,
    Invalid,
    rejected_places,
)
from emitter.errors import SettingsError
from emitter.spool import NewRecord, Spool
from proof.logs import faults
from proof.logs.forms import ServiceError
from proof.logs.rules import EXISTS, NOT_FOUND


def test_one_put_is_one_call(service, log_stream):
    """
    Nothing is described first, nothing is retried behind our back; the version is in the header.
    """
    service.rules.groups[GROUP].add(STREAM)
    assert Delivered() == log_stream.send(batch_of("a"))
    assert ["PutLogEvents"] == service.operations
    assert f"neuron-emf/{__version__}" in service.calls[0].user_agent


def test_a_stream_that_another_made_meanwhile_is_a_success(service, log_stream):
    """Two emitters of one instance start together."""
    streams = service.rules.groups[GROUP]
    service.next_faults["CreateLogStream"].append(ServiceError(EXISTS, "already exists"))
    service.before_taking = lambda: service.calls and streams.add(STREAM)
    assert Delivered() == log_stream.send(batch_of("a"))
    assert ["PutLogEvents", "CreateLogStream", "PutLogEvents"] == service.operations


def test_a_stream_that_is_not_there_yet_is_waited_for(service, log_stream):
    """Made, and still unknown: try again, it is not the group."""
    service.next_faults["PutLogEvents"] += [
        ServiceError(NOT_FOUND, "The specified log stream does not exist.")
    ] * 2
    assert "stream_not_ready" == log_stream.send(batch_of("a")).reason
    assert Delivered() == log_stream.send(batch_of("a"))


def test_an_instance_that_was_renamed_has_another_stream(service, log_stream):
    """From the next call on, with the same connection; an impossible name changes nothing."""
    log_stream.send(batch_of("guessed"))
    log_stream.rename("training/i-known")
    with pytest.raises(SettingsError, match="Invalid log stream"):
        log_stream.rename("a:b")
    log_stream.send(batch_of("known"))
    assert {STREAM: ["guessed"], "training/i-known": ["known"]} == service.rules.lines()


@pytest.mark.parametrize(
    ("region", "variable", "expected"),
    [
        (None, None, "eu-west-3"),
        (None, "us-west-2", "us-west-2"),
        ("eu-north-1", "us-west-2", "eu-north-1"),
    ],
)
def test_where_the_instance_is_comes_last(aws, service, region, variable, expected):
    """On a bare instance nobody names a region; what is named goes before it."""
    if variable:
        aws.setenv("AWS_DEFAULT_REGION", variable)
    log_stream = LogStream(GROUP, STREAM, region=region, instance_region="eu-west-3")
    assert Delivered() == log_stream.send(batch_of("a"))
    assert {expected} == {call.region for call in service.calls if call.status == 200}
    log_stream.close()


@pytest.mark.parametrize(
    ("indexes", "expected"),
    [
        ({"tooOldLogEventEndIndex": 2}, {"too_old": (0, 1)}),
        ({"tooOldLogEventEndIndex": 0}, {}),
        ({"expiredLogEventEndIndex": 2}, {"expired": (0, 1)}),
        (
            {"tooOldLogEventEndIndex": 1, "expiredLogEventEndIndex": 3},
            {"too_old": (0,), "expired": (1, 2)},
        ),
        ({"tooNewLogEventStartIndex": 3}, {"too_new": (3,)}),
        (
            {"tooOldLogEventEndIndex": 2, "tooNewLogEventStartIndex": 2},
            {"too_old": (0, 1), "too_new": (2, 3)},
        ),
        ({"tooOldLogEventEndIndex": 9, "tooNewLogEventStartIndex": 0}, {"too_old": (0, 1, 2, 3)}),
    ],
)
def test_rejected_events_are_in_one_class_each(indexes, expected):
    """Ends are exclusive, the start is inclusive; an index out of range is cut to the batch."""
    assert expected == rejected_places({"rejectedLogEventsInfo": indexes}, 4)


@pytest.mark.usefixtures("service")
def test_the_largest_call_is_accepted(log_stream):
    """The service enforces the limits; 10,000 events and exactly 1,048,576 bytes pass them."""
    filler = MAX_BATCH_BYTES - 26 * MAX_BATCH_EVENTS - (MAX_BATCH_EVENTS - 1)
    lines = ["x"] * (MAX_BATCH_EVENTS - 1) + ["x" * filler]
    assert Delivered() == log_stream.send(batch_of(*lines))
    assert isinstance(log_stream.send(batch_of(*lines[:-1], "x" * (filler + 1))), Invalid)


def test_skew_is_measured_and_said_once_an_hour(service, log_stream, caplog):
    """At every answer, errors included; 60 s is still within what a network may cost."""
    assert log_stream.skew_s is None
    service.next_faults["PutLogEvents"].append(faults.THROTTLED)
    service.clock = lambda: time.time() - 100
    for _ in range(3):
        log_stream.send(batch_of("a"))
        assert 98 <= log_stream.skew_s <= 102
    assert ["clock skew found"] == caplog.messages
    service.clock = time.time
    log_stream.send(batch_of("a"))
    assert abs(log_stream.skew_s) <= 2


@pytest.mark.parametrize("fault", [faults.CUT, faults.GARBLED, faults.SIGN_IN])
def test_what_was_rejected_is_known_before_it_counts(fault, service, log_stream):
    """
    Half an answer with HTTP 200 does not say which records were left out: it is asked for again.

    The service's clock is three hours behind: it takes nothing of what is now.
    """
    service.rules.clock = lambda: time.time() - 3 * HOUR_MS / 1000
    service.rules.groups[GROUP].add(STREAM)
    service.next_faults["PutLogEvents"].append(fault)
    with Spool.open(None) as spool:
        spool.append([NewRecord(now_ms(), "a"), NewRecord(now_ms() - 2 * HOUR_MS, "b")])
        Delivery(spool, log_stream, sleep=lambda _: None).flush(60)
        health = spool.health()
    assert (1, {"too_new": 1}) == (health.delivered, dict(health.dropped))
    assert {"b"} == set(service.rules.lines()[STREAM])
