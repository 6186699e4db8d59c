"""The template's pattern is the grammar of PaidByType, and close knows what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator import environment
from local.alarms.template import load
from neuron_wire.prices import MAX_PAID_BY_TYPE_CHARS, PaidByTypeError, paid_by_type

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
PARAMETER = load(TEMPLATE.read_text("utf-8"))["Parameters"]["PaidByType"]
PATTERN = re.compile(PARAMETER["AllowedPattern"], re.ASCII)


@given(st.from_regex(PATTERN, fullmatch=True) | st.text("at1.-=,sunk\n", max_size=12))
@example("trn1.32xlarge=sunk,")
@example("trn1.32xlarge=reserved")
@example("TRN1=sunk")
@example("trn1.32xlarge=sunk\n")
def test_the_parser_accepts_what_the_template_accepts(text):
    """Nothing else, and it reads what stands there; of two the last."""
    if len(text) > PARAMETER["MaxLength"] or not PATTERN.fullmatch(text):
        with pytest.raises(PaidByTypeError):
            paid_by_type(text)
        return
    parts = [part.split("=") for part in text.split(",") if text]
    assert dict(parts) == paid_by_type(text)


def test_the_length_and_the_variable_are_those_of_the_template():
    """What a pattern cannot say; and whoever wrote a wrong one reads which variable it is."""
    assert PARAMETER["MaxLength"] == MAX_PAID_BY_TYPE_CHARS
    variables = {"TABLE_NAME": "t", "STACK_NAME": "s", "PAID_BY_TYPE": "inf2.xlarge=sunk"}
    assert {"inf2.xlarge": "sunk"} == environment.read(variables).rules.paid_by_type
    with pytest.raises(environment.SettingError, match="PAID_BY_TYPE has 'inf2', which is not"):
        environment.read({**variables, "PAID_BY_TYPE": "inf2"})
