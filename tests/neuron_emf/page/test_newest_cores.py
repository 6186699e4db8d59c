"""Cores on the page equal those in the minute lines; without a line there is no value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.page.core_hours import instance_hour, newest_minute
from neuron_wire import encode
from neuron_wire.holders import Holder
from neuron_wire.line_members import iso_minute
from neuron_wire.names import MINUTE_MS
from neuron_wire.owners import Owner
from proof.factories import records as factories

CORES_START_MS = 1_800_000_000_000
CORE_LETTERS = "bau?"


def record(minute, state, *, instance="i-1", cluster="a", boot="b1", covered=60.0, **more):
    """Return a minute of an instance; a busy core has 50 percent."""
    known = {"b": 50.0, "?": None}
    return factories.record(
        cluster=cluster,
        instance_id=instance,
        boot=boot,
        seq=minute + 1,
        minute_ms=CORES_START_MS + minute * MINUTE_MS,
        covered_seconds=covered,
        core_state=state,
        utilization_percent=tuple(known.get(letter, 0.0) for letter in state),
        idle_minutes=tuple(0 if letter == "b" else minute for letter in state),
        **more,
    )


def lines(records):
    """Return the log lines of *records*."""
    return [encode({**record.members(), "Timestamp": record.minute_ms}) for record in records]


def hour(records, instance="i-1", cluster="a"):
    """Return the hour of one instance from the lines of *records*."""
    return instance_hour(lines(records), cluster, instance)


CORE_RECORDS = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.text(CORE_LETTERS, min_size=1, max_size=4),
        st.sampled_from(["i-1", "i-2"]),
    ),
    max_size=12,
    unique_by=lambda row: (row[0], row[2]),
)


@given(CORE_RECORDS, st.sampled_from(["known", "none", "unknown", None]), st.randoms())
def test_each_cell_is_the_state_in_the_line(rows, reservations, draw):
    """
    Copies and order of lines change nothing, and a minute without a line has no state.

    An unattached core is of unknown allocation (n) unless reservations are known or none.
    """
    copied = 2 * [
        record(minute, state, instance=instance, reservations=reservations)
        for minute, state, instance in rows
    ]
    unattached = "u" if reservations in {"known", "none"} else "n"
    draw.shuffle(copied)
    says = {(instance, minute): state for minute, state, instance in rows}
    for name in ("i-1", "i-2"):
        shown = hour(copied, name)
        times = [minute for minute, _, instance in rows if instance == name]
        assert [CORES_START_MS + minute * MINUTE_MS for minute in sorted(times)] == shown["minutes"]
        for minute, letters, values in zip(
            sorted(times), shown["states"], shown["utilization"], strict=True
        ):
            state = says[name, minute]
            assert state.replace("u", unattached) == letters
            known = {"b": 50.0, "?": None}
            assert [known.get(letter, 0.0) for letter in state] == list(values)


def test_holders_of_idle_cores_come_from_the_newest_minute():
    """The newest minute has the holders and idle minutes; an executing holder has no stop time."""
    last = iso_minute(record(3, "au").minute_ms // 60_000)
    holder = Holder("0", name="team/x", pid=7, tag="t", last_execution=last)
    owners = (Owner("0", "team/x", executions=80), Owner("", "ml/b", None, "1"))
    held = record(3, "au", holders=(holder,), holders_more=2, owners=owners)
    lost = hour([record(3, "a?", unknown_reason="devices-not-seen")])
    assert "the monitor does not see the devices" == lost["unknown_words"]
    shown = hour([held, record(1, "bb")])
    assert [3, 3] == list(shown["idle_minutes"])
    found, waiting = shown["holders"]
    assert {"Cores": "0", "Name": "team/x", "Pid": 7, "Tag": "t"}.items() <= found.items()
    executing = f"executing, last at {last[11:16]} UTC"
    assert ["low activity (80 executions) here", executing] == found["Marks"]
    assert "1" == waiting["Cores"]
    assert "ml/b" == waiting["Name"]
    assert ["reserved, not opened"] == waiting["Marks"]
    assert 2 == shown["holders_more"]
    assert "trn1.2xlarge" == shown["instance_type"]
    assert ["bb", "ar"] == shown["states"]
    (now,) = newest_minute(lines([held]), held.minute_ms, "", 3)
    assert "AR" == now["states"]
    assert ["ml/b", "team/x"] == sorted(name for name, _, _ in now["owned"])


def test_a_core_is_idle_from_the_minute_that_is_asked_for_on():
    """
    A core's letter is a capital from *idle_after_minutes* on; unknown and busy cores have none.
    """
    records = [record(15, "bau?")]
    for idle_after, states in ((15, "bAU?"), (16, "bau?")):
        (now,) = newest_minute(lines(records), records[0].minute_ms, "", idle_after)
        assert states == now["states"]
        assert [50, 0, 0, None] == now["utilization"]
        idle = sum(letter.isupper() for letter in states)
        assert idle == now["idle_cores"]
        assert (15 if idle else 0) == now["idle_minutes"]
