"""Each record once, whatever is among the lines."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.reading import Records
from neuron_emf.reading.records import Identities
from neuron_wire import parse
from neuron_wire.line_members import MAX_COUNT
from tests.neuron_emf.reading.lines import line, record

IDENTITIES = st.tuples(
    st.sampled_from(["i-0", "i-1"]),
    st.sampled_from(["b1", "b2"]),
    st.one_of(st.integers(1, 5000), st.sampled_from([1023, 1024, 1025, MAX_COUNT])),
)


@given(st.lists(IDENTITIES))
def test_an_identity_is_new_exactly_once(given_identities):
    """As a set has it, whatever the numbers."""
    seen, identities = set(), Identities()
    for identity in given_identities:
        assert (identity not in seen) == identities.add_identity(*identity)
        seen.add(identity)


def test_a_week_of_minutes_needs_a_bit_for_each():
    """10,080 numbers are ten blocks, not ten thousand entries."""
    identities = Identities()
    for seq in range(1, 10_081):
        assert identities.add_identity("i-0", "b1", seq)
    assert [10] == [len(blocks) for blocks in identities._blocks.values()]


@given(st.data())
def test_lines_in_any_order_and_number_give_each_record_once(data):
    """Copies are counted as repeated, also across calls."""
    lines = [line(seq=seq, instance_id=f"i-{seq % 3}") for seq in range(1, 6)]
    copies = data.draw(st.lists(st.sampled_from(lines)))
    cut = data.draw(st.integers(0, len(copies)))
    records = Records()
    found = [*records.read_records(copies[:cut]), *records.read_records(copies[cut:])]
    assert [parse(one) for one in dict.fromkeys(copies)] == found
    assert (len(set(copies)), len(copies) - len(set(copies))) == (records.read, records.repeated)


def test_what_is_no_record_is_counted_with_its_reason():
    """It neither stops the reading nor passes for an empty minute."""
    records = Records()
    lines = [
        "Starting up",
        "[1, 2]",
        '{"level": "INFO"}',
        line().replace('"Schema":1', '"Schema":2'),
        line().replace('"CoveredSeconds":60', '"CoveredSeconds":61'),
        '{"Schema":1,"Kind":"runtime"}',
        '{"Schema":1,"Kind":"[red]x"}',
        line(),
    ]
    assert [record()] == list(records.read_records(lines))
    reasons = "not_json", "not_an_object", "not_ours", "schema_newer", "bad_member"
    assert Counter(reasons) == records.dropped
    assert 5 == records.unreadable
    assert Counter({"runtime": 1, "?": 1}) == records.other
