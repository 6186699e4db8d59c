"""Soaks that nobody ran: all is well in them, but for what a test asks for."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

from proof.arrivals import Arrivals
from proof.soak.history import REPORTS_A_MINUTE, is_broken
from proof.soak.run import START_S, Look, Soaked
from proof.soak.timetable import short

MIB = 1 << 20
HOURS = 6
WARM = 2
BOOT = "0" * 20
TIMETABLE = short(HOURS, WARM)
LOOKS = HOURS * TIMETABLE.looks_an_hour


def line(minute, **members):
    """The minute line of that minute, and its timestamp."""
    numbers = range(minute * REPORTS_A_MINUTE, (minute + 1) * REPORTS_A_MINUTE)
    timestamp_ms = (START_S + 60 * minute) * 1000
    counts = {"RecordsProduced": minute, "RecordsDelivered": minute, "RecordsDropped": 0}
    counts |= {"SpoolRecords": 0, "Reports": sum(not is_broken(number) for number in numbers)}
    document = {
        "_aws": {"Timestamp": timestamp_ms}, "Kind": "minute", "Boot": BOOT, "Seq": minute + 1,
        "CoveredSeconds": 60, **counts, **members,
    }  # fmt: skip
    return timestamp_ms, json.dumps(document)


def events(**members_of_seven):
    return [
        line(minute, **(members_of_seven if minute == 7 else {})) for minute in range(HOURS * 60)
    ]


def look(number, **members):
    usual = Look((number + 1) / TIMETABLE.looks_an_hour, 40 * MIB, 9, 2, 2 * MIB, 0, is_quiet=True)
    return replace(usual, **members)


def made(**members):
    """A soak in which all is well, but for *members*."""
    looks = [look(number) for number in range(LOOKS)]
    usual = Soaked(
        TIMETABLE, "logs", 60, looks, Arrivals.of(events()), Counter(throttled=1),
        frozenset({"throttled"}), left=0, exit_code=0, said="", took_s=1.0,
    )  # fmt: skip
    return replace(usual, **members)
