"""Hardware faults through the reading loop and the spool, and through the emitter as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from operator import itemgetter

import pytest

from emitter.kernel.fault_events import MAX_EVENTS
from emitter.kernel.faults import KernelFaults
from emitter.spool import Spool, SpoolFailedError
from proof.emitter_process import environment, wait_until
from tests.emitter import loop_rig
from tests.emitter.emitter_command import COMMAND
from tests.emitter.kernel.kernel_logs import REAL, PlayedWatch, fault, message
from tests.emitter.loop_rig import Clock, Timetable, busy, chunk


class Talking(Timetable):
    """A timetable whose entries may also be things that the kernel says."""

    def read(self, timeout_s):
        """The next chunk, or what a call of it gives."""
        found = super().read(timeout_s)
        return (found() or b"") if callable(found) else found


@contextmanager
def spooled(clock):
    """A spool that lives as long as the machine."""
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        yield spool


def run(reader, timetable, until_s, **changes):
    """Run an emitter with *reader*; the members of its lines."""
    faults = KernelFaults(reader) if reader else None
    lines, _ = loop_rig.run(timetable, until_s, source=Talking, faults=faults, **changes)
    return [json.loads(line) for line in lines]


def lines_of(spool):
    """What waits in it, taken out."""
    taken = spool.oldest(10_000, 1 << 30)
    spool.settle([one.id for one in taken])
    return [json.loads(one.line) for one in taken]


def counts(lines):
    """The tally of each minute, None where it says nothing."""
    return [line.get("HardwareFaults") for line in lines if line["Kind"] == "minute"]


def events(lines):
    """The faults told one by one."""
    return [line for line in lines if line.get("Event") == "HardwareFault"]


@pytest.mark.parametrize(
    ("reader", "expected"),
    [(PlayedWatch(), [0, 0]), (PlayedWatch(is_reading=False), [None, None]), (None, [None, None])],
    ids=["read", "not-readable", "not-asked-for"],
)
def test_missing_is_not_zero(reader, expected):
    """Only where somebody reads the log is no fault a 0."""
    lines = run(reader, [(5, chunk(busy())), (65, chunk(busy()))], 70)
    assert expected == counts(lines)


def test_a_fault_is_told_at_once_and_counted_by_its_minute():
    """The event is there before the minute is over, with the identity of every line."""
    reader, clock = PlayedWatch(), Clock()
    told = []
    with spooled(clock) as spool:

        def look():
            told.extend(lines_of(spool))
            return b""

        timetable = [
            (5, chunk(busy())),
            (10, lambda: reader.say(fault(1, seq=1), message(2, seq=2))),
            (20, look),
            (65, lambda: reader.say(fault(3, seq=3), fault(4, seq=4))),
        ]
        lines = run(reader, timetable, 130, spool=spool, clock=clock)
    (event,) = told
    names = "Kind", "Event", "Fault", "Seq"
    assert ("event", "HardwareFault", "DMA_ERROR", 1) == itemgetter(*names)(event)
    assert [1, 2, 0] == counts(lines)
    assert 2 == len(events(lines))


def test_a_flood_is_ten_events_and_one_and_all_of_it_is_counted():
    """Over the whole minute, however often the loop looks."""
    reader = PlayedWatch()
    batches = [[fault(10 * n + i, seq=10 * n + i) for i in range(7)] for n in range(5)]
    timetable = [(5, chunk(busy()))]
    timetable += [(10 + n, lambda n=n: reader.say(*batches[n])) for n in range(5)]
    lines = run(reader, timetable, 70)
    assert [35, 0] == counts(lines)
    assert MAX_EVENTS + 1 == len(events(lines))
    assert 35 - MAX_EVENTS == events(lines)[-1]["Count"]


def test_a_minute_that_the_spool_refuses_counts_with_the_next_one():
    """Its faults are no part of the reports that are lost with it."""
    clock = Clock()
    reader = PlayedWatch()
    with spooled(clock) as spool:
        append, refused = spool.append, []

        def refuse(records, state=None):
            if '"Kind":"minute"' in records[0].line and not refused:
                refused.append(records)
                message = "no"
                raise SpoolFailedError(message)
            return append(records, state)

        spool.append = refuse
        timetable = [(5, chunk(busy())), (6, lambda: reader.say(fault(1, seq=1)))]
        timetable += [(65, chunk(busy()))]
        lines = run(reader, timetable, 70, spool=spool, clock=clock)
    assert 1 == len(refused)
    assert [1] == counts(lines)


MONITOR = """
    #!{python}
    import sys, time
    report = open({reports!r}).read()
    for _ in range(3):
        print(report, flush=True)
        time.sleep(0.05)
    time.sleep(60)
"""


@pytest.fixture
def command(tmp_path):
    """How the emitter is started: a monitor that reports, and a file in the place of the ring."""
    reports = tmp_path / "reports"
    reports.write_bytes(chunk(busy()))
    monitor = tmp_path / "monitor"
    text = MONITOR.format(python=sys.executable, reports=str(reports))
    monitor.write_text(textwrap.dedent(text).lstrip(), "utf-8")
    monitor.chmod(0o755)
    return [
        *(*COMMAND, "run", "--cluster", "blue", "--input", "monitor", "--output", "stdout"),
        *("--monitor-command", str(monitor), "--spool-dir", str(tmp_path / "spool")),
        *("--kernel-messages", f"file:{tmp_path / 'kmsg'}", "--spread-seconds", "0"),
    ]


@contextmanager
def started(command, home, lines):
    """The emitter as a process; its lines go into *lines*, a file."""
    with lines.open("ab") as output:
        process = subprocess.Popen(
            command,
            env=environment(home),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


@pytest.mark.proof
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
def test_a_killed_emitter_loses_no_fault_and_tells_none_twice(command, tmp_path):
    """With kill -9 right after the event; the next run counts what the killed one had told."""
    ring, lines = tmp_path / "kmsg", tmp_path / "lines"
    since_boot_us = int(1e6 * time.monotonic())

    def say(seq):
        with ring.open("ab") as log:
            log.write(f"4,{seq},{since_boot_us + seq},-;{REAL}\n".encode())

    def told():
        return [
            json.loads(line) for line in lines.read_text("utf-8").rpartition("\n")[0].splitlines()
        ]

    lines.touch()
    say(1)
    with started(command, tmp_path, lines) as process:
        wait_until(lambda: len(events(told())) == 1)
        process.send_signal(signal.SIGKILL)
        process.wait(5)
    say(2)
    with started(command, tmp_path, lines) as process:
        wait_until(lambda: len(events(told())) == 2)
        process.send_signal(signal.SIGTERM)
        assert 0 == process.wait(15)
    found = {(line["Boot"], line["Seq"]): line for line in told()}.values()
    assert 2 == len(events(found))
    assert 2 == sum(count or 0 for count in counts(found))
