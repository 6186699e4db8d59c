"""The reader of the ledger's bucket: which hours are settled, and their rows."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import example, given
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
    """One owner of one instance."""
    return LedgerRow(
        hour=hour, cluster="training", instance_id=f"i-{number}", owner="a", allocated=1, covered=1
    )


def bucket_of(hours):
    """Eight objects of each hour, one row in each."""
    objects = {
        part_key(h, part): pack_rows([row(h, part)]) for h in hours for part in range(PARTS_OF_HOUR)
    }
    return objects, LedgerBucket(None, "ledger", FakeLedgerObjects(objects, 2))


def test_an_hour_is_settled_when_all_eight_objects_are_there():
    """Of the hours that are asked for, over midnight, and whatever else lies beside them."""
    hours = range(LEDGER_HOUR - 30, LEDGER_HOUR)
    objects, bucket = bucket_of(
        [LEDGER_HOUR - 31, LEDGER_HOUR - 30, LEDGER_HOUR - 5, LEDGER_HOUR - 2, LEDGER_HOUR]
    )
    del objects[part_key(LEDGER_HOUR - 5, 3)]
    objects["ledger/schema=1/date=2025-11-24/hour=16/other"] = b""
    assert [LEDGER_HOUR - 30, LEDGER_HOUR - 2] == bucket.list_settled_hours(hours)


def test_damaged_objects_are_reported_and_the_rest_is_read():
    """
    An object that is no gzip, one cut short, one with another line in it, and one with a row of
    another hour, in an object that the fast way reads and in one that it does not.
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


LEDGER_AMOUNTS = st.integers(0, 10**12) | st.integers(0, 10**18)  # a float has all digits, or not


def values_of(field):
    """Whatever a row may have there."""
    values = (
        LEDGER_AMOUNTS
        if field in {*LEDGER_MINUTES.values(), *LEDGER_COSTS.values(), *LEDGER_COUNTS.values()}
        else st.text(max_size=9)
    )
    is_optional = LedgerRow._field_defaults.get(field, 0) is None
    return values | st.none() if is_optional else values


FIELD_VALUES = {field: values_of(field) for field in LedgerRow._fields}


@given(st.builds(LedgerRow, **{**FIELD_VALUES, "hour": st.integers(0, 700_000)}))
@example(row(LEDGER_HOUR, 1)._replace(list_cost=8_951_733_492_053_189))
def test_a_row_reads_back_as_it_was(row):
    """
    Every digit and every absence, and one line whatever a name holds.

    The amount above has the float of the next amount.
    """
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
        ("Owner", 5),
        ("Owner", None),
        ("CoveredMinutes", 1e30),
    ],
)
def test_what_is_no_row_is_refused(member, value):
    """A member of another type or range, or none where one must be: nothing is guessed."""
    members = {**json.loads(row_line(row(LEDGER_HOUR, 1))), member: value}
    damage = []
    assert [] == list(rows([(LEDGER_HOUR, gzip_lines([json.dumps(members)]))], damage.append))
    assert 1 == len(damage)
