"""The double of CloudWatch Logs matches filter patterns of terms as CloudWatch did."""

from __future__ import annotations

import pytest

from proof.logs.forms import INVALID, ServiceError, matcher
from tests.recorded.recording import each

MESSAGES = [
    "FAIL POD NODE", "FAIL BAD NODE", "WARM POD", "WARM NODE", "fail pod node",
    "FAIL INNER CORE FAIL", "FAIL INNER  CORE FAIL", "INNER CORE fail", "UNFAIL NODE",
    "[FAIL] NODE", "FAIL-NODE", "FAIL_POD", "FAIL\nPOD", "POD FAIL", "plain",
    'say "good day" now', "good-day", " ",
]  # fmt: skip


@each("filter_patterns")
def test_what_a_pattern_matches(row):
    """The same of eighteen messages, by their places, or a refusal with the service's words."""
    if "words" in row:
        with pytest.raises(ServiceError) as refused:
            matcher(row["pattern"])
        assert (INVALID, row["words"]) == (refused.value.code, refused.value.words)
        return
    matches = matcher(row["pattern"])
    assert row["matches"] == [n for n, message in enumerate(MESSAGES) if matches(message)]


@pytest.mark.parametrize("pattern", ["{ $.a = 1 }", "[a, b]", "%a%"])
def test_another_sort_is_not_answered_as_if_nothing_matched(pattern):
    """The other 75 patterns of the recording are for JSON, columns and regular expressions."""
    with pytest.raises(ServiceError, match="only terms are played"):
        matcher(pattern)
