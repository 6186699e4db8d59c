"""Whether a stop would save anything, by whoever knows best."""

from __future__ import annotations

import pytest

from neuron_wire.prices import (
    PaidByTypeError,
    is_sunk,
    paid_by_type,
)
from proof.factories.records import record


def test_whoever_wrote_it_reads_what_is_wrong():
    """The part that is wrong, or the beginning of it, and how to write it."""
    with pytest.raises(PaidByTypeError, match=r"^'inf2=free', which is not TYPE=sunk"):
        paid_by_type("trn1=sunk,inf2=free")
    with pytest.raises(PaidByTypeError, match=f"^'{40 * 'a'}', which"):
        paid_by_type(41 * "a")


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
