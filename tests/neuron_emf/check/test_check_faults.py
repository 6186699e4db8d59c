"""One fault of the account or of neuron-monitor at a time: the right line says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_emf.check.neuron_monitor import check_devices, check_monitor
from neuron_emf.check.settings import CheckSettings
from proof.account.account_faults import FAULTS, HARMLESS, break_account
from tests.neuron_emf.check import expected
from tests.neuron_emf.check.expected import ARN, CHECKS, GROUPS, LINES, ROWS

OF_BOTH_GROUPS = [name for name in FAULTS if name.endswith("DescribeLogGroups")]
SEVERAL = ["emitter's permissions only", "service gone", *OF_BOTH_GROUPS]


def states_after(row):
    changed = dict.fromkeys(row.not_tried, "not tried")
    return {**CHECKS, row.check: row.state, **changed}


def test_every_fault_of_the_account_is_in_this_table():
    """A fault that somebody adds to the double must be found here."""
    assert {*FAULTS} == {*ROWS, *SEVERAL}


@pytest.mark.usefixtures("reach")
def test_of_a_right_account_nothing_is_wrong(checked, monitor):
    """Every check is there, in its order, and the exit code is 0."""
    found = checked("--monitor-command", monitor)
    assert CHECKS == found.states, found.document
    assert list(CHECKS) == list(found.states)
    assert (True, 0) == (found.document["ok"], found.code)
    assert [] == [result for result in found.document["checks"] if result["advice"]]


@pytest.mark.parametrize("fault", ROWS)
def test_exactly_the_right_line_says_it(checked, reach, monitor, fault):
    """The others stay as they were, or say that they wait for it; it says what to do."""
    break_account(reach, fault)
    row = ROWS[fault]
    found = checked("--monitor-command", monitor)
    assert states_after(row) == found.states, found.of(row.check)
    said = found.of(row.check)
    assert row.found in said["found"]
    assert row.advice in said["advice"]
    assert int(row.state == "failed") == found.code


@pytest.mark.parametrize("fault", HARMLESS)
def test_what_only_looks_like_a_fault_is_none(checked, reach, monitor, fault):
    """Policies about other groups, and half a minute between two clocks."""
    break_account(reach, fault)
    assert CHECKS == checked("--monitor-command", monitor).states


@pytest.mark.parametrize("fault", OF_BOTH_GROUPS)
def test_groups_that_cannot_be_looked_at_are_not_known(checked, reach, monitor, fault):
    """
    No failure: an emitter may not look at them either, and the line that is written shows the rest.
    """
    break_account(reach, fault)
    found = checked("--monitor-command", monitor)
    changed = {"log group": "warning", "rollups log group": "warning"}
    waiting = dict.fromkeys(("log group class", "rollups log group class"), "not tried")
    assert {**CHECKS, **changed, **waiting} == found.states
    assert "logs:DescribeLogGroups" in found.of("log group")["found"]
    if fault.startswith("denied"):
        assert f"logs:DescribeLogGroups on {ARN}:* is denied" in found.of("log group")["found"]
    assert 0 == found.code


def test_a_service_that_is_not_there_is_one_failure(checked, reach, monitor):
    """Nothing more is asked of it, so that nobody waits once for each line."""
    break_account(reach, "service gone")
    found = checked("--monitor-command", monitor)
    failed = [check for check, state in found.states.items() if state == "failed"]
    assert ["log group"] == failed
    assert "Cannot reach" in found.of("log group")["found"]
    assert "logs.us-west-2.amazonaws.com on port 443" in found.of("log group")["advice"]
    assert "warning" == found.states["credentials"]
    assert "not tried" == found.states["clock"]
    assert ["not tried"] * 8 == [found.states[check] for check in (*GROUPS[1:], *LINES)]
    assert 1 == found.code


def test_a_group_with_a_longer_name_is_another_group(checked, reach, monitor):
    """AWS lists by the beginning of a name; one that sorts before or behind is not the one."""
    reach.add_group("/neuron-emf/records-old", "INFREQUENT_ACCESS")
    assert CHECKS == checked("--monitor-command", monitor).states
    break_account(reach, "records group missing")
    found = checked("--monitor-command", monitor)
    assert states_after(ROWS["records group missing"]) == found.states


pytestmark = [pytest.mark.usefixtures("reach")]

DRIVER = "install aws-neuronx-dkms, check that /dev/neuron0 exists"
BY_HAND = "run it manually to see why"
# A silent one is waited for to the end; any other has all the time a loaded machine may need.
WAITS_S = {"is silent and does not listen": 1, "writes no report": 3}


def hardware(**members):
    return {**expected.report()["neuron_hardware_info"], **members}


ANSWERED = ("ok", "answered within", "")
NO_REPORT = ("not tried", "there is no report", "")
FOREVER = "\ntime.sleep(600)"
PART = {
    "instance_info": {"instance_id": "i-1", "instance_type": "trn1.32xlarge"},
    "neuron_hardware_info": hardware(neuron_device_count=2),
}

# The body of the script; state, words and advice of the line `neuron-monitor`, then of `devices`.
BODIES = {
    "answers": (
        expected.answering(expected.report()),
        ANSWERED,
        ("ok", "1 device of type inferentia, 4 logical cores", ""),
    ),
    "exits": (
        'sys.stderr.write("\\x1b[31mno such driver\\x1b[0m\\n")\nsys.exit(3)',
        ("failed", "ended with exit code 3 and wrote nothing; it said: no such driver", BY_HAND),
        NO_REPORT,
    ),
    "is silent and does not listen": (
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN){FOREVER}",
        ("failed", "runs and wrote nothing within", f"{BY_HAND}, or allow more with"),
        NO_REPORT,
    ),
    "writes no report": (
        f'print("hello", flush=True){FOREVER}',
        ("failed", "wrote nothing but what is no report: a line is not a JSON object", BY_HAND),
        NO_REPORT,
    ),
    "has a value of a wrong type": (
        expected.answering(expected.report(neuron_hardware_info=hardware(error=5))),
        ("warning", "with values of a wrong type in neuron_hardware_info", "the values of these"),
        ("warning", "has no hardware information", "cores are taken from the instance type"),
    ),
    "sees no device": (
        expected.answering(expected.report(neuron_hardware_info=hardware(neuron_device_count=0))),
        ANSWERED,
        ("failed", "neuron-monitor sees none", DRIVER),
    ),
    "sees a part of the instance": (
        expected.answering(expected.report(**PART)),
        ANSWERED,
        ("warning", "of the 16 devices of trn1.32xlarge", "nothing, if a container has only a"),
    ),
}


def gone(pid):
    """Whether no such process runs; a zombie is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def started(path, within_s=25):
    settings = CheckSettings(monitor_command=str(path), monitor_seconds=within_s)
    return check_monitor(settings, "{}")


@pytest.mark.parametrize("name", BODIES)
def test_a_monitor_is_told_as_it_is(tmp_path, name):
    """State, words and advice of its line and of the devices'."""
    body, of_monitor, of_devices = BODIES[name]
    path = expected.script(tmp_path / "monitor", body)
    monitor, report = started(path, WAITS_S.get(name, 25))
    instance_type = report.instance_info.instance_type if report is not None else None
    devices = check_devices(CheckSettings(), report, instance_type)
    for result, (state, words, advice) in ((monitor, of_monitor), (devices, of_devices)):
        assert state == result.state, result
        assert words in result.found
        assert result.advice.startswith(advice)
    assert gone(int((tmp_path / "pid").read_text(encoding="ascii")))


def test_a_monitor_that_is_not_there_is_named_with_its_package(checked, tmp_path):
    """Nothing is started, and the devices wait for it."""
    found = checked("--monitor-command", tmp_path / "nowhere")
    said = found.of("neuron-monitor")
    assert "was not found on PATH or in /opt/aws/neuron/bin" in said["found"]
    assert said["advice"].startswith("Install the package aws-neuronx-tools")
    changed = {"neuron-monitor": "failed", "devices": "not tried"}
    changed |= {"instance": "warning", "price": "warning"}
    assert {**CHECKS, **changed} == found.states
