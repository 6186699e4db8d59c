"""Each claim of docs/explanation/security.md has a test, and each number is the code's."""

from __future__ import annotations

import re

import pytest

from aggregator.environment import MAX_CLUSTERS_WITH_OVERRIDES, Rules
from aggregator.ingest.intake import MAX_AHEAD_MINUTES
from aggregator.minutes import SILENT_FORGET_MINUTES
from aggregator.reading.bucket_reader import MOST_OF_AN_INSTANCE, RECORD_WEIGHT
from aggregator.rollups.rollup import MAX_TYPES_IN_ROLLUP
from neuron_emitter.reports.child import TAIL_BYTES
from neuron_wire import minute_record
from neuron_wire.holders import MAX_HOLDER_NAME_CHARS
from neuron_wire.names import MAX_CORES

TEST_ON_PAGE = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


@pytest.fixture(scope="module")
def page(repository):
    """Return the page."""
    return (repository / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")


def named(text):
    return set(TEST_ON_PAGE.findall(text))


def test_every_threat_names_its_test(page):
    """Each threat has a limit and a test that shows it."""
    begin = page.index("## What a forged line can do")
    end = page.index("## What is not defended")
    threats = re.findall(r"^- (.+): (.+)$", page[begin:end], re.MULTILINE)
    assert len(threats) > 30
    assert [] == [threat for threat, bound in threats if not named(bound)]


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("at most `MaxClusters` ({}) clusters", (MAX_CLUSTERS_WITH_OVERRIDES,)),
        ("at most {} types of a cluster", (MAX_TYPES_IN_ROLLUP,)),
        ("at most {:,} cores and eight holders", (MAX_CORES,)),
        ("about {} records of 128 cores", (MOST_OF_AN_INSTANCE // (128 + RECORD_WEIGHT),)),
        ("`LateMinutes` ({}) or more than", (Rules().late_minutes,)),
        ("more than {} minutes ahead", (MAX_AHEAD_MINUTES,)),
        ("ASCII of 1 to {} (cluster)", (minute_record.MAX_CLUSTER_CHARS,)),
        ("(cluster) and {} (instance)", (minute_record.MAX_INSTANCE_CHARS,)),
        ("for {} minutes", (SILENT_FORGET_MINUTES,)),
        ("the newest {} KiB of standard error", (TAIL_BYTES >> 10,)),
        ("{} characters that print", (MAX_HOLDER_NAME_CHARS,)),
    ],
)  # fmt: skip
def test_a_number_is_that_of_the_code(page, sentence, numbers):
    """Each number of the page is the code's, so that it changes with the code."""
    assert sentence.format(*numbers) in page
