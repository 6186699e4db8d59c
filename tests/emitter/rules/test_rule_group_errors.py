"""Rule: repeated group errors. A sidecar said the same error 17,280 times a day."""

from __future__ import annotations

import pytest

from proof.factories.groups import vcpu_usage
from proof.factories.reports import START_S, Reading, inf1_busy, sidecar


def complaining(text):
    """The inf1 report with this error in its vCPU group."""
    document = inf1_busy()
    document["system_data"]["vcpu_usage"] = vcpu_usage(error=text)
    return document


def events(reading):
    """What was said since the last time."""
    return [(event.name, event.details["Group"]) for event in reading.fold.take_events()]


def test_one_event_when_it_first_appears():
    """
    (a vCPU error in every report is normal in a sidecar): one event when it first appears, of
    all runtimes and reports of the minute.
    """
    reading = Reading()
    reading.minute(*[sidecar(1, 2, 3, 4)] * 12)
    assert [("GroupError", "neuron_runtime_vcpu_usage")] == events(reading)
    for number in range(1, 10):
        reading.minute(*[sidecar(1, 2, 3, 4)] * 12, number=number)
    assert [] == events(reading)


@pytest.mark.parametrize(
    ("texts", "count"),
    [(["open /proc/12/stat", "open /proc/977/stat"], 1), (["no permission", "no such file"], 2)],
)
def test_texts_are_told_apart_without_digits(texts, count):
    """(group, text without digits): a pid makes no other error."""
    reading = Reading()
    reading.minute(*map(complaining, texts))
    assert [("GroupError", "vcpu_usage")] * count == events(reading)


def test_the_same_text_of_another_group_is_another_error():
    """(group, text)."""
    reading, document = Reading(), complaining("no permission")
    document["system_data"]["memory_info"]["error"] = "no permission"
    reading.minute(document)
    assert [("GroupError", "memory_info"), ("GroupError", "vcpu_usage")] == sorted(events(reading))


def test_one_when_it_clears():
    """One when it clears."""
    reading = Reading()
    reading.minute(complaining("no permission"))
    reading.minute(inf1_busy(), number=1)
    reading.minute(inf1_busy(), number=2)
    assert [("GroupError", "vcpu_usage"), ("GroupErrorCleared", "vcpu_usage")] == events(reading)


def test_at_most_one_an_hour_with_the_count():
    """At most one an hour with the count."""
    reading = Reading()
    for number in range(121):
        reading.minute(complaining("no permission"), complaining("no permission"), number=number)
    found = reading.fold.take_events()
    assert [1, 120, 120] == [event.details["Count"] for event in found]
    assert [START_S, START_S + 3600, START_S + 7200] == [event.at_s for event in found]


def test_an_error_that_comes_and_goes_does_not_flood():
    """At most one an hour, also for one that clears every other minute."""
    reading = Reading()
    for number in range(50):
        reading.minute(complaining("late") if number % 2 == 0 else inf1_busy(), number=number)
    assert [("GroupError", "vcpu_usage"), ("GroupErrorCleared", "vcpu_usage")] == events(reading)


def test_an_error_costs_nothing_but_its_group():
    """What it stands beside is read."""
    record = Reading().minute(*[sidecar(40, 60, 0, 20)] * 12)
    assert "bbab" == record.core_state
    assert 12 * (50 + 51 + 52 + 53) == record.executions
