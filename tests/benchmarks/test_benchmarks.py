"""
The figures of the pages are the kept ones, each figure keeps its limit, and weight is defined.
"""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from benchmarks import figures
from benchmarks.figures import Figure
from benchmarks.ledger_month import LEDGER_HOURS, bill_rows, report, write_month
from benchmarks.sizes import weight
from docs.generate.bills import MIDDLE, PROMISED_SHARE
from neuron_emf.cost.bill import bill, put_metric_data_usd, total
from neuron_emf.cost.quantities import MODES
from neuron_emf.report.chargeback import BILL_COLUMNS


def test_what_was_kept_is_within_its_limits():
    """A run above a limit is not shown."""
    verdicts = [row[3] for row in figures.read()["rows"]]
    assert {"ok"} == set(verdicts)


@pytest.mark.parametrize(("value", "is_over"), [(2, False), (2.01, True)])
def test_a_limit_is_inclusive(value, is_over):
    """A figure at its limit is within it."""
    assert is_over == Figure("x", value, "s", 2).is_over


@pytest.mark.parametrize("mode", MODES)
def test_a_thousand_instances_keep_the_promise(mode):
    """
    1,000 instances cost at most 3 % of 27 metrics each, with every cost counted, in either mode.
    """
    of_fleet = total(bill(replace(MIDDLE, mode=mode)))
    assert of_fleet <= PROMISED_SHARE * put_metric_data_usd(MIDDLE.instances)


def test_the_ledger_that_is_measured_is_one(tmp_path):
    """The report reads the measured ledger, which has idle cost."""
    hours = range(LEDGER_HOURS.start, LEDGER_HOURS.start + 2)
    assert write_month(tmp_path, hours, 3) > 0
    assert report(tmp_path, hours) > 0
    assert {len(BILL_COLUMNS)} == {len(row) for row in bill_rows(hours, 3)}


WEIGHED_SOURCE = '''"""Say what it does."""
import os
from pathlib import Path


class Core:
    """Name a core."""

    index: int  # from 0
    """Its number."""

    def busy(self):
        """Return nothing."""
'''
NODES = {
    "Module": 1,
    "class Core": 1,
    "annotated assignment, its target and type": 3,
    "function, arguments, self": 3,
}


def test_weight_is_nodes_without_imports_docstrings_and_comments():
    """Imports, strings alone in a body, comments and contexts of names weigh nothing."""
    assert sum(NODES.values()) == weight(ast.parse(WEIGHED_SOURCE))
