"""FLOP/s as a share of the chips' dense BF16 peak."""

from __future__ import annotations

import pytest

from aggregator.rollups.rollup import RollupInProgress
from neuron_wire.instance_types import CHIP_TERA_FLOPS, INSTANCE_TYPES, peak_micros
from neuron_wire.merging import merge_records
from proof.factories.records import record

SHARE = "FlopsPercentOfBf16Peak"
MICRO = 10**6


def rolled(*instances):
    """The rollup of instances by type, state of their cores and TFLOPS."""
    rollup = RollupInProgress("c", 15)
    for number, (instance_type, state, tera_flops) in enumerate(instances):
        percent = tuple(None if letter == "?" else 50.0 for letter in state)
        made = record(
            instance_id=f"i-{number}", instance_type=instance_type, core_state=state,
            utilization_percent=percent, idle_minutes=(0,) * len(state), tera_flops=tera_flops,
        )  # fmt: skip
        rollup.fold_instance(merge_records([made]))
    return rollup.finish([])


@pytest.mark.parametrize(
    ("instances", "percent"),
    [
        ([("trn1.32xlarge", "b" * 32, 304.0)], 10),
        ([("trn2.48xlarge", "b" * 64, 1067.2)], 10),  # 16 chips of 667, two physical cores in one
        ([("trn2.48xlarge", "b" * 128, 1067.2)], 10),  # each physical core a logical one
        ([("trn1.32xlarge", "b" * 16 + "?" * 16, 304.0)], 20),  # of the known cores alone
        ([("trn1.32xlarge", "b" * 4, 38.0)], 10),  # an emitter that sees two of 16 devices
        ([("inf2.xlarge", "bb", 0.0)], 0),
        ([("inf2.xlarge", "bb", 380.0)], 200),  # a narrower type: not clipped
        ([("trn1.2xlarge", "bb", 19.0), ("trn1.32xlarge", "b" * 32, None)], 10),
        ([("trn1.2xlarge", "bb", 19.0), ("trn9.huge", "bb", 900.0)], 10),
        ([("trn1.2xlarge", "bb", 19.0), (None, "bb", 900.0)], 10),
        ([("trn1.2xlarge", "bb", None)], None),
        ([("trn9.huge", "bb", 1.0)], None),
        ([("trn1.2xlarge", "??", 1.0)], None),
    ],
)
def test_the_share_is_of_what_the_chips_of_known_cores_could_do(instances, percent):
    """Instances without FLOPs or with an unknown chip are in neither number."""
    assert percent == rolled(*instances).gauges.get(SHARE)


def test_every_type_has_a_chip_with_a_peak():
    """A new family needs a figure of AWS's, or its instances are left out unseen."""
    assert CHIP_TERA_FLOPS.keys() == {name[:4] for name in INSTANCE_TYPES}
    for name, kind in INSTANCE_TYPES.items():
        chips = kind.devices * CHIP_TERA_FLOPS[name[:4]] * MICRO
        assert chips == peak_micros(name, kind.cores, kind.cores)
