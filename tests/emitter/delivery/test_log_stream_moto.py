"""A log stream through a real SDK client, against moto: order, age, missing names."""

from __future__ import annotations

import pytest
from batches_sent import DAY_MS, GROUP, HOUR_MS, REGION, STREAM, batch_of, now_ms

from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.delivery import Delivery, Flushed
from emitter.delivery.destination import Delivered, Invalid
from emitter.spool import NewRecord, Spool


def lines_in(client, group=GROUP):
    """What moto holds, in its order."""
    found = client.get_log_events(logGroupName=group, logStreamName=STREAM, startFromHead=True)
    return [event["message"] for event in found["events"]]


def test_a_missing_stream_is_made(moto, log_stream):
    """Put, create, put; then only put."""
    assert Delivered() == log_stream.send(batch_of("a", "b"))
    assert Delivered() == log_stream.send(batch_of("c"))
    assert ["a", "b", "c"] == lines_in(moto)


def test_a_missing_group_is_refused_with_what_to_do(moto):
    """The emitter makes no group: it would have no subscription and no retention."""
    missing = LogStream("/not/there", STREAM, region=REGION)
    answer = missing.send(batch_of("a"))
    missing.close()
    assert "no_log_group" == answer.reason
    for word in ("/not/there", REGION, "deploy the stack", "--log-group"):
        assert word in answer.sentence
    assert ["/not/there"] != [
        group["logGroupName"] for group in moto.describe_log_groups()["logGroups"]
    ]


@pytest.mark.usefixtures("moto")
def test_out_of_order_is_invalid(log_stream):
    """The service refuses the whole call."""
    log_stream.send(batch_of("first"))
    answer = log_stream.send(batch_of("now", "before", ages_ms=(0, 1000)))
    assert Invalid(
        "Log events in a single PutLogEvents request must be in chronological order."
    ) == (answer)


def test_too_new_is_rejected_from_its_place_on(moto, log_stream):
    """The start is inclusive; the rest of the call is kept."""
    answer = log_stream.send(batch_of("now", "later", ages_ms=(0, -3 * HOUR_MS)))
    assert Delivered({"too_new": (1,)}) == answer
    assert ["now"] == lines_in(moto)


def test_too_old_is_answered_and_not_tried_again(moto, log_stream):
    """The index of moto is that of the last old event, the service's is one more."""
    answer = log_stream.send(batch_of("older", "old", "now", ages_ms=(16 * DAY_MS, 15 * DAY_MS, 0)))
    assert Delivered({"too_old": (0,)}) == answer
    assert ["now"] == lines_in(moto)


def test_a_spool_with_everything_in_it_is_delivered_to_moto(moto, log_stream):
    """
    Unordered, 40 hours apart, too old and too new: what can be taken is, all is accounted for.
    """
    ages = {"c": HOUR_MS, "a": 40 * HOUR_MS, "b": 30 * HOUR_MS, "d": 0}
    ages |= {"old": 15 * DAY_MS, "new": -3 * HOUR_MS}
    with Spool.open(None, max_age_s=None) as spool:
        spool.append([NewRecord(now_ms() - age_ms, line) for line, age_ms in ages.items()])
        assert Flushed(4, 0) == Delivery(spool, log_stream).flush(5)
        assert {"too_old": 1, "too_new": 1} == spool.health().dropped
    assert ["a", "b", "c", "d"] == lines_in(moto)
