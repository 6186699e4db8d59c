"""An instance with one runtime whose minutes pass, and whose emitter may restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from hypothesis import strategies as st
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    executions,
    memory,
    runtime,
    two_cores,
)

from emitter.fold import Fold, FoldSettings, RuntimeOwner

PERIOD_S = 15.0
UNKNOWN = ("no report", "group missing", "group in error", "completed missing", "a part")
"""Minutes of which nobody knows whether an execution ended."""

ANY_UNKNOWN = st.sampled_from(UNKNOWN).map(lambda how: {"how": how})
STEADY = st.builds(
    lambda completed, timed_out, percent: {
        "completed": completed, "timed_out": timed_out, "percent": percent
    },
    st.integers(1, 9), st.sampled_from([0, 0, 3]), st.sampled_from([0, 50, 90, 100]),
)  # fmt: skip
SILENT = st.just({"percent": 0})
HUNG = st.sampled_from([{"percent": 95}, {"percent": 0, "timed_out": 2}])


def entry(completed=0, timed_out=0, percent=0.0, *, how="", pid=7, cores=(0,), period_s=PERIOD_S):
    """What a report says of a runtime."""
    shares = [percent if core in cores else 0 for core in range(2)]
    stats = executions(completed, timed_out=timed_out, period=period_s)
    if how == "group in error":
        stats["error"] = "x"
    if how == "completed missing":
        del stats["execution_summary"]["completed"]
    return runtime(
        counters(shares, period_s), memory(dict.fromkeys(cores, 1)),
        None if how == "group missing" else stats, pid=pid, tag=str(pid),
    )  # fmt: skip


def _fold(state):
    settings = FoldSettings(period_s=PERIOD_S)
    return Fold(settings, state, owner_of=lambda _pid: RuntimeOwner("slurm:7 ann"))


@dataclass
class Service:
    """Its fold, and the minute that comes next."""

    fold: Fold = field(default_factory=lambda: _fold(None))
    minute: int = 0

    def pass_minute(self, *, is_restart=False, hangs=(), others=(), **does):
        """A minute, in which the runtime `does` what `entry` takes; its record."""
        reports = {"no report": 0, "a part": 2}.get(does.get("how", ""), 3)
        record = self.pass_reports([[entry(**does), *others]] * reports, hangs=hangs)
        self.minute += 1
        if is_restart:
            self.restart()
        return record

    def pass_reports(self, reports, hangs=()):
        """A part of the minute with these reports, each the runtimes that it lists; its record."""
        at_s = START_S + 60 * self.minute
        self.fold.open(at_s)
        for device in hangs:
            self.fold.hang(device)
        for runtimes in reports:
            add(self.fold, two_cores(*runtimes), at_s)
        return closed(self.fold, seq=self.minute + 1)

    def restart(self):
        """The emitter ends and begins again."""
        self.fold = _fold(self.fold.state())

    def work(self, minutes=30):
        """Executions in each of so many minutes."""
        for _ in range(minutes):
            self.pass_minute(completed=5, percent=50)

    @classmethod
    def after_work(cls, minutes=30):
        """A service with executions in each of the last minutes, as a restart finds it."""
        return cls(_fold(_state_after(minutes)), minutes)


@cache
def _state_after(minutes):
    service = Service()
    service.work(minutes)
    return service.fold.state()


def stalled(record):
    """Cause and minutes of each stall."""
    return [(one.cause, one.minutes) for one in record.stalls]
