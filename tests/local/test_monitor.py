"""
The simulated neuron-monitor: its moments, its command line, its processes, its reports.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.owners import saved_given, saved_owners
from local.monitor.hosts import HOST_NAMES
from local.monitor.instance import SCENARIOS, SimulatedInstance
from local.monitor.play import MINUTE_MS, live_moments
from local.monitor.processes import GONE, write_processes
from tests.local.report_shape import misfits, shape_of
from tests.local.simulated_reports import play


@given(st.integers(1, 60), st.integers(0, 10**12), st.floats(0, 1))
def test_no_report_is_written_near_a_full_minute(period_s, now_ms, chance):
    """0.8 s away, or half the step: periods that do not divide the minute walk over it in steps."""
    moments = [*islice(live_moments(1000 * period_s, lambda: now_ms, chance=chance), 200)]
    clear_ms = min(800, math.gcd(MINUTE_MS, 1000 * period_s) // 2)
    assert clear_ms <= min(min(at_ms % MINUTE_MS, -at_ms % MINUTE_MS) for at_ms in moments)


def test_missed_moments_are_left_out_and_the_phase_stays():
    """A reader that slept beyond one report gets the next report 10 s after the one before."""
    times = iter([1000, 1000, 13_000, 18_000])
    moments = live_moments(5000, lambda: next(times), chance=0.5)
    first, second, late, after = islice(moments, 4)
    assert (1000, 10_000, 5000) == (first, late - second, after - late)


@pytest.fixture
def start(repository, tmp_path):
    """Start it somewhere else than in the repository; whatever the test leaves is killed."""

    @contextmanager
    def starter(*arguments, **variables):
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with subprocess.Popen(
            [str(repository / "local" / "monitor" / "neuron-monitor"), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**kept, "NEURON_SIM_PYTHON": sys.executable, **variables},
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    return starter


def finish(process):
    """The rest of its output, its last words and its code."""
    output, words = process.communicate()
    return output, words.decode(), process.returncode


def test_the_emitter_s_command_line_is_enough(start, tmp_path):
    """-c FILE, of which the period counts; what to play comes from a variable."""
    config = tmp_path / "monitor.json"
    config.write_text('{"period": "7s"}')
    play = {"instance_type": "trn2.3xlarge", "scenario": "half-idle", "instance_id": "i-0cafe"}
    play |= {"reports": 3, "start_ms": 0}
    with start("-c", str(config), NEURON_SIM=json.dumps(play)) as process:
        output, words, code = finish(process)
    reports = [json.loads(line) for line in output.splitlines()]
    assert (3, "", 0) == (len(reports), words, code)
    identities = [one["instance_info"] for one in reports]
    assert {("i-0cafe", "trn2.3xlarge")} == {
        (one["instance_id"], one["instance_type"]) for one in identities
    }
    assert 7 == round(reports[1]["system_data"]["memory_info"]["period"])


@pytest.mark.proof
def test_a_signal_ends_it_cleanly(start):
    """In the middle of a long wait: code 0, no last words, whole lines."""
    with start('{"period_s": 60}') as process:
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert (b"", "", 0) == finish(process)


FOUR = SimulatedInstance("inf2.48xlarge", "multi-runtime", 5)
NAMES = ("slurm:4711 ml-user", "ecs:embeddings/api", "unit:jupyter-ada", "chat/llama-0/server")


def named(root, instance):
    """What the emitter calls the owners of the runtimes, in their order."""
    owner_of = saved_owners(root / "proc", lambda: 1000.0)
    owners = [owner_of(runtime.pid) for runtime in instance.runtimes]
    return tuple(owner and owner.name for owner in owners)


@pytest.mark.parametrize("names", [NAMES, ("process:python3 grace", "process:uvicorn ada") * 2])
def test_every_form_is_read_as_it_was_given(tmp_path, names):
    """By files alone, which are all that there is."""
    write_processes(tmp_path, FOUR, names)
    assert names == named(tmp_path, FOUR)


def test_who_is_gone_keeps_the_name_and_nothing_else(tmp_path):
    """The pod's folders and the job's control group are missing while both processes live."""
    write_processes(tmp_path, FOUR, tuple(f"{name}{GONE}" for name in NAMES))
    assert NAMES == named(tmp_path, FOUR)
    assert not (tmp_path / "sys" / "fs").exists()
    assert not (tmp_path / "var" / "log").exists()
    write_processes(tmp_path, FOUR, NAMES)
    for runtime in FOUR.runtimes:
        group = (tmp_path / f"proc/{runtime.pid}/cgroup").read_text("utf-8").strip()
        assert (tmp_path / f"sys/fs/cgroup{group.removeprefix('0::')}").is_dir()
    assert ["chat_llama-0_"] == [
        one.name[:13] for one in (tmp_path / "var" / "log" / "pods").iterdir()
    ]


def test_what_pods_were_given_is_read_as_it_was_given(tmp_path):
    """By the checkpoint alone; each has a process, so that none of them has ended."""
    pods = {"search/ranker-1/server": {18, 19}, "ml/trainer-0/main": {0}}
    given = [f"{pod}={','.join(map(str, cores))}" for pod, cores in pods.items()]
    write_processes(tmp_path, FOUR, ("chat/llama-0/server",) * 4, given)
    found = saved_given(tmp_path / "proc")
    assert pods == {one.name: set(one.cores) for one in found.allocations}
    assert all(one.is_verified for one in found.allocations)


@pytest.mark.parametrize("owners", [("unit:a",), ("slurm:x",) * 4])
def test_owners_that_do_not_fit_are_refused(tmp_path, owners):
    """Too few, or of no form; nothing is written."""
    with pytest.raises(ValueError, match=r"argument|unpack"):
        write_processes(tmp_path / "m", FOUR, owners)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_report_has_the_shape_of_a_captured_one(scenario):
    """Newest member names: effective_flops, no generic error; of every instance type."""
    for instance_type in HOST_NAMES:
        for line, _ in play(instance_type, scenario, reports=2):
            assert [] == misfits(shape_of(instance_type), json.loads(line)), instance_type
