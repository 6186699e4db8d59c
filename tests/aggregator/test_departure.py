"""A stopped instance is remembered from EC2's event to the next rollups."""

from __future__ import annotations

import pytest

from aggregator import departure, runtime
from aggregator.departure import DEPARTING, NoDepartureError, departure_of
from proof.factories.invocations import SAMPLE_STREAM, Context
from proof.factories.records import MINUTE
from tests.aggregator.handler_traces import CurrentStdout, state_change


@pytest.fixture
def handler_of_departure(functions, monkeypatch):  # noqa: ARG001 - the table is there
    """Send the handler's log to the stdout that print writes to."""
    monkeypatch.setattr(departure.logger.registered_handler, "stream", CurrentStdout())


@pytest.mark.usefixtures("handler_of_departure")
def test_a_departure_is_put_at_the_minute_of_the_event(dynamodb):
    """
    A departure is stored once at the minute of its event, however late and often it is delivered.
    """
    for state in sorted(DEPARTING):
        departure.handler(state_change(state), Context())
    _, table = runtime.stack()
    assert {SAMPLE_STREAM: [MINUTE]} == table.read_departures(MINUTE, MINUTE)
    (item,) = dynamodb.scan(TableName="records")["Items"]
    assert str((MINUTE + 1 + 120 + 24 * 60) * 60) == item["ttl"]["N"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({}, "'None' with state 'None'\\. Correct the rule"),
        (state_change("running"), "with state 'running'\\. Correct the rule"),
        (state_change(["stopped"]), "with state \"\\['stopped'\\]\"\\. Correct the rule"),
        (state_change(detail="stopped"), "with state 'None'\\. Correct the rule"),
        (state_change(**{"detail-type": "Scheduled Event"}), "'Scheduled Event' with"),
        (state_change(instance_id=None), "'None' is not "),
        (state_change(instance_id="i-0#1"), "'i-0#1' is not "),
        (state_change(instance_id=f"{SAMPLE_STREAM}/x"), "'i-0aaaaaaaaaaaaaaa1/x' is not "),
        (state_change(time="yesterday"), "'yesterday' is not "),
        (state_change(time=None), "'None' is not "),
        (state_change(time=1_764_000_000), "'1764000000' is not "),
    ],
)
def test_an_event_of_another_shape_is_refused(event, message):
    """An event of another shape is refused with the value found and the next step."""
    with pytest.raises(NoDepartureError, match=message):
        departure_of(event)
