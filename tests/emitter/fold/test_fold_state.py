"""What is read back of an earlier run, of this release or of another."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neuron_reports import INSTANCE_ID, START_S, add, closed, counters, new_fold, report, runtime

from emitter.fold.state import FoldState, read_state


def stored():
    """The state after one minute of four idle cores."""
    fold = new_fold()
    for second in range(0, 60, 5):
        add(fold, report(runtime(counters([0, 0, 0, 0]))), START_S + second)
    closed(fold)
    return json.loads(fold.state())


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"ecc": [1, 2]}, {"ecc"}),
        ({"ecc": {"0:mem_ecc_corrected": -1}}, {"ecc"}),
        ({"cores": "four"}, {"cores"}),
        ({"cores": 100_000}, {"cores"}),
        ({"cores_per_device": 0}, {"cores_per_device"}),
        ({"idle_minutes": [0] * 2000}, {"idle_minutes"}),
        ({"idle_minutes": [-1]}, {"idle_minutes"}),
        ({"idle_label": "yesterday"}, {"idle_label", "idle_minutes"}),
        ({"instance_id": ""}, {"instance_id"}),
        ({"new_in_the_next_release": {"a": 1}}, set()),
    ],
)
def test_a_member_that_cannot_be_read_begins_again_alone(changes, lost):
    """
    Written by an older or a newer release, or damaged: nothing else is lost. Idle minutes
    without their label are of any age.
    """
    whole = stored()
    found = json.loads(read_state(json.dumps({**whole, **changes}).encode()).encoded())
    fresh = json.loads(FoldState().encoded())
    assert {**whole, **{name: fresh[name] for name in lost}} == found


@pytest.mark.parametrize(
    ("name", "kept", "lost"),
    [
        ("cores", 1, 0),
        ("cores", 1024, 1025),
        ("cores_per_device", 1, 0),
        ("device_memory_bytes", 0, -1),
        ("device_memory_bytes", 1 << 53, (1 << 53) + 1),
        ("idle_label", 0, -1),
        ("idle_watched", 1 << 53, (1 << 53) + 1),
        ("idle_minutes", [0] * 1024, [0] * 1025),
        ("instance_id", "i", ""),
        ("instance_id", "i" * 128, "i" * 129),
        ("instance_type", "x 1", " "),
        ("instance_type", "~", "\x7f"),
    ],
)
def test_the_last_value_that_can_be_is_read(name, kept, lost):
    """One beyond it begins again."""
    for value, expected in ((kept, kept), (lost, getattr(FoldState(), name))):
        found = read_state(json.dumps({"idle_label": 7, name: value}).encode())
        assert expected == getattr(found, name)


@pytest.mark.parametrize("encoded", [None, b"", b"\xff", b"[]", b"{", b"null", b"7"])
def test_what_is_no_state_is_a_first_start(encoded):
    """It costs idle minutes and nothing else."""
    assert FoldState() == read_state(encoded)


@given(st.binary() | st.text().map(str.encode))
def test_no_state_stops_the_emitter(encoded):
    """Whatever stands in the spool."""
    fold = new_fold(encoded)
    add(fold, report(runtime(counters([0, 0, 0, 0]))), START_S)
    assert "aaaa" == closed(fold).core_state


def test_an_older_release_knew_less():
    """Members that a state does not have begin at nothing."""
    found = read_state(json.dumps({"instance_id": INSTANCE_ID, "cores": 4}).encode())
    assert (INSTANCE_ID, 4, []) == (found.instance_id, found.cores, found.idle_minutes)
