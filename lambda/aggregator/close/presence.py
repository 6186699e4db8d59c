"""
The minutes in which one instance of one cluster was there.

A run bridges the gaps that are too short to be silence.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class PresenceRun:
    """
    Minutes in which an instance was there.

    Attributes:
        first: The first minute it reported in.

        last: The last one.

        bye: It said goodbye in the last one.
    """

    first: int
    last: int
    bye: bool


@dataclass(slots=True)
class RegistryEntry:
    """
    One instance of one cluster.

    Attributes:
        cluster: Its name.

        instance_type: As last reported, or None.

        runs: Ascending, with silence between them; none until a minute in
            which it reported has been read whole.
    """

    cluster: str
    instance_type: str | None
    runs: list[PresenceRun]

    @property
    def last(self) -> int:
        """The latest minute in which the instance reported."""
        return self.runs[-1].last

    def extend(self, minute: int, silent_after_minutes: int, *, gone: bool) -> bool:
        """It reported in *minute*, and with *gone* said goodbye in it; whether that is news."""
        for run in self.runs:
            if run.first <= minute < run.last or (run.last == minute and run.bye == gone):
                return False
        # Last of equals, so that this minute's own word on goodbye is the one that stays.
        runs = sorted([*self.runs, PresenceRun(minute, minute, gone)], key=lambda run: run.last)
        joined = [runs[0]]
        for run in runs[1:]:
            before = joined[-1]
            if run.first - before.last > silent_after_minutes + 1:
                joined.append(run)
            else:
                joined[-1] = PresenceRun(min(before.first, run.first), run.last, run.bye)
        self.runs = joined
        return True

    def packed(self, most_runs: int | None) -> list[object]:
        """As the registry keeps it: the type, then the runs, or the last *most_runs* of them."""
        runs = self.runs if most_runs is None else self.runs[-most_runs:]
        return [self.instance_type, *([run.first, run.last, int(run.bye)] for run in runs)]
