"""Whether a stop would save anything, by whoever knows best."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_wire.payment import (
    MAX_PAID_BY_TYPE_CHARS,
    PaidByTypeError,
    is_sunk,
    paid_by_type,
)
from proof.factories.records import record

PATTERN = r"([a-z0-9.\-]+=(sunk|avoidable)(,[a-z0-9.\-]+=(sunk|avoidable))*)?"
"""The AllowedPattern that the template's parameter needs."""


@given(st.from_regex(re.compile(PATTERN, re.ASCII), fullmatch=True) | st.text("t1.=sunk, \n"))
@example("trn1.32xlarge=sunk,")
@example("TRN1=sunk")
@example("trn1=free")
@example("trn1=sunk\n")
def test_the_parser_accepts_the_grammar(text):
    """Nothing else; of what stands twice the last counts."""
    if len(text) > MAX_PAID_BY_TYPE_CHARS or not re.fullmatch(PATTERN, text, re.ASCII):
        with pytest.raises(PaidByTypeError):
            paid_by_type(text)
        return
    parts = [part.partition("=") for part in text.split(",") if text]
    assert {part[0]: part[2] for part in parts} == paid_by_type(text)


def test_the_length_is_bounded():
    """The one bound that a pattern cannot say; its last character is still accepted."""
    text = "a" * (MAX_PAID_BY_TYPE_CHARS - 5) + "=sunk"
    assert ["sunk"] == list(paid_by_type(text).values())
    with pytest.raises(PaidByTypeError, match="1025 characters, at most 1024"):
        paid_by_type(f"a{text}")


def test_whoever_wrote_it_reads_what_is_wrong():
    """The part that is wrong, and how to write it."""
    with pytest.raises(PaidByTypeError, match=r"^'inf2=free', which is not TYPE=sunk"):
        paid_by_type("trn1=sunk,inf2=free")


@pytest.mark.parametrize(
    ("paid", "by_type", "lifecycle", "instance_type", "expected"),
    [
        ("avoidable", {"trn2.48xlarge": "sunk"}, "capacity-block", "trn2.48xlarge", False),
        ("sunk", {"inf2.xlarge": "avoidable"}, "spot", "inf2.xlarge", True),
        (None, {"inf2.xlarge": "sunk"}, "spot", "inf2.xlarge", True),
        (None, {"trn2.48xlarge": "avoidable"}, "capacity-block", "trn2.48xlarge", False),
        (None, {"inf2.xlarge": "sunk"}, "spot", "trn2.48xlarge", False),
        (None, {}, "spot", "trn3.48xlarge", False),
        (None, {}, "capacity-block", "trn1.32xlarge", True),
        (None, {}, "on-demand", "trn2.3xlarge", True),
        (None, {}, None, "trn2u.48xlarge", True),
        (None, {}, "scheduled", "trn3pd98.3xlarge", True),
        (None, {}, "on-demand", "trn1.32xlarge", False),
        (None, {}, None, None, False),
    ],
)
def test_who_knows_best_decides(paid, by_type, lifecycle, instance_type, expected):
    """The operator, the parameter, spot or a block, the type; else a stop saves it."""
    told = record(paid=paid, lifecycle=lifecycle, instance_type=instance_type)
    assert expected == is_sunk(told, by_type)
