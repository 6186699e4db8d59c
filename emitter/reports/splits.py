"""
The physical cores behind logical ones, whatever the report calls them.

Under logical cores an entry nests an object whose children carry
`neuroncore_utilization`. Its key is `v3d` on Trainium2, which the normal decode
reads; what a later device calls it is not documented anywhere, so a report of
logical cores without a `v3d` is decoded again for this alone, when it is asked
for: that takes three times as long as the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from emitter.reports.groups import PhysicalUse

if TYPE_CHECKING:
    from emitter.reports.groups import Runtime
    from emitter.reports.system_groups import Hardware


class _Counters(msgspec.Struct, gc=False):
    neuroncores_in_use: dict[str, dict[str, msgspec.Raw] | None] | None = None


class _RuntimeReport(msgspec.Struct, gc=False):
    neuroncore_counters: _Counters | None = None


class _Runtime(msgspec.Struct, gc=False):
    report: _RuntimeReport | None = None


class _Report(msgspec.Struct, gc=False):
    neuron_runtime_data: list[_Runtime] | None = None


_decode: Final = msgspec.json.Decoder(_Report).decode
_decode_split: Final = msgspec.json.Decoder(dict[str, PhysicalUse | None]).decode


def may_be_split(hardware: Hardware | None) -> bool:
    """
    Whether a logical core stands for more than one physical core.

    The version says so too, `v3d` instead of `v3`, in reports without the number.
    """
    if hardware is None:
        return False
    config = hardware.logical_neuroncore_config
    if config is not None:
        return config > 1
    version = hardware.neuroncore_version
    return version is not None and version != "" and not version[-1].isdigit()


def find_splits(runtimes: list[Runtime] | None, line: bytes) -> None:
    """
    Give each core of *runtimes*, decoded from *line*, its split.

    Of the same report, so that entry and core are where they were.
    """
    try:
        found = _decode(line).neuron_runtime_data
    except (ValueError, RecursionError):
        return  # a detail: what can be read without it has been read
    for runtime, again in zip(runtimes or (), found or (), strict=False):
        counters = None if runtime.report is None else runtime.report.neuroncore_counters
        entries = None if again.report is None else again.report.neuroncore_counters
        if counters is None or entries is None:
            continue
        for key, use in (counters.neuroncores_in_use or {}).items():
            members = (entries.neuroncores_in_use or {}).get(key)
            split = None if members is None else _split(members)
            if use is not None and split is not None:
                # Frozen for everybody else: what was missing until now has no reader yet.
                msgspec.structs.force_setattr(use, "split", split)


def lacks_splits(runtimes: list[Runtime] | None) -> bool:
    """Whether some runtime lists cores, all without a split."""
    return any(_lacks_split(runtime) for runtime in runtimes or ())


def _lacks_split(runtime: Runtime) -> bool:
    counters = None if runtime.report is None else runtime.report.neuroncore_counters
    uses = None if counters is None else counters.neuroncores_in_use
    return uses is not None and not any(use is not None and use.split for use in uses.values())


def _split(members: dict[str, msgspec.Raw]) -> dict[str, PhysicalUse | None] | None:
    for raw in members.values():
        try:
            uses = _decode_split(raw)
        except (ValueError, RecursionError):
            continue
        if any(use is not None and use.neuroncore_utilization is not None for use in uses.values()):
            return uses
    return None
