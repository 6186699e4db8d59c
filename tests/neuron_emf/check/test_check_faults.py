"""Single faults of the account or of neuron-monitor: the right line names a remedy."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, UnauthorizedSSOTokenError

from neuron_emf.check.aws_client import AwsClient, check_caller
from neuron_emf.check.neuron_monitor import check_devices, check_monitor
from neuron_emf.check.settings import CheckSettings
from proof.account.account_double import AccountDouble
from tests.neuron_emf.check import check_expectations
from tests.neuron_emf.check.account_faults import (
    ACCOUNT_FAULTS,
    HARMLESS_ACCOUNT_CHANGES,
    break_account,
)
from tests.neuron_emf.check.check_expectations import EXPECTED_STATES

VOLATILE = {
    r"127\.0\.0\.1:\d+": "127.0.0.1:PORT",
    r"\d+ s (behind|ahead of) AWS": r"9000 s \1 AWS",
}


@pytest.mark.usefixtures("reach")
def test_of_a_right_account_nothing_is_wrong(checked, monitor):
    """An account without faults has every check in order, and exit code 0."""
    run = checked("--monitor-command", monitor)
    assert EXPECTED_STATES == run.states, run.document
    assert list(EXPECTED_STATES) == list(run.states)
    assert run.document["ok"] is True
    assert 0 == run.code
    assert [] == [result for result in run.document["checks"] if result["advice"]]


def test_only_the_right_line_reports_it(checked, monitor, monkeypatch, golden, repository):
    """
    Each fault changes only its own lines, and each of these lines names a remedy.

    A change that only looks like a fault changes no line.
    """
    lines = []
    for fault in (*ACCOUNT_FAULTS, *HARMLESS_ACCOUNT_CHANGES):
        with AccountDouble() as account:
            for name, value in account.variables.items():
                monkeypatch.setenv(name, value)
            # lists are sorted by name
            account.add_group("/neuron-emf/records-old", "INFREQUENT_ACCESS")
            break_account(account, fault)
            run = checked("--monitor-command", monitor)
        lines.append(f"{fault}: exit code {run.code}\n")
        for result in run.document["checks"]:
            state = result["state"]
            check = result["check"]
            if state != EXPECTED_STATES[check]:
                lines.append(f"  {state}: {check}: {result['found']}; {result['advice'] or '-'}\n")
        assert run.code == any(result == "failed" for result in run.states.values())
    text = "".join(lines)
    for pattern, usual in VOLATILE.items():
        text = re.sub(pattern, usual, text)
    golden(repository / "tests/data/shown/check-faults.txt", text)


pytestmark = [pytest.mark.usefixtures("reach")]

# A silent monitor takes the whole time; any other has as much time as a loaded machine needs.
WAITS_S = {"is silent and does not listen": 1, "writes no report": 3}


def hardware(**members):
    return {**check_expectations.report()["neuron_hardware_info"], **members}


FOREVER = "\ntime.sleep(600)"
PARTIAL_REPORT = {
    "instance_info": {"instance_id": "i-1", "instance_type": "trn1.32xlarge"},
    "neuron_hardware_info": hardware(neuron_device_count=2),
}


def runtime(counters):
    """Return a report of one runtime with these *counters*."""
    return check_expectations.report(
        neuron_runtime_data=[{"report": {"neuroncore_counters": counters}}]
    )


NO_DEVICE = check_expectations.report(neuron_hardware_info=hardware(neuron_device_count=0))
WRONG_TYPE = check_expectations.report(neuron_hardware_info=hardware(error=5))
BODIES = {
    "answers": check_expectations.answering(check_expectations.report()),
    "exits": 'sys.stderr.write("\\x1b[31mno such driver\\x1b[0m\\n")\nsys.exit(3)',
    "is silent and does not listen": f"signal.signal(signal.SIGTERM, signal.SIG_IGN){FOREVER}",
    "writes no report": f'print("hello", flush=True){FOREVER}',
    "has a value of a wrong type": check_expectations.answering(WRONG_TYPE),
    "sees no device": check_expectations.answering(NO_DEVICE),
    "has no counters": check_expectations.answering(runtime(None)),
    "has counters in error": check_expectations.answering(runtime({"error": "timeout"})),
    "has counters of a wrong type": check_expectations.answering(
        runtime({"neuroncores_in_use": [5]})
    ),
    "sees a part of the instance": check_expectations.answering(
        check_expectations.report(**PARTIAL_REPORT)
    ),
}


def gone(pid):
    """Return True if no such process runs; a zombie does not run."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def started(path, within_s=25):
    settings = CheckSettings(monitor_command=str(path), monitor_seconds=within_s)
    return check_monitor(settings, "{}")


def test_each_fault_of_a_monitor_is_reported(tmp_path, golden, repository):
    """Each fault of a monitor has its state, words and advice, and leaves no process."""
    lines = []
    for name, body in BODIES.items():
        path = check_expectations.script(tmp_path / "monitor", body)
        monitor, report = started(path, WAITS_S.get(name, 25))
        instance_type = report.instance_info.instance_type if report is not None else None
        devices = check_devices(CheckSettings(), report, instance_type)
        lines += [
            f"{name}: {check}: {result.state}: {result.found}; {result.advice or '-'}\n"
            for check, result in {"neuron-monitor": monitor, "devices": devices}.items()
        ]
        assert gone(int((tmp_path / "pid").read_text(encoding="ascii")))
    text = re.sub(r"within \d+\.\d s", "within 1.2 s", "".join(lines))
    text = text.replace(str(tmp_path), "/opt/aws/neuron/bin")
    golden(repository / "tests/data/shown/check-monitors.txt", text)


def test_a_missing_monitor_is_named_with_its_package(checked, tmp_path):
    """A missing monitor is reported with its package, and the devices are not tried."""
    run = checked("--monitor-command", tmp_path / "nowhere")
    result = run.of("neuron-monitor")
    assert "was not found on PATH or in /opt/aws/neuron/bin" in result["found"]
    assert result["advice"].startswith("Install the package aws-neuronx-tools")
    changed = {"neuron-monitor": "failed", "devices": "not tried"}
    changed |= {"instance": "warning", "price": "failed"}
    assert {**EXPECTED_STATES, **changed} == run.states
    assert run.of("price")["advice"].startswith("use --instance-type TYPE")


def refusal(code):
    return ClientError({"Error": {"Code": code, "Message": "no."}}, "GetCallerIdentity")


@pytest.mark.parametrize(
    ("error", "state", "sentence"),
    [
        (NoCredentialsError(), "failed", "no AWS credentials are found (Unable to locate"),
        (UnauthorizedSSOTokenError(), "failed", "the AWS credentials expired (The SSO session"),
        (refusal("ExpiredToken"), "failed", "the AWS credentials expired (ExpiredToken"),
        (refusal("InvalidClientTokenId"), "failed", "AWS rejects the credentials (InvalidC"),
        (refusal("SignatureDoesNotMatch"), "failed", "AWS rejects the signature (Signature"),
        (refusal("AccessDenied"), "warning", "caller unknown: sts:GetCallerIdentity is denied"),
    ],
)
def test_each_reason_for_an_unknown_caller_has_its_own_sentence(error, state, sentence):
    """Each reason for an unknown caller has its own state and sentence."""

    def get_caller_identity():
        raise error

    client = SimpleNamespace(get_caller_identity=get_caller_identity)
    account: Any = SimpleNamespace(client=lambda _service: client)
    result, _ = check_caller(AwsClient(account))
    assert state == result.state
    assert result.found.startswith(sentence)
