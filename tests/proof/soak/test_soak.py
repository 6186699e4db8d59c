"""
Hours of reports through one process: it stays as small as it was.

The short form of `make soak`: the same timetable, compressed, and the same verdict, which
a leak of 4 KiB a minute or of a descriptor an hour does not pass.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.soak import leak
from proof.soak.account import heads, rows
from proof.soak.receivers import LogsReceiver
from proof.soak.run import soak
from proof.soak.timetable import SHORT_HOURS, short
from proof.soak.verdict import KIB, broken, steady_bytes

LEAK_HOURS = 8  # what the heap has left over takes in the first of a leak
LEAKING = Path(leak.__file__)


def say(soaked):
    for row in (heads([soaked]), *rows([soaked])):
        print(" | ".join(row))  # noqa: T201 - the figures, with pytest -s


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_hours_of_reports_and_troubles_leave_no_trace(tmp_path, clock):
    """
    To a service that fails: memory flat, no file and no thread stays, every minute arrives whole.
    """
    soaked = soak(tmp_path, clock, short(SHORT_HOURS, warm=4), LogsReceiver(clock))
    say(soaked)
    assert [] == broken(soaked)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_leak_is_seen(tmp_path, clock):
    """
    Four KiB that stay with each minute, and a descriptor with each hour, are two broken promises.
    """
    soaked = soak(tmp_path, clock, short(LEAK_HOURS, warm=4), LogsReceiver(clock), program=LEAKING)
    say(soaked)
    problems = broken(soaked)
    assert {"memory", "descriptors"} == {problem.partition(" ")[0] for problem in problems}
    assert f"grew by {steady_bytes(soaked) / KIB:.0f} KiB in nearly every hour" in str(problems)
