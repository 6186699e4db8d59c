"""The verdict on a soak: each promise that is broken is one sentence, and a good soak has none."""

from __future__ import annotations

import dataclasses

import pytest

from proof.arrivals import Arrivals
from proof.soak import account
from proof.soak.timetable import DEATH, FAULT, MOVED, RECONNECT, RELOAD, RESTART, days, short
from proof.soak.verdict import (
    MAX_GROWTH_BYTES,
    MAX_SPOOL_GROWTH_BYTES,
    MAX_STEADY_BYTES,
    MIB,
    broken,
    growth_bytes,
    steady_bytes,
)
from tests.proof.soak.soak_examples import HOURS, LOOKS, TIMETABLE, events, line, look, made

WITHOUT_ONE = events()[:7] + events()[8:]
MOST_SPOOL_BYTES = 2 * MIB + MAX_SPOOL_GROWTH_BYTES


def looks(**members):
    """A third of the last look differs: the last hours, but for one."""
    return [look(number, **(members if number >= LOOKS - 12 else {})) for number in range(LOOKS)]


def test_a_soak_in_which_all_is_well_has_no_sentence():
    """Copies are allowed: a retry may duplicate."""
    assert [] == broken(made())
    twice = Arrivals.of([*events(), *events()[-3:]])
    assert [] == broken(made(found=twice))


@pytest.mark.parametrize(
    ("sentence", "members"),
    [
        ("1 minutes have no line, the first at 1800000420000 ms", {"found": WITHOUT_ONE}),
        ("1 records did not arrive, the first is", {"found": WITHOUT_ONE}),
        ("1 minutes have a line and never were", {"found": [*events(), line(HOURS * 60)]}),
        ("1 minutes are not whole, the first has Seq 8", {"found": events(CoveredSeconds=44)}),
        ("reports were written and", {"found": events(Reports=11)}),
        ("1 records came as two different lines", {"found": [*events(), line(7, Reports=13)]}),
        ("1 lines do not add up", {"found": events(RecordsDelivered=6)}),
        ("2 records were dropped", {"found": events(RecordsDropped=2, RecordsDelivered=5)}),
        ("3 records were left in the spool", {"left": 3}),
        ("the emitter ended with 4 and said: why", {"exit_code": 4, "said": "why"}),
        ("memory was 60.5 MiB, over the limit of 60", {"looks": looks(resident=121 * MIB // 2)}),
        ("at most 9 in the warm-up and 10 after", {"looks": looks(descriptors=10)}),
        ("threads were at most 2 in the warm-up and 3 after", {"looks": looks(threads=3)}),
        ("the spool's files had at most", {"looks": looks(spool_bytes=MOST_SPOOL_BYTES + 1)}),
        ("had 4194305 bytes, over the 4194304", {"looks": looks(output_bytes=4 * MIB + 1)}),
        ("nothing of this happened: late, reset", {"expected": frozenset({"late", "reset"})}),
    ],
)
def test_a_broken_promise_is_said(sentence, members):
    """Of lines, of the process, of its files, and of what was to happen."""
    if "found" in members:
        members = {**members, "found": Arrivals.of(members["found"])}
    assert 1 == sum(sentence in one for one in broken(made(**members))), broken(made(**members))


def test_what_is_seen_while_the_service_is_gone_is_no_leak():
    """A connection that cannot be made has fewer or more descriptors than one that is there."""
    assert [] == broken(made(looks=looks(descriptors=20, is_quiet=False)))


def growing(step_bytes, every=1):
    return [
        look(number, resident=40 * MIB + number // every * step_bytes) for number in range(LOOKS)
    ]


def test_memory_that_grows_in_every_hour_is_a_leak():
    """The limit itself is one."""
    exactly = made(looks=growing(MAX_STEADY_BYTES // TIMETABLE.looks_an_hour))
    assert MAX_STEADY_BYTES == steady_bytes(exactly)
    assert ["memory grew by 36 KiB in nearly every hour, not by less than 36"] == broken(exactly)
    assert [] == broken(made(looks=growing(MAX_STEADY_BYTES // TIMETABLE.looks_an_hour - 1)))


def test_one_step_of_memory_is_no_leak_until_it_is_too_high():
    """It is in no more than one hour; from 2 MiB on it is too much all the same."""
    assert [] == broken(made(looks=looks(resident=42 * MIB - 1)))
    high = made(looks=looks(resident=40 * MIB + MAX_GROWTH_BYTES))
    assert MAX_GROWTH_BYTES == growth_bytes(high)
    assert ["memory grew by 2048 KiB after the warm-up, not by less than 2048"] == broken(high)


def test_memory_that_goes_up_and_down_does_not_grow():
    """What an hour needs and gives back is no growth."""
    wave = [look(n, resident=40 * MIB + n % TIMETABLE.looks_an_hour * MIB) for n in range(LOOKS)]
    assert (0, 0) == (growth_bytes(made(looks=wave)), steady_bytes(made(looks=wave)))


def test_the_table_has_a_column_for_each_soak_and_says_how_often_what_happened():
    """What one of them cannot meet is a dash there."""
    file = dataclasses.replace(
        made(looks=looks(output_bytes=3 * MIB)), output="file", expected=frozenset()
    )
    rows = {row[0]: row[1:] for row in account.rows([made(), file])}
    assert ("what", "--output logs", "--output file", "at most") == account.heads([made(), file])
    assert ("1", "-", "") == rows["trouble: throttled"]
    assert ("-", "3.0", "4") == rows["files of lines at most, MiB"]
    assert ("0", "0", "0") == rows["promises broken"]


def test_a_curve_has_the_greatest_of_what_it_leaves_out():
    """One look in thousands must stay visible; so must the most that waited in the spool."""
    many = [look(n, descriptors=30 if n == 17 else 9) for n in range(LOOKS)]
    curves = account.curves(
        made(looks=many, found=Arrivals.of(events(SpoolRecords=5, RecordsDelivered=2)))
    )
    assert LOOKS == len(curves["hour"].split())
    assert "30" == curves["descriptors"].split()[17]
    assert ["5", *["0"] * (LOOKS - 1)] == curves["spool_records"].split()


def test_two_weeks_have_every_trouble_of_a_day_and_two_days_without_network():
    """And so has the short form, but for the weeks."""
    every = {RECONNECT, FAULT, RELOAD, DEATH, RESTART, MOVED}
    assert every == days(14, warm=3).kinds == short(12, warm=4).kinds
    assert [*range(24, 48), *range(192, 216)] == sorted(days(14, warm=3).gone_hours)
    assert () == days(14, warm=3).at(0)
    assert 14 == sum(RELOAD in days(14, warm=3).at(hour) for hour in range(14 * 24))
