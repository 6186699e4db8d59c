"""
The numbers of a minute line that are read back: where each is kept, and what it can be.

Those that several rules of the fold or of the stack make or use have a field
of the record; the table `FIELDS` is the only place where a field meets its
name in the line. Every other is a reading, and the catalogue alone knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_wire import checked, names
from neuron_wire.catalogue import MEMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Number = int | float

_SIGNIFICANT: Final = ".6g"
"""
How an amount that is no count is written. neuron-monitor's own numbers are
means of a period and no more exact; every further digit is a byte of every line.
"""

FIELDS: Final = {
    "Executions": "executions",
    "ExecutionErrors": "execution_errors",
    "LatencyP50Mean": "latency_p50_mean_s",
    "LatencyP99Max": "latency_p99_max_s",
    "DeviceLatencyP50Mean": "device_latency_p50_mean_s",
    "DeviceLatencyP99Max": "device_latency_p99_max_s",
    "LatencyGapP50": "latency_gap_s",
    "TeraFlops": "tera_flops",
    "DeviceMemoryUsed": "device_memory_used_bytes",
    "DeviceMemoryTotal": "device_memory_total_bytes",
    "RuntimeHostMemory": "runtime_host_memory_bytes",
    "EccCorrected": "ecc_corrected",
    "EccUncorrected": "ecc_uncorrected",
    "EccCorrectedRise": "ecc_corrected_rise",
    "EccUncorrectedRise": "ecc_uncorrected_rise",
}

NUMBERS: Final = tuple(
    (one.name, FIELDS.get(one.name), int if one.is_whole else float)
    for one in MEMBERS
    if names.MINUTE in one.kinds and (one.merges or one.name in FIELDS)
)
"""In the order of the line: name, field or None where it is a reading, type."""


def read_amounts(line: Mapping[str, object]) -> tuple[dict[str, Number], dict[str, Number]]:
    """
    The numbers of *line*: those with a field, by field, and the readings, by name.

    Raises:
        WireFormatError: If one has a type or range that cannot be.
    """
    fields: dict[str, Number] = {}
    readings: dict[str, Number] = {}
    for member, field, kind in NUMBERS:
        value = line.get(member)
        if value is None:
            continue
        if type(value) is kind and 0 <= value <= checked.MAX_COUNT:
            number: Number = value  # a third faster than to ask below
        else:
            number = (checked.whole if kind is int else checked.amount)(value, member)
        if field is None:
            readings[member] = number
        else:
            fields[field] = number
    return fields, readings


def significant(value: Number) -> Number:
    """*value* as exact as a line says an amount: rounded once, here and nowhere before."""
    return float(format(value, _SIGNIFICANT)) if isinstance(value, float) else value


def possible(numbers: Iterable[tuple[str, Number | None]]) -> dict[str, object]:
    """Those of *numbers* that a reader accepts, as a line has them."""
    # NaN compares false with everything.
    return {
        member: significant(value)
        for member, value in numbers
        if value is not None and 0 <= value <= checked.MAX_COUNT
    }
