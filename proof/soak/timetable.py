"""
What goes wrong in a soak, and when: a plan by the hour, made from nothing but its length.

The day of a plan has one of each trouble that a machine in service meets; one
day a week it has no network.
"""

from __future__ import annotations

from dataclasses import dataclass

RECONNECT = "connections broken"
FAULT = "call failed"
RESTART = "service restarted"
DEATH = "monitor killed"
RELOAD = "configuration read again"
MOVED = "file moved away"
EACH_DAY = {4: RELOAD, 8: DEATH, 14: RESTART, 20: MOVED}  # by hour
RESTART_MINUTES = 10
"""How long a service that is restarted is gone."""

HOURS_A_DAY = 24
DAYS_A_WEEK = 7
SHORT_HOURS = 12  # of the soak that is a test


@dataclass(frozen=True)
class Timetable:
    """
    One plan.

    Attributes:
        hours: How long it is.

        warm_hours: After so many nothing may grow any more: each trouble was there once.

        fault_hours: After so many some calls fail.

        looks_an_hour: How often memory, descriptors, threads and files are looked at.

        day_hours: After so many the troubles of a day come again.

        gone_hours: Those without network, from 0.
    """

    hours: int
    warm_hours: int
    fault_hours: int
    looks_an_hour: int
    day_hours: int
    gone_hours: frozenset[int]

    def at(self, hour: int) -> tuple[str, ...]:
        """What happens at the beginning of that hour, from 0."""
        if not hour:
            return ()
        trouble = {
            at * self.day_hours // HOURS_A_DAY: trouble for at, trouble in EACH_DAY.items()
        }.get(hour % self.day_hours)
        fault = None if hour % self.fault_hours else FAULT
        return tuple(filter(None, (RECONNECT, fault, trouble)))

    def is_gone(self, hour: int, minute: int) -> bool:
        """Whether the service cannot be reached in that minute."""
        restarted = RESTART in self.at(hour) and minute < RESTART_MINUTES
        return restarted or hour in self.gone_hours

    @property
    def kinds(self) -> frozenset[str]:
        """All that is to happen at some time."""
        return frozenset(kind for hour in range(self.hours) for kind in self.at(hour))


def days(count: int, warm: int) -> Timetable:
    """Whole days, the first *warm* of them to warm up; the second of each week has no network."""
    without = range(1, count, DAYS_A_WEEK)
    gone = {hour for day in without for hour in range(day * HOURS_A_DAY, (day + 1) * HOURS_A_DAY)}
    return Timetable(
        hours=count * HOURS_A_DAY,
        warm_hours=warm * HOURS_A_DAY,
        fault_hours=4,
        looks_an_hour=1,
        day_hours=HOURS_A_DAY,
        gone_hours=frozenset(gone),
    )


def short(hours: int, warm: int) -> Timetable:
    """Some hours with the troubles of a day every six, and one hour without network."""
    return Timetable(
        hours=hours,
        warm_hours=warm,
        fault_hours=1,
        looks_an_hour=6,
        day_hours=6,
        gone_hours=frozenset({2}),
    )
