"""What the tests of `neuron-emf check` share: a right account, a right monitor, and the command."""

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
    """A kernel log that may be read, in the place of this machine's."""

    path = "/dev/kmsg"

    def close(self):
        """Nothing to let go of."""


@dataclass(frozen=True)
class Checked:
    """What one run of the command printed, and how it ended."""

    document: dict[str, Any]
    code: int

    @property
    def states(self) -> dict[str, str]:
        """State by check, in the order of the list."""
        return {result["check"]: result["state"] for result in self.document["checks"]}

    def of(self, check: str) -> dict[str, Any]:
        """One finding."""
        return next(result for result in self.document["checks"] if result["check"] == check)


@pytest.fixture
def account():
    """An account in which all is right."""
    with AccountDouble() as made:
        yield made


@pytest.fixture(scope="session")
def sdk_loader():
    """The SDK's models of the services, read from disk once: they are most of what a run takes."""
    return botocore.loaders.create_loader()


@pytest.fixture
def _surroundings(tmp_path, monkeypatch, sdk_loader):
    """Nothing of this machine gets in, and nobody waits."""
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
    """A neuron-monitor that answers at once, and what came of starting it: once for all tests."""
    path = check_expectations.script(
        tmp_path_factory.mktemp("monitor") / "monitor",
        check_expectations.answering(check_expectations.report()),
    )
    settings = CheckSettings(monitor_command=str(path))
    return path, neuron_monitor.check_monitor(settings, "{}")


@pytest.fixture
def monitor(answer, monkeypatch):
    """The path of that monitor; what the command would see of it is known already."""
    path, seen = answer
    whole = neuron_monitor.check_monitor
    monkeypatch.setattr(
        sequence, "check_monitor", lambda settings, text: seen if text else whole(settings, text)
    )
    return path


@pytest.fixture
def shown(_surroundings, capsys):
    """Run the command with these words; what it printed, and its exit code."""

    def run(*words: object) -> tuple[str, int]:
        given = ["check", *map(str, words)]
        code = cli.main(given, prog_name="neuron-emf", standalone_mode=False, obj=given[1:])
        return capsys.readouterr().out, code

    return run


@pytest.fixture
def checked(shown, tmp_path):
    """The same, with a cluster, a spool of its own and one JSON document."""

    def run(*words: object) -> Checked:
        usual = ("--cluster", "blue", "--spool-dir", tmp_path / "spool", "--json")
        text, code = shown(*usual, *words)
        return Checked(json.loads(text), code)

    return run


@pytest.fixture
def reach(account, monkeypatch):
    """Make every AWS client of this process talk to the account."""
    for name, value in account.variables.items():
        monkeypatch.setenv(name, value)
    return account
