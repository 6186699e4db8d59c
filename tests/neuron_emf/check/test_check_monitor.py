"""
neuron-monitor as it may be: there, gone, silent, dying, talking nonsense, without a device.

It is really started, and it is really gone afterwards.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neuron_emf.check.neuron_monitor import check_devices, check_monitor
from neuron_emf.check.settings import CheckSettings
from tests.neuron_emf.check import monitors
from tests.neuron_emf.check.rows import CHECKS

pytestmark = [pytest.mark.usefixtures("reach")]

DRIVER = "install aws-neuronx-dkms, check that /dev/neuron0 exists"
BY_HAND = "run it manually to see why"
# A silent one is waited for to the end; any other has all the time a loaded machine may need.
WAITS_S = {"is silent and does not listen": 1, "writes no report": 3}


def hardware(**members):
    return {**monitors.report()["neuron_hardware_info"], **members}


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
        monitors.answering(monitors.report()),
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
        monitors.answering(monitors.report(neuron_hardware_info=hardware(error=5))),
        ("warning", "with values of a wrong type in neuron_hardware_info", "the values of these"),
        ("warning", "has no hardware information", "cores are taken from the instance type"),
    ),
    "sees no device": (
        monitors.answering(monitors.report(neuron_hardware_info=hardware(neuron_device_count=0))),
        ANSWERED,
        ("failed", "neuron-monitor sees none", DRIVER),
    ),
    "sees a part of the instance": (
        monitors.answering(monitors.report(**PART)),
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
    path = monitors.script(tmp_path / "monitor", body)
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


def test_it_is_asked_for_what_run_asks_for(checked, tmp_path):
    """The configuration that it gets is that of the settings, and is gone afterwards."""
    copied = tmp_path / "copied.json"
    report = monitors.answering(monitors.report())
    body = f"""
        open({str(copied)!r}, "w").write(open(sys.argv[2]).read())
        open({str(tmp_path / "name")!r}, "w").write(sys.argv[2])
        {report.strip()}
    """
    path = monitors.script(tmp_path / "monitor", body)
    checked("--monitor-command", path, "--period", 7, "--groups", "neuroncore_counters")
    asked = json.loads(copied.read_text(encoding="utf-8"))
    assert "7s" == asked["period"]
    assert [{"type": "neuroncore_counters", "period": "7s"}] == (
        asked["neuron_runtimes"][0]["metrics"]
    )
    assert not Path((tmp_path / "name").read_text(encoding="utf-8")).exists()


@pytest.mark.parametrize("given", ["-", "FILE"])
def test_reports_from_elsewhere_need_no_monitor(checked, tmp_path, given):
    """Nothing is started, and what is there is not read: it would be missing in the next run."""
    path = tmp_path / "reports.jsonl"
    path.write_bytes(b"{}\n")
    found = checked("--input", path if given == "FILE" else given)
    changed = dict.fromkeys(("neuron-monitor", "devices"), "not needed") | {"input": "ok"}
    changed |= dict.fromkeys(("instance", "price"), "warning")
    if given == "FILE":  # what comes through a pipe is of this machine
        changed |= dict.fromkeys(("attribution", "kernel log"), "not needed")
    assert {**CHECKS, **changed} == found.states
    assert "which is not read by this check" in found.of("input")["found"]
