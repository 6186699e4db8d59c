"""`neuron-emf findings INSTANCE` on a history, with the project's double of CloudWatch Logs."""

from __future__ import annotations

import json

import pytest

from neuron_emf.account import Account
from neuron_emf.findings import command
from neuron_emf.verdict.instance_verdict import EXIT_CODES
from proof.account.account_double import AccountDouble
from proof.factories.records import AN_INSTANCE
from tests.neuron_emf.fake_aws import FakeAws, LogsClient
from tests.neuron_emf.verdict.instance_world import InstanceWorld


@pytest.fixture
def logs():
    """Return both log groups; a history sets their clock."""
    clock: list[LogsClient] = []
    with AccountDouble(lambda: clock[0].now_s if clock else 0.0) as account:
        clock.append(LogsClient(account))
        yield clock[0]


@pytest.fixture
def answered(typed, monkeypatch, logs):
    """Return a function that asks about a world; it gives exit code, standard output and error."""

    def call(world):
        logs.now_s = world.now_ms / 1000
        logs.asked.clear()
        logs.account.rules.applied.clear()
        for streams in logs.account.rules.groups.values():
            streams.clear()
        world.put_into(logs.account)
        monkeypatch.setattr(Account, "client", lambda *_: logs)
        monkeypatch.setattr(command, "now_ms", lambda: world.now_ms)
        monkeypatch.setattr(command, "AwsClient", lambda _: FakeAws(world.answers))
        return typed("findings", AN_INSTANCE, "--json", "-r", "us-west-2", *world.words)

    return call


@pytest.fixture
def judged(answered):
    """Return the JSON of `neuron-emf findings` for a history; its exit code agrees."""

    def call(spoil, seed, manager):
        world = InstanceWorld(seed, manager)
        spoil(world)
        code, out, err = answered(world)
        verdict = json.loads(out)
        assert "" == err
        assert code == EXIT_CODES[verdict["answer"]]
        return verdict

    return call
