"""What the emitter says about itself: every record accounted for, and its own cost."""

from __future__ import annotations

import os
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neuron_reports import new_fold, report, written

from emitter import health
from emitter.health import DROP_MEMBERS, process_members, reading_members, spool_members
from emitter.reports.framing import Framer
from emitter.reports.report import decode
from emitter.spool import Spool, SpoolHealth
from emitter.spool.records import DropReason, NewRecord

REASONS = typing.get_args(DropReason)


def test_every_reason_for_a_drop_has_a_member():
    """A new reason needs a name in the line."""
    assert set(REASONS) == DROP_MEMBERS.keys()
    assert len(REASONS) == len(set(DROP_MEMBERS.values()))


@given(
    delivered=st.integers(0, 99),
    waiting=st.integers(0, 99),
    dropped=st.dictionaries(st.sampled_from(REASONS), st.integers(1, 99)),
)
def test_produced_is_delivered_and_spooled_and_dropped(delivered, waiting, dropped):
    """Whatever happened, nothing is missing; and a reason is there only when it happened."""
    produced = delivered + waiting + sum(dropped.values())
    members = spool_members(SpoolHealth(waiting, 5, produced, delivered, dropped, 0))
    accounted = ("RecordsDelivered", "SpoolRecords", "RecordsDropped")
    assert members["RecordsProduced"] == sum(members[name] for name in accounted)
    assert {DROP_MEMBERS[reason]: count for reason, count in dropped.items()} == {
        name: count for name, count in members.items() if name.startswith("Dropped")
    }


def test_totals_are_there_from_the_start():
    """
    0 is a number that was read; what an earlier boot left is there only when it left something.
    """
    with Spool.open(None) as spool:
        expected = dict.fromkeys(
            ["RecordsProduced", "RecordsDelivered", "RecordsDropped", "SpoolRecords", "SpoolBytes"],
            0,
        )
        assert expected == spool_members(spool.health())


def test_what_an_earlier_boot_left_and_this_one_drops_is_counted(tmp_path):
    """
    In no sum of this boot's: without it nobody would hear of them, for their books are gone.
    Those that wait are in the spool's bytes.
    """
    with Spool.open(tmp_path) as spool:
        spool.append([NewRecord(60_000 * 10**9, "line")] * 3)
    with Spool.open(tmp_path) as spool:
        spool.append([NewRecord(60_000 * 10**9, "line")])
        left = [record.id for record in spool.oldest(4, 1_000)]
        spool.settle(dropped={"too_new": left[1:]})
        members = spool_members(spool.health())
    expected = {"RecordsDroppedOlder": 2, "RecordsDropped": 1, "DroppedTooNew": 1}
    expected |= {"RecordsProduced": 1, "SpoolRecordsOlder": 1, "SpoolBytes": 4}
    assert expected.items() <= members.items()


def test_reports_read_and_dropped_are_counted():
    """Pieces that were no report, and parts of reports, each under its own name."""
    fold, framer = new_fold(), Framer()
    assert {"ReportsRead": 0, "ReportsMalformed": 0} == reading_members(fold, framer)
    broken = report(system_data={"memory_info": {"memory_used_bytes": "much"}})
    for found in framer.feed(b"junk\n" + written(broken) + b"\n"):
        fold.add(found, 60.0)
    expected = {"ReportsRead": 1, "ReportsMalformed": 1, "PartsMalformed": 1}
    assert expected == reading_members(fold, framer)
    fold.add(decode(written(report())), 61.0)
    assert 2 == reading_members(fold, framer)["ReportsRead"]


def test_runtimes_whose_process_is_gone_are_counted():
    """What is left of a process that ended is left out of the minute, and said."""
    fold = new_fold()
    gone = {"pid": 7, "neuron_runtime_tag": "7", "error": "no such process", "report": None}
    fold.add(decode(written(report(neuron_runtime_data=[gone]))), 60.0)
    assert 1 == reading_members(fold, Framer())["RuntimesGone"]


def test_the_emitter_knows_its_own_cost():
    """CPU seconds that only grow, and resident bytes of a plausible Python."""
    first, second = process_members(), process_members()
    assert 0 < first["EmitterCpuSeconds"] <= second["EmitterCpuSeconds"]
    assert 5 << 20 < first["EmitterMemory"] < 4 << 30
    assert isinstance(first["EmitterMemory"], int)


@pytest.mark.parametrize("content", [None, "", "12", "a b c"])
def test_without_proc_the_peak_is_what_there_is(content, tmp_path, monkeypatch):
    """As on macOS, or in a container that hides it."""
    statm = tmp_path / "statm"
    if content is not None:
        statm.write_text(content)
    monkeypatch.setattr(health, "_STATM", statm)
    assert 5 << 20 < process_members()["EmitterMemory"] < 4 << 30


def test_resident_bytes_are_pages(tmp_path, monkeypatch):
    """The second field of statm, in pages."""
    (tmp_path / "statm").write_text("9999 100 5 1 0 9 0\n")
    monkeypatch.setattr(health, "_STATM", tmp_path / "statm")
    assert 100 * os.sysconf("SC_PAGE_SIZE") == process_members()["EmitterMemory"]
