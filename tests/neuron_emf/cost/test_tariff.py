"""Prices: where they come from, what a file of yours replaces, and what nobody knows."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.errors import SettingsError
from neuron_emf.cost.tariff import YOUR_OWN, listed, tariff_of

NAMES = sorted(listed().prices)


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", NAMES)
def test_every_price_says_for_what_from_where_and_when(name):
    """Unit, source and date; one without an amount is unknown and verified by nobody."""
    one = listed().prices[name]
    assert all((one.what, one.unit, one.source))
    assert date.fromisoformat(one.as_of) >= date.fromisoformat(listed().as_of)
    assert one.units >= 1
    if one.usd is None:
        assert not one.is_verified
    else:
        assert one.usd > 0
    assert one.is_verified == one.source.startswith("a published table")


@given(st.sampled_from(NAMES), st.floats(0, 1e6))
def test_a_file_replaces_the_price_it_names_and_no_other(tmp_path_factory, name, usd):
    """The rest is as listed, and whose price it is can be seen."""
    path = tmp_path_factory.getbasetemp() / f"prices-{NAMES.index(name)}.toml"
    path.write_text(f"{name} = {usd!r}\n", encoding="utf-8")
    found = tariff_of(path)
    one = found.prices[name]
    assert (usd, YOUR_OWN, True) == (one.usd, one.source, one.is_verified)
    assert date.fromisoformat(one.as_of) > date.fromisoformat(listed().as_of)
    assert (name,) == found.replaced
    assert {**listed().prices, name: found.prices[name]} == found.prices
    assert list(listed().prices) == list(found.prices)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log-ingest = 0.4", "'log-ingest'.*log-ingestion, log-storage"),
        ("log-ingestion = -1", "log-ingestion in .* is not USD for 1 GB"),
        ("log-ingestion = inf", "a number from 0 to 1,000,000"),
        ("log-ingestion = true", "Write for example log-ingestion = 0.5"),
        ("[log-ingestion]\nusd = 0.4", "Write for example log-ingestion = 0.5"),
        (b"log-ingestion = 0.4 # \xff", "Cannot read the prices"),
        ("a = " + 10_000 * "[", "Cannot read the prices"),
        (b"#" * (2 << 20), "more than 1,048,576 bytes"),
    ],
    ids=["unknown", "negative", "infinite", "truth", "table", "no-text", "deep", "long"],
)
def test_a_file_that_cannot_be_meant_is_refused_in_a_sentence(file, text, expected):
    """What was expected, what was found, what to do."""
    with pytest.raises(SettingsError, match=expected) as caught:
        tariff_of(file(text))
    assert "\n" not in str(caught.value)


def test_an_unknown_tier_matters_only_to_who_reaches_it():
    """9,999 metrics have a price without the second tier; 10,001 have none."""
    prices = dict(listed().prices)
    prices["metrics-second"] = replace(prices["metrics-second"], usd=None)
    tariff = replace(listed(), prices=prices)
    assert tariff.metrics_usd(10_000) == pytest.approx(3_000)
    assert tariff.metrics_usd(10_001) is None


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (0, 0),
        (1, 0.30),
        (10_000, 3_000),
        (10_001, 3_000.10),
        (250_001, 27_000.05),
        (2_000_000, 84_500),
        (10**9, 20_044_500),
    ],
)
def test_a_tier_begins_behind_its_last_metric(metrics, expected):
    """The ten thousandth costs as the first."""
    assert listed().metrics_usd(metrics) == pytest.approx(expected)
