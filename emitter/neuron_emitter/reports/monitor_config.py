"""
The configuration for neuron-monitor: generated, or the user's own.

neuron-monitor never uses its default, because releases differ in what the default collects
(hardware counters were once removed). The generated configuration has one period for every group,
in whole seconds: neuron-monitor accepts "0.5s" without a message and uses 5 s. A user's own file is
passed on byte for byte, and read only to know what the reports will contain. Keys, groups and how
periods are inherited:
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-monitor-user-guide.html
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.options import read_bounded
from neuron_emitter.settings.run_settings import EVERY_TAG, MAX_REQUESTED_PERIOD_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from neuron_emitter.settings import MonitorSettings

COUNTERS: Final = "neuroncore_counters"
EXECUTION_STATS: Final = "execution_stats"
RUNTIMES_SECTION: Final = "neuron_runtimes"
SYSTEM: Final = "system_metrics"

SECTION_OF_GROUP: Final[dict[str, str]] = {
    COUNTERS: RUNTIMES_SECTION,
    EXECUTION_STATS: RUNTIMES_SECTION,
    "memory_used": RUNTIMES_SECTION,
    "neuron_runtime_vcpu_usage": RUNTIMES_SECTION,
    "neuron_hw_counters": SYSTEM,
    "memory_info": SYSTEM,
    "vcpu_usage": SYSTEM,
}
"""Every group that can be collected, and its section in the configuration."""

ALL_GROUPS: Final = tuple(SECTION_OF_GROUP)
SILENT_DEFAULT_S: Final = 5
"""The period that neuron-monitor uses if it has none, or cannot parse it."""

_WHOLE_SECONDS: Final = re.compile(r"([1-9][0-9]{0,5})s")


JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class MonitorConfig:
    """
    A user's own configuration, and its effect on reports.

    Attributes:
        text: The exact content of the file.

        period_s: The period of the core counters; without them, the shortest period of any group.

        groups: The groups that it requests, in the order of the file, each once.

        only_matched: True if reports omit runtimes that may exist, so that a core that no runtime
            lists is unknown. This is also the case without core counters: an empty list then says
            nothing about cores.

        warnings: Warnings for a person, a sentence each.
    """

    text: str
    period_s: float
    groups: tuple[str, ...]
    only_matched: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Request:
    """One group that a user's file requests."""

    name: str
    section: str
    period_s: int
    tag_filter: str = EVERY_TAG


def monitor_config(
    period_s: int, groups: Iterable[str] = ALL_GROUPS, tag_filter: str = EVERY_TAG
) -> str:
    """
    Return the configuration as JSON: each of *groups* every *period_s* seconds.

    Only runtimes whose tag matches *tag_filter* are collected.

    Raises:
        SettingsError: If there is no group, or one that neuron-monitor does not have.
    """
    asked = set(groups)
    if not asked or not asked <= SECTION_OF_GROUP.keys():
        found = ", ".join(sorted(asked - SECTION_OF_GROUP.keys())) or "none"
        msg = f"Unknown group in --groups: {found}. Use {', '.join(ALL_GROUPS)}."
        raise SettingsError(msg)
    period = f"{period_s}s"
    by_section: dict[str, list[dict[str, str]]] = {RUNTIMES_SECTION: [], SYSTEM: []}
    for name, section in SECTION_OF_GROUP.items():
        if name in asked:
            by_section[section].append({"type": name, "period": period})
    runtimes = [{"tag_filter": tag_filter, "metrics": by_section[RUNTIMES_SECTION]}]
    if not by_section[RUNTIMES_SECTION]:
        runtimes = []  # an entry that requests nothing may be answered with "no runtime"
    whole = {"period": period, RUNTIMES_SECTION: runtimes, SYSTEM: by_section[SYSTEM]}
    return json.dumps(whole, indent=2)


def requested_config(settings: MonitorSettings) -> MonitorConfig:
    """
    Return the configuration to start neuron-monitor with.

    Raises:
        SettingsError: If the file cannot be used, or a group does not exist.
    """
    if settings.monitor_config is not None:
        return read_monitor_config(settings.monitor_config)
    groups = settings.groups or ALL_GROUPS
    return MonitorConfig(
        text=monitor_config(settings.period, groups, settings.tag_filter),
        period_s=settings.period,
        groups=groups,
        only_matched=settings.tag_filter != EVERY_TAG or COUNTERS not in groups,
        warnings=(),
    )


def read_monitor_config(path: Path) -> MonitorConfig:
    """
    Read a user's own configuration, to be used unchanged.

    Raises:
        SettingsError: If *path* cannot be read, or does not contain a JSON object.
    """
    text = _read(path)
    try:
        root = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = "nested too deeply, or a number is too long"
        if isinstance(error, json.JSONDecodeError):
            where = f"line {error.lineno}: {error.msg}"
        msg = f"{path} is not valid JSON: {where}. Correct it."
        raise SettingsError(msg) from error
    if not isinstance(root, dict):
        msg = (
            f"{path} is not a JSON object but {_kind(root)}. See neuron-emf run "
            "--print-monitor-config for an example."
        )
        raise SettingsError(msg)
    warnings: list[str] = []
    asked = list(_asked(root, warnings))
    counters = [request for request in asked if request.name == COUNTERS]
    warnings += _warnings(asked, counters)
    period_s = max((counter.period_s for counter in counters), default=0)
    return MonitorConfig(
        text=text,
        period_s=period_s or min((group.period_s for group in asked), default=SILENT_DEFAULT_S),
        groups=tuple(dict.fromkeys(request.name for request in asked)),
        only_matched=all(counter.tag_filter != EVERY_TAG for counter in counters),
        warnings=tuple(warnings),
    )


def _read(path: Path) -> str:
    try:
        if not S_ISREG(path.stat().st_mode):
            msg = (
                f"{path} is not a regular file, and it is read again on SIGHUP. Save the "
                "configuration to a file."
            )
            raise SettingsError(msg)
        content = read_bounded(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the path contains a null byte"
        msg = f"Cannot read {path}: {reason}. Check the path."
        raise SettingsError(msg) from error
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8."
        raise SettingsError(msg) from error


def _asked(root: JsonObject, warnings: list[str]) -> Iterator[_Request]:
    root_s = _period_s(root, SILENT_DEFAULT_S, "the file", warnings)
    for entry in _objects(root, RUNTIMES_SECTION, warnings):
        entry_s = _period_s(entry, root_s, f"an entry of {RUNTIMES_SECTION}", warnings)
        tag_filter = entry.get("tag_filter")
        if not isinstance(tag_filter, str):
            tag_filter = EVERY_TAG
        for group in _objects(entry, "metrics", warnings):
            name = str(group.get("type"))
            period_s = _period_s(group, entry_s, name, warnings)
            yield _Request(name, RUNTIMES_SECTION, period_s, tag_filter)
    for group in _objects(root, SYSTEM, warnings):
        name = str(group.get("type"))
        yield _Request(name, SYSTEM, _period_s(group, root_s, name, warnings))


def _objects(holder: JsonObject, member: str, warnings: list[str]) -> Iterator[JsonObject]:
    entries = holder.get(member)
    if entries is None:
        return
    if not isinstance(entries, list):
        warnings.append(f"{member} is not a list but {_kind(entries)}")
        return
    for entry in entries:
        if isinstance(entry, dict):
            yield entry
        else:
            warnings.append(f"{member} has an entry that is not an object but {_kind(entry)}")


def _period_s(holder: JsonObject, inherited_s: int, name: str, warnings: list[str]) -> int:
    period = holder.get("period")
    if period is None:
        return inherited_s
    match = _WHOLE_SECONDS.fullmatch(period) if isinstance(period, str) else None
    if match is not None:
        return int(match[1])
    shown = json.dumps(period)[:40]
    warnings.append(
        f'the period of {name[:40]} is {shown}, not whole seconds such as "5s": '
        f"neuron-monitor silently uses {SILENT_DEFAULT_S} s"
    )
    return SILENT_DEFAULT_S


def _warnings(asked: list[_Request], counters: list[_Request]) -> Iterator[str]:
    for group in asked:
        if SECTION_OF_GROUP.get(group.name) != group.section:
            yield (
                f"{group.section} has {group.name[:40]!r}, which this release does not "
                "know: neuron-monitor may reject it, and it is not used here"
            )
    if not counters:
        yield (
            f"{COUNTERS} is not configured: without it every core's utilization is "
            "unknown, and no core counts as idle"
        )
    if any(group.tag_filter != EVERY_TAG for group in counters):
        yield "a tag_filter hides runtimes: cores not held by a matching runtime are unknown"
    periods_s = sorted({group.period_s for group in asked})
    if len(periods_s) > 1:
        listed = ", ".join(f"{period_s} s" for period_s in periods_s)
        yield (
            f"groups have different periods ({listed}), so reports lack the groups "
            "that are not due: use one period for all"
        )
    if periods_s and periods_s[-1] > MAX_REQUESTED_PERIOD_S:
        yield (
            f"a period of {periods_s[-1]} s is longer than {MAX_REQUESTED_PERIOD_S} s: "
            "minutes may be only partly covered"
        )


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return kinds.get(type(value), "a number")
