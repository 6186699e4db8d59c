"""
What docs/how-to/migrating.md says that metrics cost follows from how many there are.

Its commands and members are tested with the emitter (test_migrating_page.py).
"""

from __future__ import annotations

import re

import pytest

from neuron_wire.catalogue import BY_TYPE, MINUTE, ROLLUP
from tests.docs.shown_blocks import DOCS

TEXT = (DOCS / "how-to" / "migrating.md").read_text("utf-8")
USD_PER_METRIC = 0.30
CORES, INSTANCES, OF_THE_SCRIPT = 32, 100, 27
ROW = re.compile(r"^\| (.+) \| USD ([\d.]+) \| USD ([\d.]+) \|$", re.MULTILINE)


@pytest.mark.parametrize(
    ("begins", "of_one", "of_all"),
    [
        ("the script with `-d instance_id`", OF_THE_SCRIPT, OF_THE_SCRIPT * INSTANCES),
        ("`--metrics cluster`", len(MINUTE), len(MINUTE)),
        ("`--metrics legacy -d instance_id`", CORES, CORES * INSTANCES),
        ("`--metrics legacy`", CORES, CORES),
        ("`--metrics none`", len(ROLLUP) + len(BY_TYPE), len(ROLLUP) + len(BY_TYPE)),
    ],
)
def test_a_row_costs_what_its_metrics_do(begins, of_one, of_all):
    """At the list price of the first 10,000, for one instance and for all."""
    (row,) = [
        found
        for found in ROW.findall(TEXT)
        if re.match(re.escape(begins) + r"[,: ]", found[0])
        and ("-d" in found[0]) == ("-d" in begins)
    ]
    assert [of_one, of_all] == [round(float(usd) / USD_PER_METRIC, 3) for usd in row[1:]]


def test_the_numbers_of_metrics_are_those_of_the_catalogue():
    """Of the emitter's own, of rollups, and of rollups by instance type."""
    assert f"{len(MINUTE)} for the cluster" in TEXT
    assert f"{len(ROLLUP)} for the cluster, {len(BY_TYPE)} for its instance type" in TEXT
