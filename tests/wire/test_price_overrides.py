"""The template's pattern is the grammar of price overrides, and the parser takes nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator import environment
from emitter.errors import SettingsError
from local.alarms.template import load
from neuron_emf.prices import prices
from neuron_wire.prices import (
    MAX_OVERRIDES_CHARS,
    PRICES_AS_OF,
    USD_PER_HOUR,
    PriceOverridesError,
    Prices,
    price_overrides,
)

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
PARAMETER = load(TEMPLATE.read_text("utf-8"))["Parameters"]["PriceOverrides"]
PATTERN = re.compile(PARAMETER["AllowedPattern"])
OVERRIDES = st.from_regex(re.compile(PATTERN.pattern, re.ASCII), fullmatch=True)


@st.composite
def nearly(draw):
    """Text of the grammar with one character put in, replaced or left out."""
    text = draw(OVERRIDES)
    at = draw(st.integers(0, len(text)))
    put = draw(st.sampled_from(["", ",", "=", ".", " ", "\n", "e", "E", "-", "0", "T", "\u0663"]))
    return text[:at] + put + text[at + draw(st.integers(0, 1)) :]


@given(st.one_of(OVERRIDES, nearly(), st.text("at1.-=, eE+_\n", max_size=12)))
@example("trn1.32xlarge=1e2")
@example("TRN1.32xlarge=1")
@example("trn1.32xlarge=1,")
@example("trn1.32xlarge=nan")
@example("trn1.32xlarge=99999.999999,-.=00000")
@example("trn1.32xlarge=100000")
@example("trn1.32xlarge=1.0000000")
@example("trn1.32xlarge=1\n")
def test_the_parser_accepts_what_the_template_accepts(text):
    """Nothing else, and it reads the price that stands there; of two the last."""
    if len(text) > PARAMETER["MaxLength"] or not PATTERN.fullmatch(text):
        with pytest.raises(PriceOverridesError):
            price_overrides(text)
        return
    parts = [part.partition("=") for part in text.split(",") if text]
    assert {part[0]: float(part[2]) for part in parts} == price_overrides(text)


def test_the_length_is_bounded_as_the_template_bounds_it():
    """The one bound that a pattern cannot say; its last character is still accepted."""
    assert PARAMETER["MaxLength"] == MAX_OVERRIDES_CHARS
    text = "a" * (MAX_OVERRIDES_CHARS - 2) + "=1"
    assert [1.0] == list(price_overrides(text).values())
    with pytest.raises(PriceOverridesError, match="1025 characters, at most 1024"):
        price_overrides(f"a{text}")


def test_whoever_wrote_it_reads_where_and_what_is_wrong():
    """The flag or the variable, the part that is wrong, and how to write it."""
    words = r"has 'inf2=1e2', which is not TYPE=USD: write it as trn1.32xlarge=13.5"
    with pytest.raises(SettingsError, match=f"--price-overrides {words}"):
        prices("trn1.32xlarge=13.5,inf2=1e2")
    with pytest.raises(SettingsError, match=f"has '{'a' * 40}', which"):
        prices("a" * 50)
    variables = {"TABLE_NAME": "t", "STACK_NAME": "s", "PRICE_OVERRIDES": "trn1=1,inf2=1e2"}
    with pytest.raises(environment.SettingError, match=f"PRICE_OVERRIDES {words}"):
        environment.read(variables)


def test_an_override_goes_before_the_list():
    """Also one that is 0; a type that nobody prices, an unknown type and no cores have none."""
    found = Prices({"trn1.2xlarge": 0.0, "new.large": 6.0})
    assert 0 == found.usd_per_core_hour("trn1.2xlarge", 2)
    assert 3 == found.usd_per_core_hour("new.large", 2)
    assert USD_PER_HOUR["inf2.xlarge"] == found.usd_per_core_hour("inf2.xlarge", 1)
    for instance_type, cores in (("other.large", 2), (None, 2), ("new.large", 0)):
        assert found.usd_per_core_hour(instance_type, cores) is None
    assert (True, False, False) == tuple(
        map(found.is_overridden, ("new.large", "inf2.xlarge", None))
    )


def test_a_price_that_changes_has_a_new_date():
    """Whoever edits the list edits its date with it, and both here: the sum of all prices."""
    assert ("2026-11-21", 76.31275) == (PRICES_AS_OF, round(sum(USD_PER_HOUR.values()), 5))
