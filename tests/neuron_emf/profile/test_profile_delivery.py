"""Profiles go to CloudWatch Logs by the emitter's own delivery: once, or with a reason."""

from __future__ import annotations

import json

import pytest

from emitter.delivery.batches import PUT_LOG_EVENTS
from emitter.delivery.destination import Delivered, Invalid, Refused, Retry
from emitter.errors import DeliveryError
from neuron_emf.cli import cli
from neuron_emf.profile.log_delivery import ATTEMPTS, put
from proof.logs.service import DENIED, LogsService
from tests.neuron_emf.profile.profiled import AT_MS, FOLDER

GROUP = "/neuron-emf/records"


class Scripted:
    """A destination that answers what it was told to, then takes everything."""

    limits = PUT_LOG_EVENTS

    def __init__(self, *answers):
        self.answers = list(answers)
        self.batches = []

    def send(self, batch):
        self.batches.append([record.line for record in batch])
        return self.answers.pop(0) if self.answers else Delivered()

    def close(self):
        pass


def sent(destination, *lines, at_ms=AT_MS):
    """Put *lines* now; how long it waited."""
    waits = []
    put(lines, at_ms, destination, clock=lambda: AT_MS / 1000, sleep=waits.append)
    return waits


def test_a_throttled_call_is_made_again():
    """After a wait, up to a bound; the last reason is said."""
    later = Retry("throttled", "CloudWatch Logs throttles")
    destination = Scripted(later, later)
    assert 2 == len(sent(destination, "a"))
    assert [["a"]] * 3 == destination.batches
    destination = Scripted(*[later] * 50)
    with pytest.raises(DeliveryError, match=f"throttles, {ATTEMPTS} times: try again later"):
        sent(destination, "a")
    assert ATTEMPTS == len(destination.batches)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Refused("access", "logs:PutLogEvents was expected to be allowed"), "to be allowed"),
        (Invalid("a member is bad"), "a member is bad"),
        (Delivered({"too_old": (0,)}), "too_old; see --time"),
    ],
    ids=["refused", "invalid", "rejected"],
)
def test_what_is_not_taken_is_said(answer, words):
    """Trying again would not help."""
    destination = Scripted(answer)
    with pytest.raises(DeliveryError, match=words):
        sent(destination, "a")
    assert 1 == len(destination.batches)


def test_a_profile_that_is_too_old_is_not_even_sent():
    """CloudWatch Logs takes 14 days."""
    destination = Scripted()
    with pytest.raises(DeliveryError, match="too_old"):
        sent(destination, "a", at_ms=AT_MS - 14 * 86_400_000)
    assert [] == destination.batches


@pytest.fixture
def service(monkeypatch):
    """A strict CloudWatch Logs on 127.0.0.1, where the emitter's boto3 finds it."""
    with LogsService() as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", made.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        yield made


def profile(*words):
    """Run the command on two made profiles."""
    path = str(FOLDER / "workers.json")
    return cli.main(
        ["profile", path, "--cluster", "training", "--region", "us-west-2", *words],
        standalone_mode=False,
    )


def test_profiles_arrive_in_the_log_group_of_the_fleet(service, capsys):
    """In a stream of their own, made with the permissions that an emitter has."""
    service.rules.groups.setdefault(GROUP, set())
    assert 0 == profile("--output", "logs")
    arrived = [json.loads(one.message) for one in service.rules.applied]
    assert [0, 1] == [one["CoreIndex"] for one in arrived]
    assert {"workers"} == {one["Model"] for one in arrived}
    assert {"profiles/training"} == service.rules.groups[GROUP]
    assert {"PutLogEvents", "CreateLogStream"} == {call.operation for call in service.calls}
    said = capsys.readouterr()
    assert "" == said.out
    assert f"2 lines are in {GROUP}, stream profiles/training" in said.err


def test_a_refusal_of_aws_is_one_sentence(service):
    """Exit code 4, and what to allow."""
    service.rules.groups.setdefault(GROUP, set())
    service.next_faults += [DENIED] * 3
    with pytest.raises(DeliveryError, match="logs:PutLogEvents") as caught:
        profile("--output", "logs")
    assert 4 == caught.value.exit_code
    assert [] == service.rules.applied
