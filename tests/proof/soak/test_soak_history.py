"""The reports of a soak: nothing in them stays for long, and little of it is broken."""

from __future__ import annotations

import json

import pytest

from proof.soak.history import (
    IN_ERROR,
    IN_ERROR_OF,
    REPORTS_AN_HOUR,
    REPORTS_IN_TEN_MINUTES,
    history,
    is_broken,
)

pytestmark = pytest.mark.timeout(60)  # the first to ask has two hours of reports made

REPORTS = 2 * REPORTS_AN_HOUR


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return list(history(tmp_path_factory.mktemp("history"), REPORTS))


@pytest.fixture(scope="module")
def documents(lines):
    """None in the place of a broken one."""
    return [None if is_broken(number) else json.loads(line) for number, line in enumerate(lines)]


def whole(documents):
    return [one for one in documents if one is not None]


def pids(some):
    return {one["pid"] for report in some for one in report["neuron_runtime_data"]}


def test_a_line_is_a_report_but_for_the_broken_ones(lines, documents):
    """The broken ones are no JSON at all."""
    assert REPORTS == len(lines)
    assert all(line.endswith(b"\n") for line in lines)
    assert all("neuron_runtime_data" in one for one in whole(documents))
    broken = [line for number, line in enumerate(lines) if is_broken(number)]
    assert broken
    for line in broken:
        with pytest.raises(ValueError, match=r"Expecting|Unterminated|Invalid"):
            json.loads(line)


def test_no_runtime_and_no_pod_lives_for_two_hours(documents):
    """One of four runtimes is another one after ten minutes."""
    first, second = whole(documents[:REPORTS_AN_HOUR]), whole(documents[REPORTS_AN_HOUR:])
    assert set() == pids(first) & pids(second)
    assert 4 == len(pids(first[: REPORTS_IN_TEN_MINUTES - 1]))
    assert 3 + 6 == len(pids(first))
    assert [1, 1] == [
        len({json.dumps(one.get("neuron_k8s_info")) for one in hour}) for hour in (first, second)
    ]
    assert first[0]["neuron_k8s_info"] != second[0]["neuron_k8s_info"]


def test_the_errors_of_a_group_all_have_another_text(documents):
    """Told apart by their digits they would be remembered one by one."""
    texts = [
        one["system_data"]["neuron_hw_counters"]["error"]
        for one in whole(documents[IN_ERROR_OF - IN_ERROR : IN_ERROR_OF])
    ]
    said = [text for text in texts if text]
    assert IN_ERROR // 2 < len(said) == len(set(said))
