"""
neuron-monitor's own configuration file: which groups it collects, and how often.

Keys, group names and inheritance of periods: the user guide of neuron-monitor,
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-monitor-user-guide.html
A period that is not a number of whole seconds is taken without a word and
becomes 5 s, as was measured on an inf2 instance with "0.5s" and "1.0s".

Members it does not know are left alone, as the real one leaves them; a group it
does not know is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DEFAULT_PERIOD_MS: Final = 5_000
EVERYTHING: Final = ".*"

COUNTERS: Final = "neuroncore_counters"
EXECUTIONS: Final = "execution_stats"
MEMORY: Final = "memory_used"
RUNTIME_VCPU: Final = "neuron_runtime_vcpu_usage"
RUNTIME_GROUPS: Final = (EXECUTIONS, MEMORY, RUNTIME_VCPU, COUNTERS)

HOST_MEMORY: Final = "memory_info"
HARDWARE: Final = "neuron_hw_counters"
HOST_VCPU: Final = "vcpu_usage"
SYSTEM_GROUPS: Final = (HOST_MEMORY, HARDWARE, HOST_VCPU)

SYSTEM_SECTION: Final = -1
_WHOLE_SECONDS: Final = re.compile(r"([1-9][0-9]{0,8})s")


class ConfigurationError(Exception):
    """The configuration file cannot be used: exit 1, as the real one does."""


class GroupKey(NamedTuple):
    """
    One group as configured.

    Attributes:
        section: Index from 0 of its entry in `neuron_runtimes`, or -1 for the system's.

        name: Its name, for example `memory_used`.
    """

    section: int
    name: str


@dataclass(frozen=True, slots=True)
class RuntimeSection:
    """One entry of `neuron_runtimes`: the runtimes it is about, and their groups."""

    tag_filter: re.Pattern[str]
    periods_ms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is collected, each group with its period in milliseconds."""

    sections: tuple[RuntimeSection, ...]
    system_periods_ms: Mapping[str, int]

    def periods_ms(self) -> dict[GroupKey, int]:
        """Every group's period."""
        found = {GroupKey(SYSTEM_SECTION, name): ms for name, ms in self.system_periods_ms.items()}
        for index, section in enumerate(self.sections):
            found.update({GroupKey(index, name): ms for name, ms in section.periods_ms.items()})
        return found

    def section_of(self, tag: str) -> int | None:
        """The first entry whose filter finds something in *tag*, or None."""
        for index, section in enumerate(self.sections):
            if section.tag_filter.search(tag):
                return index
        return None

    def counters_period_ms(self) -> int | None:
        """The period of the core counters, the longest when entries differ; None without any."""
        periods = [one.periods_ms[COUNTERS] for one in self.sections if COUNTERS in one.periods_ms]
        return max(periods, default=None)


def default_configuration() -> Configuration:
    """Every group of every runtime, each 5 s: what runs without a file."""
    return Configuration(
        (RuntimeSection(re.compile(EVERYTHING), dict.fromkeys(RUNTIME_GROUPS, DEFAULT_PERIOD_MS)),),
        dict.fromkeys(SYSTEM_GROUPS, DEFAULT_PERIOD_MS),
    )


def read_configuration(path: Path) -> Configuration:
    """
    Read the file that `-c` names.

    Raises:
        ConfigurationError: If it cannot be read or is not such a configuration.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        msg = f"Cannot read {path}: {reason}. Check the name."
        raise ConfigurationError(msg) from error
    try:
        document: object = json.loads(text)
    except json.JSONDecodeError as error:
        msg = f"{path} is not JSON: {error.msg} in line {error.lineno}."
        raise ConfigurationError(msg) from error
    return parse_configuration(document)


def parse_configuration(document: object) -> Configuration:
    """
    Make sense of a decoded configuration.

    Raises:
        ConfigurationError: If it has the wrong shape or names an unknown group.
    """
    root = _object(document, "The configuration")
    root_ms = _period_ms(root, DEFAULT_PERIOD_MS)
    sections = []
    for entry in _objects(root, "neuron_runtimes"):
        entry_ms = _period_ms(entry, root_ms)
        periods_ms = _groups(entry, "metrics", RUNTIME_GROUPS, entry_ms)
        sections.append(RuntimeSection(_filter(entry), periods_ms))
    system_ms = _groups(root, "system_metrics", SYSTEM_GROUPS, root_ms)
    if not system_ms and not any(one.periods_ms for one in sections):
        msg = "The configuration names no group. Add one to neuron_runtimes or system_metrics."
        raise ConfigurationError(msg)
    return Configuration(tuple(sections), system_ms)


def _groups(
    holder: Mapping[str, object], member: str, known: tuple[str, ...], inherited_ms: int
) -> dict[str, int]:
    periods_ms = {}
    for entry in _objects(holder, member):
        name = entry.get("type")
        if name not in known:
            msg = (
                f"{member} has an unknown type: {str(name)[:40]!r}. Use {', '.join(sorted(known))}."
            )
            raise ConfigurationError(msg)
        periods_ms[str(name)] = _period_ms(entry, inherited_ms)
    return periods_ms


def _period_ms(holder: Mapping[str, object], inherited_ms: int) -> int:
    period = holder.get("period")
    if period is None:
        return inherited_ms
    match = _WHOLE_SECONDS.fullmatch(period) if isinstance(period, str) else None
    # Not an error on the real one, and not worth a word to it.
    return DEFAULT_PERIOD_MS if match is None else 1000 * int(match[1])


def _filter(entry: Mapping[str, object]) -> re.Pattern[str]:
    text = entry.get("tag_filter", EVERYTHING)
    try:
        return re.compile(text if isinstance(text, str) else EVERYTHING)
    except re.error as error:
        msg = f"tag_filter is not a regular expression: {text!r} ({error})."
        raise ConfigurationError(msg) from error


def _objects(holder: Mapping[str, object], member: str) -> Iterator[Mapping[str, object]]:
    entries = holder.get(member)
    if entries is None:
        return
    if not isinstance(entries, list):
        msg = f"{member} is not a list but a {type(entries).__name__}."
        raise ConfigurationError(msg)
    for entry in entries:
        yield _object(entry, f"An entry of {member}")


def _object(found: object, what: str) -> Mapping[str, object]:
    if isinstance(found, dict):
        return found
    msg = f"{what} is not a JSON object but a {type(found).__name__}."
    raise ConfigurationError(msg)
