"""
neuron-monitor's own configuration file: which groups it collects, and how often.

Keys, group names and inheritance of periods: the user guide of neuron-monitor,
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-monitor-user-guide.html
A period that is not a number of whole seconds is taken without a word and
becomes 5 s, as was measured on an inf2 instance with "0.5s" and "1.0s".

Members it does not know are left alone, as the real one leaves them; a group it
does not know is refused. Of the entries for runtimes, the last one's filter of tags counts for all.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT_PERIOD_MS: Final = 5_000
EVERY_TAG: Final = re.compile(".*")

COUNTERS: Final = "neuroncore_counters"
EXECUTIONS: Final = "execution_stats"
MEMORY: Final = "memory_used"
RUNTIME_VCPU: Final = "neuron_runtime_vcpu_usage"
RUNTIME_GROUPS: Final = (EXECUTIONS, MEMORY, RUNTIME_VCPU, COUNTERS)

HOST_MEMORY: Final = "memory_info"
HARDWARE: Final = "neuron_hw_counters"
HOST_VCPU: Final = "vcpu_usage"
SYSTEM_GROUPS: Final = (HOST_MEMORY, HARDWARE, HOST_VCPU)

_WHOLE_SECONDS: Final = re.compile(r"([1-9][0-9]{0,8})s")


class ConfigurationError(Exception):
    """The configuration file cannot be used: exit 1, as the real one does."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """
    What is collected.

    Attributes:
        tag_filter: Of which runtimes: those whose tag has it.
    """

    runtime_periods_ms: Mapping[str, int]
    system_periods_ms: Mapping[str, int]
    tag_filter: re.Pattern[str] = EVERY_TAG

    def periods_ms(self) -> dict[str, int]:
        """Every group's period; the names of both kinds differ."""
        return {**self.system_periods_ms, **self.runtime_periods_ms}


def default_configuration() -> Configuration:
    """Every group, each 5 s: what runs without a file."""
    return Configuration(
        dict.fromkeys(RUNTIME_GROUPS, DEFAULT_PERIOD_MS),
        dict.fromkeys(SYSTEM_GROUPS, DEFAULT_PERIOD_MS),
    )


def read_configuration(path: Path) -> Configuration:
    """
    Read the file that `-c` names.

    Raises:
        ConfigurationError: If it cannot be read or is not such a configuration.
    """
    try:
        return parse_configuration(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        msg = f"Cannot read {path}: {error}."
        raise ConfigurationError(msg) from error


def parse_configuration(document: object) -> Configuration:
    """
    Make sense of a decoded configuration.

    Raises:
        ConfigurationError: If it has the wrong shape or names an unknown group.
    """
    try:
        return _configuration(document)
    except (AttributeError, TypeError, re.error) as error:
        msg = f"The configuration has not the shape of neuron-monitor's: {error}."
        raise ConfigurationError(msg) from error


def _configuration(root: Any) -> Configuration:  # noqa: ANN401  # decoded JSON of any shape
    root_ms = _period_ms(root, DEFAULT_PERIOD_MS)
    runtimes: dict[str, int] = {}
    tag_filter = EVERY_TAG
    for entry in root.get("neuron_runtimes") or ():
        entry_ms = _period_ms(entry, root_ms)
        runtimes |= _groups(entry.get("metrics") or (), RUNTIME_GROUPS, entry_ms)
        tag_filter = re.compile(entry.get("tag_filter", EVERY_TAG))
    system = _groups(root.get("system_metrics") or (), SYSTEM_GROUPS, root_ms)
    if not runtimes and not system:
        msg = "The configuration names no group. Add one to neuron_runtimes or system_metrics."
        raise ConfigurationError(msg)
    return Configuration(runtimes, system, tag_filter)


def _groups(entries: Any, known: tuple[str, ...], inherited_ms: int) -> dict[str, int]:  # noqa: ANN401
    periods_ms = {}
    for entry in entries:
        name = entry.get("type")
        if name not in known:
            msg = f"unknown type: {str(name)[:40]!r}. Use {', '.join(sorted(known))}."
            raise ConfigurationError(msg)
        periods_ms[name] = _period_ms(entry, inherited_ms)
    return periods_ms


def _period_ms(holder: Mapping[str, object], inherited_ms: int) -> int:
    period = holder.get("period")
    if period is None:
        return inherited_ms
    match = _WHOLE_SECONDS.fullmatch(period) if isinstance(period, str) else None
    # Not an error on the real one, and not worth a word to it.
    return DEFAULT_PERIOD_MS if match is None else 1000 * int(match[1])
