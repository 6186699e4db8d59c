"""Fixtures of `neuron-emf check`: an account without faults, a working monitor, the command."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import botocore.loaders
import botocore.session
import pytest

from neuron_emf import account as accounts
from neuron_emf.check import instance, log_groups, neuron_monitor, sequence
from neuron_emf.check.settings import CheckSettings
from neuron_emf.cli import cli
from neuron_emitter.owners.places import Reach
from neuron_emitter.settings import options
from proof.account.account_double import AccountDouble
from tests.neuron_emf.check import check_expectations


class KernelLog:
    """A readable kernel log in place of this machine's."""

    path = "/dev/kmsg"

    def close(self):
        """Do nothing: there is nothing to close."""


@dataclass(frozen=True)
class Checked:
    """The output and the exit code of one run of the command."""

    document: dict[str, Any]
    code: int

    @property
    def states(self) -> dict[str, str]:
        """Return the states by check, in the order of the list."""
        return {result["check"]: result["state"] for result in self.document["checks"]}

    def of(self, check: str) -> dict[str, Any]:
        """Return the result of one check."""
        return next(result for result in self.document["checks"] if result["check"] == check)


@pytest.fixture
def account():
    """Return an account without faults."""
    with AccountDouble() as made:
        yield made


@pytest.fixture(scope="session")
def sdk_loader():
    """Return the SDK's models of the services, read once: reading them is most of a run's time."""
    return botocore.loaders.create_loader()


@pytest.fixture
def _surroundings(tmp_path, monkeypatch, sdk_loader):
    """Hide this machine's settings from the command, and remove its waits."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN", "NEURON_EMF_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(options, "SYSTEM_FILE", tmp_path / "none.toml")
    monkeypatch.setattr(botocore.session, "create_loader", lambda _: sdk_loader)
    monkeypatch.setattr(accounts, "_MAX_CALL_ATTEMPTS", 1)
    monkeypatch.setattr(instance, "reach", lambda _places: Reach())
    monkeypatch.setattr(instance, "schedulers_of", lambda _places: ())
    monkeypatch.setattr(
        instance, "log_opener", lambda choice, _reports: None if choice == "none" else KernelLog
    )
    monkeypatch.setattr(log_groups, "ROUND_TRIP_TIMEOUT_S", 0.02)
    monkeypatch.setattr(log_groups, "ROUND_TRIP_POLL_S", 0.01)


@pytest.fixture(scope="session")
def answer(tmp_path_factory):
    """Start a neuron-monitor that answers at once. Return its path and the result of its check."""
    path = check_expectations.script(
        tmp_path_factory.mktemp("monitor") / "monitor",
        check_expectations.answering(check_expectations.report()),
    )
    settings = CheckSettings(monitor_command=str(path))
    return path, neuron_monitor.check_monitor(settings, "{}")


@pytest.fixture
def monitor(answer, monkeypatch):
    """Return the path of that monitor; its result is already known."""
    path, seen = answer
    whole = neuron_monitor.check_monitor
    monkeypatch.setattr(
        sequence, "check_monitor", lambda settings, text: seen if text else whole(settings, text)
    )
    return path


@pytest.fixture
def shown(_surroundings, capsys):
    """Return a function that runs the command and returns its output and exit code."""

    def run(*words: object) -> tuple[str, int]:
        given = ["check", *map(str, words)]
        code = cli.main(given, prog_name="neuron-emf", standalone_mode=False, obj=given[1:])
        return capsys.readouterr().out, code

    return run


@pytest.fixture
def checked(shown, tmp_path):
    """Return a function like `shown`, with a cluster, an empty spool and one JSON document."""

    def run(*words: object) -> Checked:
        usual = ("--cluster", "blue", "--spool-dir", tmp_path / "spool", "--json")
        text, code = shown(*usual, *words)
        return Checked(json.loads(text), code)

    return run


@pytest.fixture
def reach(account, monkeypatch):
    """Return a function that connects every AWS client of this process to the account."""
    for name, value in account.variables.items():
        monkeypatch.setenv(name, value)
    return account
