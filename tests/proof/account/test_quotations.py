"""What the tests of the account quote is what the model of the SDK says."""

from __future__ import annotations

import pytest

from proof.logs.documentation import quotes_in, text_at
from tests.proof.account import test_account_queries, test_describing, test_filter_log_events

MODULES = (test_account_queries, test_describing, test_filter_log_events)
QUOTES = [one for module in MODULES for one in quotes_in(vars(module)) if one.is_in_the_model]


@pytest.mark.parametrize("quote", QUOTES, ids=str)
def test_the_model_says_what_is_quoted(quote):
    """Word for word, in the version that is installed."""
    assert quote.words in text_at(quote.place)
