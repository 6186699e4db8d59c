"""
One decoded neuron-monitor report.

Lenient: a value of a wrong type costs its group, never the report, and unknown members are ignored.
Usually one typed decode is enough; a report that fails it is decoded group by group.
"""

from __future__ import annotations

from typing import Final, TypeVar

from msgspec import Raw, Struct, field, json, structs

from neuron_emitter.reports.groups import (
    Hardware,
    InstanceInfo,
    KubernetesInfo,
    Runtime,
    RuntimeReport,
    System,
)


class Report(Struct, frozen=True, gc=False):
    """
    One report. It has no time of its own: the reader adds the time of receipt.

    Attributes:
        neuron_runtime_data: The list of runtimes. An empty list means that no runtime exists, None
            that runtimes were not collected: the difference between idle and unknown.

        dropped_groups: Names of groups whose values had a wrong type.
    """

    neuron_runtime_data: list[Runtime] | None = None
    system_data: System | None = None
    instance_info: InstanceInfo | None = None
    neuron_hardware_info: Hardware | None = None
    neuron_k8s_info: KubernetesInfo | None = None
    # Our own members, under names that no tool uses.
    dropped_groups: tuple[str, ...] = field(default=(), name="(dropped_groups)")


class ReportError(ValueError):
    """A piece of input is not a report."""


_GroupT = TypeVar("_GroupT")

_BROKEN: Final = (ValueError, RecursionError)
"""msgspec's own errors, invalid UTF-8 in a text, and unlimited nesting."""

_Members = dict[str, Raw]
_decode: Final = json.Decoder(Report).decode
_check_json: Final = json.Decoder(Raw).decode
_decode_members: Final = json.Decoder(_Members).decode


_EMPTY_REPORT: Final = Report()
_REPORT_GROUPS: Final = frozenset(Report.__struct_encode_fields__[:-1])  # the last one is ours


def decode(line: bytes) -> Report:
    """
    Parse one report.

    >>> decode(b'{"neuron_runtime_data": []}').neuron_runtime_data
    []

    Raises:
        ReportError: If *line* is not JSON, or JSON but not a report. A value
            of a wrong type only costs the group it is in.
    """
    try:
        report = _decode(line)
    except _BROKEN:
        return _decode_by_group(line)
    if report.neuron_runtime_data is None and report == _EMPTY_REPORT:
        _require_member(line)
    return report


def _decode_by_group(line: bytes) -> Report:
    """Decode group by group, so that only a group with a wrong type is lost."""
    try:
        _check_json(line)
    except _BROKEN as error:
        msg = "a line is not JSON"
        raise ReportError(msg) from error
    members = _require_member(line)
    dropped: list[str] = []
    report = Report(
        neuron_runtime_data=_runtimes(members, dropped),
        system_data=_groups(members, "system_data", System, dropped),
        instance_info=_group(members, "instance_info", InstanceInfo, dropped),
        neuron_hardware_info=_group(members, "neuron_hardware_info", Hardware, dropped),
        neuron_k8s_info=_group(members, "neuron_k8s_info", KubernetesInfo, dropped),
    )
    return structs.replace(report, dropped_groups=tuple(dropped))


def _require_member(line: bytes) -> _Members:
    try:
        members = _decode_members(line)
    except _BROKEN as error:
        msg = "a line is JSON but not a readable object"
        raise ReportError(msg) from error
    if members.keys().isdisjoint(_REPORT_GROUPS):
        msg = "a line is JSON but has no member of a neuron-monitor report"
        raise ReportError(msg)
    return members


def _runtimes(members: _Members, dropped: list[str]) -> list[Runtime] | None:
    entries = _group(members, "neuron_runtime_data", list[Raw], dropped)
    return None if entries is None else [_runtime(entry, dropped) for entry in entries]


def _runtime(raw: Raw, dropped: list[str]) -> Runtime:
    try:
        members = _decode_members(raw)
    except _BROKEN:
        # The runtime exists in any case: an empty entry keeps the list from meaning "no runtime",
        # and contains nothing that could be wrong.
        dropped.append("neuron_runtime_data")
        return Runtime()
    return Runtime(
        pid=_group(members, "pid", int, dropped),
        neuron_runtime_tag=_group(members, "neuron_runtime_tag", str, dropped),
        error=_group(members, "error", str, dropped),
        report=_groups(members, "report", RuntimeReport, dropped),
    )


def _groups(
    members: _Members, name: str, shape: type[_GroupT], dropped: list[str]
) -> _GroupT | None:
    """Decode an object whose members are groups."""
    groups = _group(members, name, _Members, dropped)
    if groups is None:
        return None
    # A TypeVar cannot require a Struct.
    fields = structs.fields(shape)  # type: ignore[arg-type]
    return shape(**{each.name: _group(groups, each.name, each.type, dropped) for each in fields})


def _group(
    members: _Members, name: str, shape: type[_GroupT], dropped: list[str]
) -> _GroupT | None:
    raw = members.get(name)
    if raw is None:
        return None
    try:
        return json.decode(raw, type=shape | None)
    except _BROKEN:
        dropped.append(name)
        return None
