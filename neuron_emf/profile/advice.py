"""
Rules of thumb: what in a profile is worth a look.

The bounds are those of Neuron Explorer's Summary Viewer (read 2026-11-21):
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-explorer/overview-summary-page.html
That of throttling is ours. A rule whose numbers are not told finds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emf.profile.keys import NS, THROTTLED_SHARE, THROTTLED_TIME, amount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TRANSPOSE_PERCENT: Final = 10.0  # of the operations of the tensor engine
SPILL_PERCENT: Final = 25.0  # of the reads from device memory
MODEL_SHARE: Final = 0.5  # of the time in which the tensor engine works
THROTTLED_PERCENT: Final = 5.0  # of the active time: a moment at the start of a run is no finding
LEAST_TENSOR_PERCENT: Final = 1.0  # below it there is no matrix work to judge


@dataclass(frozen=True, slots=True)
class ProfileAdvice:
    """
    One rule that a profile breaks, and what to do.

    Attributes:
        rule: Its short name, of a bounded set.

        sentence: What was found, with its numbers.

        advice: What to do.
    """

    rule: str
    sentence: str
    advice: str


def advice_for(
    members: Mapping[str, float], values: Mapping[str, object]
) -> Iterator[ProfileAdvice]:
    """What the numeric *members* of a line break, made of the summary *values*."""
    transpose = members.get("TransposePercent")
    if transpose is not None and transpose > TRANSPOSE_PERCENT:
        yield ProfileAdvice(
            "transpose",
            f"{transpose:.1f} % of the tensor engine's operations only move data "
            f"(a good profile: at most {TRANSPOSE_PERCENT:g} %)",
            "lay tensors out so that fewer of them need transposing",
        )
    spill = members.get("SpillReloadPercent")
    if spill is not None and spill > SPILL_PERCENT:
        yield ProfileAdvice(
            "spill",
            f"{spill:.1f} % of the reads from device memory reload spilled data "
            f"(a good profile: at most {SPILL_PERCENT:g} %)",
            "use smaller tiles, or look for data kept on chip longer than needed",
        )
    mfu, tensor = members.get("MfuPercent"), members.get("TensorActivePercent")
    if (
        mfu is not None
        and tensor is not None
        and tensor >= LEAST_TENSOR_PERCENT
        and mfu < MODEL_SHARE * tensor
    ):
        yield ProfileAdvice(
            "low_model_flops",
            f"the tensor engine works {tensor:.1f} % of the time and does {mfu:.1f} % of its peak "
            f"for the model (a good profile: at least {100 * MODEL_SHARE:g} % of that time)",
            "use matrices that fill the engine, and let instructions overlap",
        )
    throttled = throttled_percent(members, values)
    if throttled >= THROTTLED_PERCENT:
        limit = members.get("ThrottleLimitPercent")
        held = f", to {limit:.1f} % on average" if limit is not None else ""
        yield ProfileAdvice(
            "throttled",
            f"the tensor engine was throttled in {throttled:.1f} % of the active time{held} "
            f"(a good profile: under {THROTTLED_PERCENT:g} %)",
            "compare with another instance, and with a run of fewer cores at once",
        )


def throttled_percent(members: Mapping[str, float], values: Mapping[str, object]) -> float:
    """For how much of the active time the core that fared worst was held back; 0 if not told."""
    active_s = members.get("ActiveSeconds")
    shares = [0.0]
    for key, value in values.items():
        number = amount(value) or 0.0
        if THROTTLED_SHARE.fullmatch(key):
            shares.append(number)
        elif active_s and THROTTLED_TIME.fullmatch(key):
            shares.append(number / NS / active_s)
    return min(100.0, 100 * max(shares))
