"""Filter patterns of the account: terms, and what is said of the sorts that are not played."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.account.patterns import pattern_of
from proof.logs.asking import INVALID, NOW_MS, error_in
from proof.logs.documentation import quotes_in, says, text_at
from proof.logs.rules import RECORDS_GROUP

REQUEST = "FilterLogEventsRequest"
PATTERNS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html"


def found(client, pattern):
    """The messages of the second page: the first one is empty."""
    asked = {"logGroupName": RECORDS_GROUP, "filterPattern": pattern}
    first = client.filter_log_events(**asked)
    if "nextToken" not in first:
        return []
    second = client.filter_log_events(**asked, nextToken=first["nextToken"])
    return [one["message"] for one in second["events"]]


def refusal(client, pattern):
    """The name and status of the error that a pattern gets."""
    asked = {"logGroupName": RECORDS_GROUP, "filterPattern": pattern}
    return error_in(lambda: client.filter_log_events(**asked))


@says(f"{REQUEST}.filterPattern", "If not provided, all the events are matched.")
@says("FilterPattern", "min: 0 max: 1024")
@says(
    PATTERNS,
    "Filter patterns are case sensitive. Enclose exact phrases and terms that include"
    " non-alphanumeric characters in double quotation marks.",
)
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", ["a b", "a-c", "B"]),
        ("a", ["a b", "a-c"]),
        ('"a"', ["a b", "a-c"]),
        ('"b"', ["a b"]),
        ('"a" "b"', ["a b"]),
        ('"a b"', ["a b"]),
        ('"b a"', []),
        ('?"b" ?"c"', ["a b", "a-c"]),
        ('"a" -"c"', ["a b"]),
        ('-"a"', ["B"]),
        ('?"nothing" "B"', ["B"]),
    ],
)
def test_a_pattern_of_terms_chooses_events(pattern, expected, account, logs):
    """All of them, any of those with ?, none of those with -; case counts."""
    texts = ["a b", "a-c", "B"]
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS + n, text) for n, text in enumerate(texts)])
    assert expected == found(logs, pattern)


@says(
    PATTERNS,
    "Regular expressions (regex) can be used to create standalone filter patterns, or can be"
    " incorporated with JSON and space-delimited filter patterns.",
)
def test_a_pattern_that_is_not_played_says_so(logs):
    """It is not answered as if nothing matched."""
    for pattern in ('{ $.Kind = "minute" }', "[a, b]", "%a%"):
        assert ("NotPlayed", 501) == refusal(logs, pattern)
    assert INVALID == refusal(logs, '"a')
    assert INVALID == refusal(logs, "x" * 1025)


@given(st.text(st.characters(codec="utf-8", exclude_characters='"\\'), min_size=1), st.text())
def test_a_quoted_term_is_in_what_has_it(term, around):
    """Whatever is in it, also what would be a mark outside the quotes."""
    pattern = pattern_of(f'"{term}"')
    assert pattern.is_in(around + term + around)
    assert (term in around) == pattern.is_in(around)


@pytest.mark.parametrize(
    "quote", [one for one in quotes_in(globals()) if one.is_in_the_model], ids=str
)
def test_the_model_says_what_is_quoted_of_patterns(quote):
    """Word for word, in the version of the SDK that is installed."""
    assert quote.words in text_at(quote.place)
