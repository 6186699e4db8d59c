"""
The running emitter: minutes on time, numbers without gaps, and nothing lost over a restart.

Time is a number that the source moves: an hour of it takes milliseconds.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from emitter_process import (
    COMMAND,
    bytes_in,
    catches_sigterm,
    environment,
    neuron_emf,
    sentence,
    wait_until,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import (
    INSTANCE_ID,
    START_S,
    counters,
    hardware,
    hardware_counters,
    host_memory,
    instance,
    report,
    runtime,
    written,
)

from emitter import service
from emitter.errors import SourceError
from emitter.service import IDENTITY_PATIENCE_S, READ_WITHIN_S, Emitter
from emitter.settings import RunSettings
from emitter.spool import Spool, SpoolFailedError
from neuron_wire import MinuteRecord, WireFormatError, parse
from neuron_wire.emf import violations

MINUTE_MS = 60_000
START_MS = int(START_S * 1000)


class Clock:
    """
    The wall clock of a test.
    """

    def __init__(self):
        self.now_s = START_S

    def __call__(self):
        return self.now_s


class Timetable:
    """
    A source that gives its chunks at their times, and moves the clock as waiting would.

    After the last one it is silent until *until_s*, and then the stop is asked for.
    """

    name = "the timetable"

    def __init__(self, clock, chunks=(), until_s=None):
        self.restarts = 0
        self.clock = clock
        self.chunks = sorted(chunks, key=lambda one: one[0])
        self.until_s = until_s
        self.has_ended = False

    def read(self, timeout_s):
        """
        The next chunk if it comes in time.
        """
        assert 0 <= timeout_s <= READ_WITHIN_S
        wait_until_s = self.clock.now_s + timeout_s
        if self.chunks and START_S + self.chunks[0][0] <= wait_until_s:
            at_s, chunk = self.chunks.pop(0)
            self.clock.now_s = max(self.clock.now_s, START_S + at_s)
            self.has_ended = chunk is None
            return chunk
        self.clock.now_s = wait_until_s
        return b""

    def is_over(self):
        """
        Whether the test has seen enough; nobody asks an input to stop that has ended by itself.
        """
        return not (self.chunks or self.has_ended) and (
            self.until_s is None or self.clock.now_s >= START_S + self.until_s
        )

    def close(self):
        """
        Nothing to let go of.
        """


class Outlet:
    """
    Where records would go: when it was told of them, for which instance, and how it ended.
    """

    def __init__(self, clock=None):
        self.clock = clock
        self.told = []
        self.ended = None

    def send(self, instance_id):
        """
        Records were appended.
        """
        self.told.append((None if self.clock is None else self.clock.now_s, instance_id))

    def require_reader(self):
        """
        There is always one.
        """

    def stop(self):
        """
        A planned stop.
        """
        self.ended = "stop"

    def finish(self, instance_id):
        """
        The end of the input.
        """
        self.ended = f"finish {instance_id}"


def chunk(*documents):
    """
    Reports as they come out of a pipe.
    """
    return b"".join(written(one) + b"\n" for one in documents)


def busy(percent=50.0, **members):
    """
    One runtime on four cores, period 5 s.
    """
    return report(runtime(counters([percent, 0, 0, 0])), **members)


def run(chunks=(), until_s=None, *, spool=None, clock=None, ended=False, **changes):
    """
    Run an emitter over a timetable to its planned stop; its lines, and what it ran with.
    """
    clock = clock or Clock()
    source = Timetable(clock, chunks, until_s)
    outlet = Outlet(clock)
    own = spool is None
    spool = Spool.open(None, clock=clock, max_age_s=None) if own else spool
    try:
        chosen = RunSettings(cluster="blue", spread_seconds=0, **changes)
        emitter = Emitter(chosen, "blue", source, spool, outlet, clock=clock)
        assert ended == emitter.read_until(source.is_over)
        emitter.finish(input_ended=ended)
        taken = spool.oldest(10_000, 1 << 30)
        spool.delivered([one.id for one in taken])
        return [one.line for one in taken], outlet
    finally:
        if own:
            spool.close()


def records(*arguments, **options):
    """
    The minute records of a run.
    """
    lines, _ = run(*arguments, **options)
    found = [parse(line) for line in lines]
    return [one for one in found if isinstance(one, MinuteRecord)]


def test_reports_of_a_minute_are_one_line():
    """
    Twelve reports, one record: on time, with what they said and what they cost.
    """
    lines, outlet = run([(5 * place + 1, chunk(busy())) for place in range(12)], 60.4)
    assert 2 == len(lines)
    first, last = (parse(line) for line in lines)
    assert (12, 60.0, "baaa", 1, START_MS) == (
        first.reports,
        first.covered_seconds,
        first.core_state,
        first.seq,
        first.minute_ms,
    )
    assert ([], []) == (violations(lines[0]), violations(lines[1]))
    assert (0, True) == (last.reports, last.bye)
    members = json.loads(lines[0])
    expected = {
        "ReportsRead": 12,
        "ReportsMalformed": 0,
        "MonitorRestarts": 0,
        "RecordsProduced": 0,
        "SpoolRecords": 0,
    }
    assert expected == {name: members[name] for name in expected}
    assert {"EmitterCpuSeconds", "EmitterMemory"} < members.keys()
    assert 1 == json.loads(lines[1])["RecordsProduced"]
    assert "stop" == outlet.ended


def test_minutes_close_on_time_without_reports():
    """
    A monitor that hangs does not hold a minute open: its cores are unknown, from then on.
    """
    lines, outlet = run([(1, chunk(busy()))], 299.5)
    found = [parse(line) for line in lines]
    assert ["baaa", "????", "????", "????", "????"] == [one.core_state for one in found]
    assert [START_MS + place * MINUTE_MS for place in range(5)] == [one.minute_ms for one in found]
    assert [0, 0, 0, 0] == [one.reports for one in found[1:]]
    ends_s = [START_S + 60 * (place + 1) for place in range(4)]
    late_s = [told_s - end_s for (told_s, _), end_s in zip(outlet.told, ends_s, strict=False)]
    assert all(0 <= one <= READ_WITHIN_S for one in late_s)
    assert [INSTANCE_ID] * len(outlet.told) == [instance_id for _, instance_id in outlet.told]


def test_only_the_last_line_of_a_planned_stop_says_goodbye():
    """
    An instance that said it is gone, not silent.
    """
    found = records([(1, chunk(busy()))], 150)
    assert [False, False, True] == [one.bye for one in found]


def test_the_end_of_the_input_is_a_planned_stop():
    """
    What came without a line end is read too; then everything is sent.
    """
    document = chunk(busy()).rstrip(b"\n")
    lines, outlet = run([(1, document), (2, None)], ended=True)
    (record,) = [parse(line) for line in lines]
    assert (1, True) == (record.reports, record.bye)
    assert f"finish {INSTANCE_ID}" == outlet.ended


def test_an_input_that_ends_because_of_the_stop_is_no_end():
    """
    Ctrl-C reaches the monitor in the pipe too, and its end may be seen first.
    """
    clock = Clock()
    asked = []

    class Both(Timetable):
        def read(self, timeout_s):
            found = super().read(timeout_s)
            asked.extend([True] * (found is None))
            return found

    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Both(clock, [(1, chunk(busy())), (2, None)])
        emitter = Emitter(RunSettings(), "blue", source, spool, Outlet(), clock=clock)
        assert not emitter.read_until(lambda: bool(asked))


@pytest.mark.parametrize("chunks", [[(1, None)], [(1, b"junk\n"), (2, None)]])
def test_an_input_without_a_report_is_a_source_that_failed(chunks):
    """
    No record is made of it, with or without junk.
    """
    with pytest.raises(SourceError, match="the timetable was expected to hold"):
        run(chunks, ended=True)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 900), st.sampled_from([1, 4, 128])), max_size=20),
    st.integers(0, 1000),
)
def test_numbers_have_no_gap_and_minutes_no_hole(arrivals, until_s):
    """
    Whenever reports come: Seq from 1 over all lines, one minute line per minute, none twice.
    """
    chunks = [
        (
            at_s,
            chunk(
                report(runtime(counters([50.0] * cores)), neuron_hardware_info=hardware(1, cores))
            ),
        )
        for at_s, cores in arrivals
    ]
    lines, _ = run(chunks, until_s, instance_id="i-told")
    found = [json.loads(line) for line in lines]
    assert [*range(1, len(found) + 1)] == [one["Seq"] for one in found]
    assert 1 == len({one["Boot"] for one in found})
    minutes = [parse(line) for line in lines if '"Kind":"minute"' in line]
    first_ms = minutes[0].minute_ms
    assert [first_ms + place * MINUTE_MS for place in range(len(minutes))] == [
        one.minute_ms for one in minutes
    ]
    assert len(arrivals) == sum(one.reports for one in minutes)


def test_nothing_is_recorded_before_anybody_knows_the_instance():
    """
    A guess that is corrected later would leave an instance behind that never existed.
    """
    assert [] == records(until_s=IDENTITY_PATIENCE_S - 1)
    found = records([(250, chunk(busy()))], 299)
    assert [INSTANCE_ID] == [one.instance_id for one in found]
    assert [(4 * MINUTE_MS + START_MS, 1)] == [(one.minute_ms, one.seq) for one in found]


def test_patience_ends_after_five_minutes():
    """
    Then an instance without a report is better than none: under a guessed name, and marked.
    """
    assert 300.0 == IDENTITY_PATIENCE_S
    found = records(until_s=600)
    assert found[0].minute_ms == START_MS + 5 * MINUTE_MS
    assert all(one.identity_guessed and one.instance_id.startswith("host-") for one in found)
    assert {None} == {one.neuron_cores for one in found}


def test_a_name_that_was_told_needs_no_patience():
    """
    --instance-id holds from the first minute, unmarked, until a report knows better.
    """
    found = records([(70, chunk(busy()))], 119, instance_id="i-told")
    assert ["i-told", INSTANCE_ID] == [one.instance_id for one in found]
    assert [False, False] == [one.identity_guessed for one in found]


def test_reports_that_name_no_instance_are_recorded_under_a_guess():
    """
    No metadata within reach of a pod: what the cores do is worth more than the name.
    """
    nameless = busy(instance_info=instance(instance_id=""))
    found = records([(1, chunk(nameless)), (61, chunk(busy()))], 119)
    assert [True, False] == [one.identity_guessed for one in found]
    assert ["baaa", "baaa"] == [one.core_state for one in found]
    assert INSTANCE_ID == found[1].instance_id


def test_state_goes_from_boot_to_boot(tmp_path):
    """
    Idle minutes go on counting, memory errors rise from what was last read, the name is known.
    """

    def said(percent, corrected):
        return busy(
            percent,
            system_data={
                "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": corrected}),
                "memory_info": host_memory(),
            },
        )

    clock = Clock()
    reports = [(5 * place + 1, chunk(said(0.0, 5))) for place in range(24)]
    with Spool.open(tmp_path, clock=clock, max_age_s=None) as spool:
        first = records(reports, 119, spool=spool, clock=clock)
    later = [(120 + 5 * place + 1, chunk(said(0.0, 8))) for place in range(12)]
    with Spool.open(tmp_path, clock=clock, max_age_s=None) as spool:
        second = records(later, 181, spool=spool, clock=clock)
    with Spool.open(tmp_path, clock=clock, max_age_s=None) as spool:
        third = records(until_s=241, spool=spool, clock=clock)
    assert [(1, 1, 1, 1), (2, 2, 2, 2)] == [one.idle_minutes for one in first]
    # The rest of the second minute, then the third: what is partial neither adds nor resets.
    assert [(2, 2, 2, 2), (3, 3, 3, 3)] == [one.idle_minutes for one in second[:2]]
    assert [0, 0, 3] == [one.ecc_corrected_rise for one in (*first, second[1])]
    assert first[0].boot < second[0].boot < third[0].boot
    assert [1, 1, 1] == [found[0].seq for found in (first, second, third)]
    # No report in this boot, and still nobody had to guess.
    assert (INSTANCE_ID, False, "????") == (
        third[0].instance_id,
        third[0].identity_guessed,
        third[0].core_state,
    )


def test_what_the_last_run_left_is_sent_at_once(tmp_path):
    """
    Not after the first new minute.
    """
    clock = Clock()
    with Spool.open(tmp_path, clock=clock, max_age_s=None) as spool:
        source = Timetable(clock, [(1, chunk(busy()))])
        emitter = Emitter(RunSettings(), "blue", source, spool, Outlet(), clock=clock)
        emitter.read_until(source.is_over)
        emitter.finish(input_ended=False)
    with Spool.open(tmp_path, clock=clock, max_age_s=None) as spool:
        outlet = Outlet()
        Emitter(RunSettings(), "blue", Timetable(clock), spool, outlet, clock=clock)
        assert [(None, INSTANCE_ID)] == outlet.told


class Steps(Timetable):
    """
    A timetable whose clock is set by somebody else at given moments: (at_s, by_s).
    """

    def __init__(self, clock, chunks, until_s, steps):
        super().__init__(clock, chunks, until_s)
        self.steps = list(steps)

    def read(self, timeout_s):
        """
        As before, and then the clock may have jumped.
        """
        found = super().read(timeout_s)
        if self.steps and self.clock.now_s >= START_S + self.steps[0][0]:
            self.clock.now_s += self.steps.pop(0)[1]
        return found


def stepped(chunks, until_s, *steps):
    """
    The minute records of an emitter whose clock is set.
    """
    clock = Clock()
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Steps(clock, chunks, until_s, steps)
        chosen = RunSettings(cluster="blue")
        emitter = Emitter(chosen, "blue", source, spool, Outlet(), clock=clock)
        emitter.read_until(source.is_over)
        emitter.finish(input_ended=False)
        return [parse(one.line) for one in spool.oldest(1000, 1 << 30)]


def test_a_minute_never_reopens_after_a_backward_step():
    """
    Reports go to the open minute until the clock passes it: every minute has one line.
    """
    chunks = [(at_s, chunk(busy())) for at_s in (1, 61, 90, 100, 130)]
    found = stepped(chunks, 200, (70, -45))
    assert sorted({one.minute_ms for one in found}) == [one.minute_ms for one in found]
    assert 5 == sum(one.reports for one in found)
    assert [*range(1, len(found) + 1)] == [one.seq for one in found]


def test_a_forward_step_closes_the_minute_and_goes_on_in_the_new_one():
    """
    An instance that was suspended has nothing to say of the time between.
    """
    chunks = [(1, chunk(busy())), (3700, chunk(busy()))]
    found = stepped(chunks, 3719, (10, 3600))
    assert [START_MS, START_MS + 60 * MINUTE_MS, START_MS + 61 * MINUTE_MS] == [
        one.minute_ms for one in found
    ]
    assert [1, 0, 1] == [one.reports for one in found]


def test_a_clock_that_was_years_ahead_is_followed_back():
    """
    Waiting for it to pass again would be silence for years.
    """
    chunks = [(1, chunk(busy())), (30, chunk(busy()))]
    found = stepped(chunks, 119, (2, 10**8), (10**8, -(10**8)))
    assert START_MS in [one.minute_ms for one in found]
    assert found[-1].minute_ms <= START_MS + 2 * MINUTE_MS
    assert 2 == sum(one.reports for one in found)


@pytest.mark.parametrize("error", [SpoolFailedError("the disk is full"),
                                   WireFormatError("not_extractable", "a bug")])  # fmt: skip
def test_a_minute_that_cannot_be_kept_costs_itself_only(error, monkeypatch, caplog):
    """
    A full disk, or a bug in the line: said, counted in the next line, and the reading goes on.
    """
    made = service.lines
    failures = [error]

    def failing(record, tier):
        if failures:
            raise failures.pop()
        return made(record, tier)

    monkeypatch.setattr(service, "lines", failing)
    lines, _ = run([(1, chunk(busy())), (61, chunk(busy())), (121, chunk(busy()))], 125)
    found = [json.loads(line) for line in lines]
    assert [1, 2] == [one["Seq"] for one in found]
    assert [1, 1] == [one["MinutesDropped"] for one in found]
    assert [START_MS + MINUTE_MS, START_MS + 2 * MINUTE_MS] == [
        one["_aws"]["Timestamp"] for one in found
    ]
    (said,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert ("minutes dropped", 1, str(error)) == (said.getMessage(), said.count, said.why)


def test_the_last_minute_of_an_input_that_cannot_be_kept_is_a_failure(monkeypatch):
    """
    Nobody runs on who could say it in the next line.
    """
    failure = SpoolFailedError("the disk is full")

    def failing(_record, _tier):
        raise failure

    monkeypatch.setattr(service, "lines", failing)
    with pytest.raises(SpoolFailedError):
        run([(1, chunk(busy())), (2, None)], ended=True)


def test_junk_between_reports_is_said_once_in_ten_seconds(caplog):
    """
    Counted in every line, said seldom.
    """
    chunks = [(1, chunk(busy())), *((2 + place / 10, b"junk\n") for place in range(50))]
    lines, _ = run(chunks, 30)
    assert 50 == json.loads(lines[0])["ReportsMalformed"]
    assert ["1 piece(s) of input were dropped"] == [
        one.getMessage().partition(":")[0] for one in caplog.records
    ]


def test_a_monitor_that_writes_junk_only_is_said_though_it_never_ends(caplog):
    """
    With a file the end says it; a running monitor has no end to wait for.
    """
    run([(place / 2, b"junk\n") for place in range(60)], 30)
    assert any("pieces" in one.getMessage() or "piece(s)" in one.getMessage()
               for one in caplog.records)  # fmt: skip


def test_restarts_of_the_monitor_are_in_the_line():
    """
    As of when the minute closed.
    """
    clock = Clock()
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Timetable(clock, [(1, chunk(busy()))])
        emitter = Emitter(RunSettings(), "blue", source, spool, Outlet(), clock=clock)
        emitter.read_until(source.is_over)
        source.restarts = 3
        emitter.finish(input_ended=False)
        (record,) = spool.oldest(10, 1 << 20)
    assert 3 == json.loads(record.line)["MonitorRestarts"]


@pytest.mark.parametrize(
    ("source", "interval", "expected"),
    [("monitor", None, 1.0), ("monitor", 15.0, 1.0), ("-", 15.0, 15.0), ("-", None, None)],
)
def test_the_nominal_period_is_the_monitors_or_the_inputs(source, interval, expected):
    """
    --period is asked of a monitor we start; --interval says what another one does.
    """
    clock = Clock()
    chosen = RunSettings(input=source, period=1, interval=interval)
    with Spool.open(None) as spool:
        emitter = Emitter(chosen, "blue", Timetable(clock), spool, Outlet(), clock=clock)
    assert expected == emitter._fold._settings.period_s


@pytest.mark.parametrize(
    ("changes", "system", "variables", "expected"),
    [
        ({"spool_dir": Path("/given")}, True, {}, "/given"),
        ({"spool_dir": Path("/given"), "output": "stdout"}, True, {}, "/given"),
        ({"output": "stdout"}, True, {}, None),
        ({}, True, {}, "SYSTEM"),
        ({}, False, {"XDG_STATE_HOME": "/state"}, "/state/neuron-emf"),
        ({}, False, {"HOME": "/home/x"}, "/home/x/.local/state/neuron-emf"),
        ({}, False, {"HOME": "/home/x", "XDG_STATE_HOME": ""}, "/home/x/.local/state/neuron-emf"),
    ],
)
def test_the_spool_is_where_it_is_said_to_be(changes, system, variables, *, expected,
                                             tmp_path, monkeypatch):  # fmt: skip
    """
    As given, else the system's where it is writable, else the user's; memory for stdout.
    """
    place = tmp_path / "var" / "neuron-emf" if system else Path("/proc/no-such/neuron-emf")
    place.parent.mkdir(parents=True, exist_ok=True) if system else None
    monkeypatch.setattr(service, "SYSTEM_SPOOL", place)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = service._spool_directory(RunSettings(**changes))
    expected = str(place) if expected == "SYSTEM" else expected
    assert expected == (None if found is None else str(found))


@pytest.fixture
def monitor(tmp_path):
    """
    A fake neuron-monitor that says its pid on standard error, then one report, then nothing.
    """
    path = tmp_path / "fake-monitor"
    path.write_text(
        f"#!{sys.executable} -S\n"
        + textwrap.dedent(f"""
            import os, time
            with open({str(tmp_path / "pid")!r} + ".new", "w") as file:
                file.write(str(os.getpid()))
            os.write(1, {chunk(busy())!r})
            os.rename({str(tmp_path / "pid")!r} + ".new", {str(tmp_path / "pid")!r})
            time.sleep(60)
        """)
    )
    path.chmod(0o755)
    return path


def alive(pid):
    """
    Whether a process is there.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_child_and_says_goodbye(number, monitor, tmp_path):
    """
    Exit code 0, the open minute closed with Bye, neuron-monitor gone, no file left behind.
    """
    arguments = ["run", "--cluster", "blue", "--output", "stdout", "--monitor-command", monitor]
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, TMPDIR=str(tmp_path)),
    )
    wait_until((tmp_path / "pid").exists)
    child = int((tmp_path / "pid").read_text())
    # Its output is a pipe that only the emitter can look into: give it the time to read.
    wait_until(lambda: reads_nothing(process.pid, child))
    process.send_signal(number)
    printed, said = process.communicate(timeout=9)
    assert (0, b"") == (process.returncode, said)
    found = [parse(line) for line in printed.decode().splitlines()]
    assert (True, 1, INSTANCE_ID) == (
        found[-1].bye,
        sum(one.reports for one in found),
        found[-1].instance_id,
    )
    assert not alive(child)
    assert [] == list(tmp_path.glob("neuron-emf-*"))


def reads_nothing(emitter, child):
    """
    Whether the pipe between the two is empty again.
    """
    target = os.readlink(f"/proc/{child}/fd/1")  # noqa: PTH115 a link to no path
    for entry in Path(f"/proc/{emitter}/fd").iterdir():
        if os.readlink(entry) == target:  # noqa: PTH115
            with entry.open("rb") as pipe:
                return not bytes_in(pipe)
    return False


def test_a_planned_stop_keeps_what_cannot_be_sent(tmp_path):
    """
    Exit code 0, one warning that says where the record is; it is sent by the next run.
    """
    spool = tmp_path / "spool"
    arguments = ["run", "--cluster", "blue", "--input", "-", "--spool-dir", str(spool)]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, AWS_DEFAULT_REGION="us-east-1"),
    )
    wait_until(lambda: catches_sigterm(process.pid))
    process.stdin.write(chunk(busy()))
    process.stdin.flush()
    wait_until(lambda: not bytes_in(process.stdin))
    process.terminate()
    _, said = process.communicate(timeout=9)
    assert 0 == process.returncode
    (line,) = said.decode().splitlines()
    assert f"neuron-emf: warning: 1 record(s) were not delivered and are kept in {spool}" in line
    with Spool.open(spool) as left:
        (record,) = left.oldest(10, 1 << 20)
    assert parse(record.line).bye


def test_two_emitters_do_not_share_a_spool(tmp_path):
    """
    The second says who is there, and what to do; a supervisor may try it again.
    """
    reports = tmp_path / "reports"
    reports.write_bytes(chunk(busy()))
    with Spool.open(tmp_path / "spool"):
        ended = neuron_emf(
            *("run", "--cluster", "blue", "--input", reports, "--spool-dir", "spool"),
            home=tmp_path,
        )
    assert "held by process" in sentence(ended, 3)


def test_an_input_that_ends_early_leaves_older_records_alone(tmp_path):
    """
    An empty input beside an old spool: one sentence about the input, and the records stay.
    """
    with Spool.open(tmp_path / "spool") as spool:
        source = Timetable(Clock(), [(1, chunk(busy()))])
        emitter = Emitter(RunSettings(), "blue", source, spool, Outlet())
        emitter.read_until(source.is_over)
        emitter.finish(input_ended=False)
    ended = neuron_emf(
        *("run", "--cluster", "blue", "--input", "-", "--spool-dir", "spool"),
        home=tmp_path,
        variables={"AWS_DEFAULT_REGION": "us-east-1"},
    )
    assert 3 == ended.returncode
    *warnings, last = ended.stderr.splitlines()
    assert "standard input was expected to hold neuron-monitor reports" in last
    assert all("kept in spool" in line for line in warnings)
    assert "Traceback" not in ended.stderr
    with Spool.open(tmp_path / "spool") as spool:
        assert 1 == spool.health().older_records
