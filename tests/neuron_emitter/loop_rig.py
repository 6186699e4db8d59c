"""The reading loop with a simulated clock, which the source of reports moves."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from neuron_emitter.run.conductor import fold_settings_of
from neuron_emitter.run.identification import LocalSources
from neuron_emitter.run.loop import REPORT_READ_TIMEOUT_S, Emitter
from neuron_emitter.settings import RunSettings
from neuron_emitter.spool import Spool
from neuron_wire import MinuteRecord, parse
from tests.neuron_emitter.neuron_reports import REPORTS_START_S, counters, report, runtime, written
from tests.neuron_emitter.spool_parts import SpoolClock

LOOP_START_MS = int(REPORTS_START_S * 1000)


class FakeClock(SpoolClock):
    """A clock that starts at the first report."""

    def __init__(self):
        super().__init__(REPORTS_START_S)


class Timetable:
    """
    A source that returns chunks at set times, and moves the clock instead of waiting.

    After the last chunk it returns nothing until *until_s*, and then the stop is requested.
    """

    name = "the timetable"
    is_stream = False

    def __init__(self, clock, chunks=(), until_s=None):
        self.restarts = 0
        self.clock = clock
        self.chunks = sorted(chunks, key=lambda arrival: arrival[0])
        self.until_s = until_s
        self.has_ended = False

    def read_chunk(self, timeout_s):
        """Return the next chunk if it comes in time."""
        assert 0 <= timeout_s <= REPORT_READ_TIMEOUT_S
        wait_until_s = self.clock.now_s + timeout_s
        if self.chunks and REPORTS_START_S + self.chunks[0][0] <= wait_until_s:
            at_s, chunk = self.chunks.pop(0)
            self.clock.now_s = max(self.clock.now_s, REPORTS_START_S + at_s)
            self.has_ended = chunk is None
            return chunk
        self.clock.now_s = wait_until_s
        return b""

    def is_over(self):
        """Return True if the stop is due. An input that ended by itself is not stopped."""
        return not (self.chunks or self.has_ended) and (
            self.until_s is None or self.clock.now_s >= REPORTS_START_S + self.until_s
        )

    def close(self):
        """Do nothing: the source holds no resources."""


class FakeOutlet:
    """An outlet that notes the time and instance of each send, and how the emitter ended."""

    def __init__(self, clock=None):
        self.clock = clock
        self.sent = []
        self.ended = None

    def send_records(self, instance_id):
        """Note that records were appended."""
        self.sent.append((None if self.clock is None else self.clock.now_s, instance_id))

    def require_reader(self):
        """Do nothing: standard output always has a reader."""

    def stop_sending(self):
        """Note a planned stop."""
        self.ended = "stop"

    def finish_sending(self, instance_id, failure=None):
        """Note the end of the input."""
        self.ended = f"finish {instance_id}"
        if failure is not None:
            raise failure


def chunk(*documents):
    """Return reports as lines of a pipe."""
    return b"".join(written(document) + b"\n" for document in documents)


def busy(percent=50.0, **members):
    """Return a report of one runtime on four cores, period 5 s."""
    return report(runtime(counters([percent, 0, 0, 0])), **members)


def settings_of(**changes):
    """Return settings for a test, without runtime lines unless *changes* have them."""
    return RunSettings(**{"cluster": "blue", "runtime_lines": "none", **changes})


LOCAL = {"events", "facts", "faults", "owners", "reservations"}


def emitter_of(source, spool, outlet=None, *, clock, **changes):
    """
    Return an emitter over *source* and *spool*.

    *changes* are settings, a page, or the sources in LOCAL.
    """
    page = changes.pop("page", None)
    given = {name: changes.pop(name) for name in LOCAL & changes.keys()}
    local = LocalSources(**{name: part for name, part in given.items() if part is not None})
    chosen = settings_of(**changes)
    period_s = chosen.interval or chosen.period
    fold_settings = replace(fold_settings_of(chosen), period_s=period_s, paid=chosen.paid)
    parts: tuple[Any, ...] = (chosen, source, spool, outlet or FakeOutlet(), fold_settings)
    return Emitter(*parts, local=local, page=page, clock=clock)


def run(
    chunks=(), until_s=None, *, spool=None, clock=None, ended=False, source=Timetable, **changes
):
    """Run an emitter to its planned stop; return its lines and its outlet."""
    clock = clock or FakeClock()
    table = source(clock, chunks, until_s)
    outlet = FakeOutlet(clock)
    own = Spool(None, clock=clock, max_age_s=1e12) if spool is None else nullcontext(spool)
    with own as opened:
        emitter = emitter_of(table, opened, outlet, clock=clock, **changes)
        assert ended == emitter.read_until(table.is_over)
        emitter.finish(input_ended=ended)
        taken = opened.oldest(10_000, 1 << 30)
        opened.settle_records([record.id for record in taken])
        return [record.line for record in taken], outlet


def records(*arguments, **options):
    """Return the minute records of a run."""
    lines, _ = run(*arguments, **options)
    parsed = [parse(line) for line in lines]
    return [record for record in parsed if isinstance(record, MinuteRecord)]
