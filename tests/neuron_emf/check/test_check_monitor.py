"""
neuron-monitor as it may be: there, gone, silent, dying, talking nonsense, without a device.

It is really started, and it is really gone afterwards.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from neuron_emf.check import monitor as started
from tests.neuron_emf.check import monitors
from tests.neuron_emf.check.rows import CHECKS

pytestmark = [pytest.mark.timeout(30), pytest.mark.usefixtures("reach")]

DRIVER = "install aws-neuronx-dkms, look whether /dev/neuron0 is there"
BY_HAND = "run it by hand to see why"
# A silent one is waited for to the end; any other has all the time a loaded machine may need.
WAITS_S = {"is silent": 1, "is silent and does not listen": 1, "writes no report": 4}
NO_HARDWARE = monitors.report()
del NO_HARDWARE["neuron_hardware_info"]


def hardware(**members):
    return {**monitors.report()["neuron_hardware_info"], **members}


# The body of the script; state, words and advice of the line `neuron-monitor`, then of `devices`.
BODIES = {
    "answers": (
        monitors.answering(monitors.report()),
        ("ok", "answered within", ""),
        ("ok", "1 device of type inferentia, 4 logical cores", ""),
    ),
    "answers in two pieces": (
        f"""
        text = {json.dumps(monitors.report())!r}
        os.write(1, text[:40].encode())
        time.sleep(0.2)
        os.write(1, text[40:].encode() + b"\\n")
        time.sleep(600)
        """,
        ("ok", "answered within", ""),
        ("ok", "4 logical cores", ""),
    ),
    "answers without a line end, and ends": (
        f"os.write(1, {json.dumps(monitors.report()).encode()!r})",
        ("ok", "answered within", ""),
        ("ok", "4 logical cores", ""),
    ),
    "exits": (
        """
        sys.stderr.write("\\x1b[31mno such driver\\x1b[0m\\n")
        sys.exit(3)
        """,
        ("failed", "ended with exit code 3 and wrote nothing; it said: no such driver", BY_HAND),
        ("not tried", "there is no report", None),
    ),
    "is killed": (
        "os.kill(os.getpid(), signal.SIGKILL)",
        ("failed", "ended with signal SIGKILL and wrote nothing", BY_HAND),
        ("not tried", "there is no report", None),
    ),
    "is silent": (
        "time.sleep(600)",
        ("failed", "runs and wrote nothing within", f"{BY_HAND}, or allow more with"),
        ("not tried", "there is no report", None),
    ),
    "is silent and does not listen": (
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
        """,
        ("failed", "runs and wrote nothing within", BY_HAND),
        ("not tried", "there is no report", None),
    ),
    "writes no report": (
        """
        print("hello", flush=True)
        time.sleep(600)
        """,
        ("failed", "wrote nothing but what is no report: a line is no JSON object", BY_HAND),
        ("not tried", "there is no report", None),
    ),
    "writes half a report and ends": (
        """os.write(1, b'{"neuron_runtime_data": [')""",
        ("failed", "exit code 0 and wrote nothing but what is no report: the input ended", BY_HAND),
        ("not tried", "there is no report", None),
    ),
    "has a value of a wrong type": (
        monitors.answering(monitors.report(neuron_hardware_info=hardware(error=5))),
        ("warning", "with values of a wrong type in neuron_hardware_info", "what these groups"),
        ("warning", "says nothing of the hardware", "cores are taken from the instance type"),
    ),
    "sees no device": (
        monitors.answering(monitors.report(neuron_hardware_info=hardware(neuron_device_count=0))),
        ("ok", "answered", ""),
        ("failed", "neuron-monitor sees none", DRIVER),
    ),
    "has an error instead of devices": (
        monitors.answering(
            monitors.report(neuron_hardware_info=hardware(error="no\n\x1b[1mdriver"))
        ),
        ("ok", "answered", ""),
        ("failed", "neuron-monitor sees none: no", DRIVER),
    ),
    "says nothing of devices": (
        monitors.answering(NO_HARDWARE),
        ("ok", "answered", ""),
        ("warning", "the first report says nothing of the hardware", "cores are taken from"),
    ),
    "sees a part of the instance": (
        monitors.answering(
            monitors.report(
                instance_info={"instance_id": "i-1", "instance_type": "trn1.32xlarge"},
                neuron_hardware_info=hardware(neuron_device_count=2),
            )
        ),
        ("ok", "answered", ""),
        ("warning", "of the 16 devices of trn1.32xlarge", "what is not seen is in no figure"),
    ),
}


def gone(pid):
    """Whether no such process runs; a zombie is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("name", BODIES)
def test_a_monitor_is_told_as_it_is(checked, tmp_path, name):
    """State, words and advice of its line and of the devices'; the rest of the list stays."""
    body, of_monitor, of_devices = BODIES[name]
    path = monitors.script(tmp_path / "monitor", body)
    found = checked("--monitor-command", path, "--monitor-seconds", WAITS_S.get(name, 25))
    for check, (state, words, advice) in (
        ("neuron-monitor", of_monitor),
        ("devices", of_devices),
    ):
        said = found.of(check)
        assert state == said["state"], said
        assert words in said["found"]
        assert (said["advice"] or "").startswith(advice or "")
    changed = {"neuron-monitor": of_monitor[0], "devices": of_devices[0]}
    assert {**CHECKS, **changed, "instance": found.states["instance"]} == found.states
    assert int("failed" in (of_monitor[0], of_devices[0])) == found.code
    assert gone(int((tmp_path / "pid").read_text(encoding="ascii")))


def test_a_monitor_that_is_not_there_is_named_with_its_package(checked, tmp_path):
    """Nothing is started, and the devices wait for it."""
    found = checked("--monitor-command", tmp_path / "nowhere")
    said = found.of("neuron-monitor")
    assert "was expected on PATH or in /opt/aws/neuron/bin and was not found" in said["found"]
    assert said["advice"].startswith("install the package aws-neuronx-tools")
    changed = {"neuron-monitor": "failed", "devices": "not tried", "instance": "warning"}
    assert {**CHECKS, **changed} == found.states


def test_a_monitor_that_cannot_be_run_is_a_failure(checked, tmp_path):
    """A file with the right to be run and nothing in it that could."""
    path = tmp_path / "monitor"
    path.write_bytes(b"#!/nowhere/at/all\n")
    path.chmod(0o755)
    said = checked("--monitor-command", path).of("neuron-monitor")
    assert "failed" == said["state"]
    assert f"{path} could not be started: No such file or directory" == said["found"]


def test_no_place_for_its_configuration_is_a_failure(checked, monitor, monkeypatch):
    """As `run` says it: the monitor is all right, the disk is not."""

    def full(**_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(started.tempfile, "TemporaryDirectory", full)
    said = checked("--monitor-command", monitor).of("neuron-monitor")
    assert "no temporary file takes its configuration: No space left on device" == said["found"]
    assert "name a folder for it with TMPDIR" == said["advice"]


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
    changed = {
        "neuron-monitor": "not needed",
        "devices": "not needed",
        "input": "ok",
        "instance": "warning",
        # What comes through a pipe is of this machine.
        "attribution": "not needed" if given == "FILE" else "ok",
        "kernel log": "not needed" if given == "FILE" else "ok",
    }
    assert {**CHECKS, **changed} == found.states
    assert "which is not read by this check" in found.of("input")["found"]


def test_an_input_that_cannot_be_read_is_a_failure(checked, tmp_path):
    """A name that is wrong, and a folder."""
    missing = checked("--input", tmp_path / "missing").of("input")
    assert ("failed", "correct --input") == (missing["state"], missing["advice"])
    folder = checked("--input", tmp_path).of("input")
    assert ("failed", f"{tmp_path} is a folder") == (folder["state"], folder["found"])


@pytest.mark.slow
def test_the_simulated_monitor_answers(checked, repository, monkeypatch):
    """What the rehearsal starts in the place of the real one, as it is started there."""
    monkeypatch.setenv("NEURON_SIM_PYTHON", sys.executable)
    command = repository / "local" / "monitor" / "neuron-monitor"
    found = checked("--monitor-command", command, "--period", 1)
    assert ["ok"] * 4 == [
        found.states[check] for check in ("neuron-monitor", "devices", "cluster", "instance")
    ]
