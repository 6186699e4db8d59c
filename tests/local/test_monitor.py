"""The simulated neuron-monitor: its report times, command line, processes and reports."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.monitor.owner_processes import write_processes
from local.monitor.play import live_moments
from local.monitor.report_writer import ReportWriter
from local.monitor.simulated_instance import SimulatedInstance
from neuron_emitter.owners.lookup import saved_owners
from neuron_emitter.owners.reservations import saved_reservations
from neuron_wire.names import MINUTE_MS


@given(st.integers(1, 60), st.integers(0, 10**12), st.floats(0, 1))
def test_no_report_is_written_near_a_full_minute(period_s, now_ms, chance):
    """
    No report is written within 0.8 s of a full minute, or within half a step for periods that do
    not divide it.
    """
    moments = [*islice(live_moments(1000 * period_s, lambda: now_ms, chance=chance), 200)]
    clear_ms = min(800, math.gcd(MINUTE_MS, 1000 * period_s) // 2)
    assert clear_ms <= min(min(at_ms % MINUTE_MS, -at_ms % MINUTE_MS) for at_ms in moments)


def test_missed_moments_are_left_out_and_the_phase_stays():
    """
    After a slow reader, missed reports are omitted, and the next report keeps the phase of 10 s.
    """
    times = iter([1000, 1000, 13_000, 18_000])
    moments = live_moments(5000, lambda: next(times), chance=0.5)
    first, second, late, after = islice(moments, 4)
    assert 1000 == first
    assert 10_000 == late - second
    assert 5000 == after - late


@contextmanager
def started(repository, folder, *arguments, **variables):
    """
    Yield a function that starts the simulator in *folder*; the simulator is killed after the test.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        [str(repository / "local" / "monitor" / "neuron-monitor"), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**kept, "NEURON_SIM_PYTHON": sys.executable, **variables},
    ) as process:
        yield process
        process.kill()


def test_the_emitters_command_line_is_enough(repository, tmp_path):
    """The simulator takes the period from -c FILE and the scenario from a variable."""
    config = tmp_path / "monitor.json"
    config.write_text('{"period": "7s"}')
    play = {"instance_type": "trn2.3xlarge", "scenario": "half-idle", "instance_id": "i-0cafe"}
    text = json.dumps({**play, "reports": 3, "start_ms": 0})
    with started(repository, tmp_path, "-c", str(config), NEURON_SIM=text) as process:
        output, words = process.communicate()
    reports = [json.loads(line) for line in output.splitlines()]
    assert 3 == len(reports)
    assert b"" == words
    assert 0 == process.returncode
    identity = reports[2]["instance_info"]
    assert "i-0cafe" == identity["instance_id"]
    assert "trn2.3xlarge" == identity["instance_type"]
    assert 7 == round(reports[1]["system_data"]["memory_info"]["period"])


FOUR_RUNTIMES = SimulatedInstance("inf2.48xlarge", "multi-runtime", 5)
OWNER_FORMS = (
    "slurm:4711 ml-user",
    "ecs:embeddings/api",
    "unit:jupyter-ada",
    "chat/llama-0/server",
)


def named(root, instance):
    """Return the emitter's names of the runtimes' owners, in order."""
    lookup = saved_owners(root / "proc", lambda: 1000.0)
    owners = [lookup.owner_of(runtime.pid) for runtime in instance.runtimes]
    return tuple(owner and owner.name for owner in owners)


@pytest.mark.parametrize(
    "names", [OWNER_FORMS, ("process:python3 grace", "process:uvicorn ada") * 2]
)
def test_every_form_is_read_as_it_was_given(tmp_path, names):
    """The emitter reads owners of every form from files alone."""
    write_processes(tmp_path, FOUR_RUNTIMES, names)
    assert names == named(tmp_path, FOUR_RUNTIMES)


def test_assignments_of_pods_are_read_as_written(tmp_path):
    """
    Pods are read from the checkpoint alone; each pod has a process, so none of them has ended.
    """
    pods = {"search/ranker-1/server": {18, 19}, "ml/trainer-0/main": {0}}
    given = [f"{pod}={','.join(map(str, cores))}" for pod, cores in pods.items()]
    write_processes(tmp_path, FOUR_RUNTIMES, ("chat/llama-0/server",) * 4, given)
    assignments = saved_reservations(tmp_path / "proc").current_assignments()
    assert pods == {pod.name: set(pod.cores) for pod in assignments.allocations}
    assert all(pod.is_verified for pod in assignments.allocations)


def shape_of(value):
    """Return the members of a report and their types: one element per list, digits as `#`."""
    if isinstance(value, dict):
        names = {name: re.sub(r"^(sg_|nc_v3\.)?[0-9]+$", r"\1#", name) for name in sorted(value)}
        return {shown: shape_of(value[name]) for name, shown in names.items()}
    if isinstance(value, list):
        return [shape_of(item) for item in value[:1]]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


SHAPED_TYPES = ("inf1.xlarge", "inf2.xlarge", "trn1.32xlarge", "trn2.48xlarge", "trn2u.48xlarge")


def test_a_report_has_the_members_of_a_captured_one(golden, repository):
    """
    A simulated report has the members of reports captured on inf1, inf2 and trn1, and of the user
    guide's trn2 example.
    """
    shapes = {}
    for instance_type in SHAPED_TYPES:
        writer = ReportWriter(SimulatedInstance(instance_type, "busy", 1), 5)
        reports = [writer.write_report(5000 * number)[0] for number in range(2)]
        shapes[instance_type.partition(".")[0]] = shape_of(json.loads(reports[1]))
    golden(repository / "tests/data/report_shapes.json", json.dumps(shapes, indent=1) + "\n")
