"""
The double of CloudWatch Logs matches filter patterns of terms as CloudWatch did.

The words are ours, one for one for those of the recording: substrings, capitals, hyphens,
line ends and doubled blanks stand where they stood.
"""

from __future__ import annotations

import pytest

from proof.account.patterns import matcher
from proof.logs.forms import ServiceError
from tests.recorded.recording import FILTERS

MESSAGES = [
    "FAIL POD NODE", "FAIL BAD NODE", "WARM POD", "WARM NODE", "fail pod node",
    "FAIL INNER CORE FAIL", "FAIL INNER  CORE FAIL", "INNER CORE fail", "UNFAIL NODE",
    "[FAIL] NODE", "FAIL-NODE", "FAIL_POD", "FAIL\nPOD", "POD FAIL", "plain",
    'say "good day" now', "good-day", " ",
]  # fmt: skip
WITH_FAIL = [0, 1, 5, 6, 8, 9, 10, 11, 12, 13]
MATCHED = [  # name of the observation, pattern, places of the messages that matched
    ("empty", "", [*range(18)]),
    ("quoted_space", '" "', [*range(10), 13, 15, 17]),
    ("required_term", "FAIL", WITH_FAIL),
    ("required_terms", "FAIL POD", [0, 11, 12, 13]),
    ("optional_terms", "?FAIL ?POD", [0, 1, 2, 5, 6, 8, 9, 10, 11, 12, 13]),
    ("optional_with_required", "?FAIL ?POD NODE", [0, 1, 3, 8, 9, 10]),
    ("optional_with_excluded", "?FAIL ?POD -NODE", [2, 4, 5, 6, 7, *range(11, 18)]),
    ("include_exclude", "FAIL -POD", [1, 5, 6, 8, 9, 10]),
    ("exclude_only", "-FAIL", [2, 3, 4, 7, 14, 15, 16, 17]),
    ("exact_phrase", '"INNER CORE FAIL"', [5]),
    ("lowercase", "fail", [4, 7]),
    ("quoted_punctuation", '"good-day"', [16]),
    ("exclude_phrase", 'FAIL -"BAD NODE"', [0, 5, 6, 8, 9, 10, 11, 12, 13]),
]
REFUSED = [  # name of the observation, pattern, the words of the refusal
    ("term_wildcard", "FAI*", "Invalid character(s) in term '*'"),
    ("unclosed", '"FAIL', "Invalid character(s) in term '\"FAIL'"),
]


@pytest.mark.parametrize(
    ("name", "pattern", "expected"), MATCHED, ids=[f"{FILTERS}: {row[0]}" for row in MATCHED]
)
def test_what_a_pattern_matches(name, pattern, expected):
    """The same messages, of eighteen."""
    matches = matcher(pattern)
    found = [place for place, message in enumerate(MESSAGES) if matches(message)]
    assert expected == found, name


@pytest.mark.parametrize(
    ("name", "pattern", "words"), REFUSED, ids=[f"{FILTERS}: {row[0]}" for row in REFUSED]
)
def test_a_pattern_that_is_refused(name, pattern, words):
    """With the words of the service."""
    with pytest.raises(ServiceError) as refused:
        matcher(pattern)
    assert ("InvalidParameterException", words) == (refused.value.code, refused.value.words), name


@pytest.mark.parametrize("pattern", ["{ $.a = 1 }", "[a, b]", "%a%"])
def test_another_sort_is_not_answered_as_if_nothing_matched(pattern):
    """The other 75 patterns of the recording are for JSON, columns and regular expressions."""
    with pytest.raises(ServiceError, match="only terms are played"):
        matcher(pattern)
