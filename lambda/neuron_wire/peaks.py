"""
What the chips could do at most, beside what neuron-monitor says they did.

Peaks are AWS's own of a chip, dense BF16, from the architecture pages of the AWS Neuron SDK
(2.32): https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/
The share of it is no model FLOPs utilization: what neuron-monitor counts as an operation is not
documented, and work of a narrower type than BF16 may be above 100 percent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.names import UNKNOWN

if TYPE_CHECKING:
    from neuron_wire import MinuteRecord

CHIP_TERA_FLOPS: Final = {"inf1": 64, "inf2": 190, "trn1": 190, "trn2": 667, "trn3": 671}
"""Dense BF16, 10^12 operations per second, by the first letters of a type."""

MICRO: Final = 10**6
"""Peaks are in whole millionths of a TFLOPS: sums of them do not depend on their order."""


class Flops(NamedTuple):
    """
    What instances did, and could have done.

    Attributes:
        tera_flops: Achieved 10^12 operations per second.

        peak_micros: Peak of the cores that gave them, in `MICRO` parts of a TFLOPS.
    """

    tera_flops: float
    peak_micros: int

    @property
    def percent_of_peak(self) -> float | None:
        """Share of the peak, not clipped; None without a peak."""
        return 100 * self.tera_flops * MICRO / self.peak_micros if self.peak_micros else None


def peak_micros(instance_type: str | None, cores: int, known: int) -> int | None:
    """
    Peak of *known* of the *cores* of an instance, None where its chip is unknown.

    A core has its share of all devices, whatever the logical core size; an emitter that sees
    some of the devices alone tells of fewer cores than the type has, and they are a part.
    """
    kind = INSTANCE_TYPES.get(instance_type or "")
    chip = CHIP_TERA_FLOPS.get(kind.name[:4]) if kind is not None else None
    if kind is None or chip is None:
        return None
    return kind.devices * chip * MICRO * known // max(cores, kind.cores)


def flops_of(record: MinuteRecord) -> Flops | None:
    """
    FLOP/s of a merged *record* and their peak; None without FLOPs or with an unknown chip.

    The cores that gave FLOPs are the known ones: one that no runtime listed did none.
    """
    if record.tera_flops is None:
        return None
    known = len(record.core_state) - record.core_state.count(UNKNOWN)
    peak = peak_micros(record.instance_type, len(record.core_state), known)
    return Flops(record.tera_flops, peak) if peak else None
