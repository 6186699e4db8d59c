"""What a run prints."""

from __future__ import annotations

from collections import Counter

from proof.chaos.findings import Findings
from proof.chaos.hosts.promises import RecordBalance
from proof.chaos.table import HEADS, rows, sentences

FOUND = Findings(
    accounts={
        "blue": [
            RecordBalance(1_000, 990, 7, Counter(too_new=9), 300, 250),
            RecordBalance(10, 9, 0, Counter(too_new=1, expired=2), 5, 4),
        ],
        "azure": [RecordBalance(5, 5, 0, Counter(), 5, 4)],
    },
    rollups=Counter(blue=30, azure=31),
    undisturbed=80,
    happened=Counter({"disk full": 2, "reset": 0}),
    behind=Counter({"close killed after print": 2, "close killed before print": 1, "garbage": 5}),
    steps=(2, 34),
    missing=["reset"],
    differences={"blue": ["seed 1, i-1: one"], "": ["seed 1, another", "seed 1, a third"]},
)


def test_a_row_is_a_cluster_and_the_last_is_all():
    """What is of no cluster counts in the last one only."""
    assert [
        ("azure", "1", "5", "5", "0", "0", "5", "31", "0"),
        ("blue", "2", "1,010", "999", "7", "expired 2, too_new 10", "305", "30", "1"),
        ("all", "3", "1,015", "1,004", "7", "expired 2, too_new 10", "310", "61", "3"),
    ] == rows(FOUND)
    assert {len(HEADS)} == {len(row) for row in rows(FOUND)}


def test_what_happened_and_what_did_not_is_said():
    """With each difference on a line of its own."""
    closed, undisturbed, hosts, stack, missing, *differences = sentences(FOUND)
    assert closed.startswith("258 minutes were surely closed")
    assert undisturbed.startswith("80 minutes")
    assert "hosts, network and service: disk full 2" == hosts
    assert "the stack: close killed 3, at 2 of 34 places; garbage 5" == stack
    assert "what was expected to happen and did not: reset" == missing
    expected = ["all: seed 1, another", "all: seed 1, a third", "blue: seed 1, i-1: one"]
    assert expected == differences
