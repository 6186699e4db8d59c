"""The reader of the ledger's bucket: the settled hours, and their rows."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_accounts.ledger import (
    LEDGER_COSTS,
    LEDGER_COUNTS,
    LEDGER_MINUTES,
    PARTS_OF_HOUR,
    LedgerRow,
    gzip_lines,
    pack_rows,
    part_key,
    row_line,
)
from neuron_emf.reading.ledger_bucket import LedgerBucket, rows
from tests.neuron_emf.fake_account import FakeLedgerObjects

LEDGER_HOUR = 490_000


def row(hour, number):
    """Return a row of one owner of one instance."""
    return LedgerRow(
        hour=hour, cluster="training", instance_id=f"i-{number}", owner="a", allocated=1, covered=1
    )


def bucket_of(hours):
    """Return eight objects for each hour, with one row in each."""
    objects = {
        part_key(h, part): pack_rows([row(h, part)]) for h in hours for part in range(PARTS_OF_HOUR)
    }
    return objects, LedgerBucket(None, "ledger", FakeLedgerObjects(objects, 2))


def test_an_hour_is_settled_when_all_eight_objects_are_there():
    """An hour with all eight objects is settled; other objects next to them do not matter."""
    hours = range(LEDGER_HOUR - 30, LEDGER_HOUR)
    objects, bucket = bucket_of(
        [LEDGER_HOUR - 31, LEDGER_HOUR - 30, LEDGER_HOUR - 5, LEDGER_HOUR - 2, LEDGER_HOUR]
    )
    del objects[part_key(LEDGER_HOUR - 5, 3)]
    objects["ledger/schema=1/date=2025-11-24/hour=16/other"] = b""
    assert [LEDGER_HOUR - 30, LEDGER_HOUR - 2] == bucket.list_settled_hours(hours)


def test_damaged_objects_are_reported_and_the_rest_is_read():
    """
    A damaged object or row is reported, and the rest is read.

    An object may be damaged, cut short, or have another line in it or a row of another hour.
    """
    damage = []
    good = pack_rows([row(LEDGER_HOUR, 1)])
    mixed = gzip.compress(gzip.decompress(good) + b'{"Hour":1}\n')
    strays = [
        pack_rows([row(LEDGER_HOUR, 1), row(LEDGER_HOUR + 1, 2), row(LEDGER_HOUR, 3)]),
        pack_rows([row(LEDGER_HOUR - 1, 1)]),
    ]
    strays.append(gzip.compress(gzip.decompress(strays[0]) + b"no\n"))
    objects = [(LEDGER_HOUR, payload) for payload in (b"no", good[:-9], good, mixed, *strays)]
    expected = [row(LEDGER_HOUR, 1)] * 2 + [row(LEDGER_HOUR, 1), row(LEDGER_HOUR, 3)] * 2
    assert expected == list(rows(objects, damage.append))
    assert 7 == len(damage)


LEDGER_AMOUNTS = st.integers(0, 10**12) | st.integers(0, (1 << 51) - 1)


def values_of(field):
    """Return the values that a row may have in *field*."""
    values: st.SearchStrategy[Any] = st.text(max_size=9)
    if field in {*LEDGER_MINUTES.values(), *LEDGER_COSTS.values()}:
        values = LEDGER_AMOUNTS
    elif field in LEDGER_COUNTS.values():
        values = st.integers(0, 10**20)
    is_optional = LedgerRow._field_defaults.get(field, 0) is None
    return values | st.none() if is_optional else values


FIELD_VALUES = {field: values_of(field) for field in LedgerRow._fields}


@given(st.builds(LedgerRow, **{**FIELD_VALUES, "hour": st.integers(0, 700_000)}))
def test_a_row_reads_back_as_it_was(row):
    """A row reads back with every digit and every absent member, on one line for any name."""
    line = row_line(row)
    assert "\n" not in line
    assert [row] == list(rows([(row.hour, gzip_lines([line]))]))


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("Hour", "2025-11-24T16:30Z"),
        ("Hour", "2025-13-24T16:00Z"),
        ("AllocatedCoreMinutes", -1),
        ("AllocatedCoreMinutes", True),
        ("AllocatedCoreMinutes", 0.0000001),
        ("ListCost", "1"),
        ("ListCost", 8_951_733.492053189),  # the next amount has the same float
        ("Executions", 1.5),
        ("Owner", 5),
        ("Owner", None),
        ("CoveredMinutes", 1e30),
    ],
)
def test_what_is_no_row_is_refused(member, value):
    """A row with a missing member, or with another type or range, is rejected and not guessed."""
    members = {**json.loads(row_line(row(LEDGER_HOUR, 1))), member: value}
    damage = []
    assert [] == list(rows([(LEDGER_HOUR, gzip_lines([json.dumps(members)]))], damage.append))
    assert 1 == len(damage)
