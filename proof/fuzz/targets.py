"""
Every reader of what others wrote, by name, and where it is held to its promise.

A target is imported when it is asked for: to fuzz one, its readers alone are
watched for the branches they take.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from proof.fuzz.target import Target

PLACES: Final = {
    "reports": "broken_reports.REPORTS",
    "monitor's stderr": "files.LAST_WORDS",
    "log lines": "lines.LINES",
    "deliveries": "lines.DELIVERIES",
    "stream batches": "lines.BATCHES",
    "table items": "lines.ITEMS",
    "settings file": "settings.SETTINGS",
    "monitor configuration": "settings.MONITOR",
    "function variables": "settings.VARIABLES",
    "kept state": "files.STATE",
    "spool files": "files.SPOOLS",
    "machine files": "files.MACHINE",
    "local services": "answers.LOCAL",
    "tags in XML": "answers.TAGS",
    "CloudWatch Logs' answers": "answers.LOGS",
    "alarm events": "events.ALARMS",
    "kept rollups": "events.ROLLUPS",
    "departure events": "events.DEPARTURES",
    "lines of a fleet": "fleets.FLEETS",
    "lines to lint": "command_files.LINT",
    "profiles": "command_files.PROFILES",
    "prices file": "command_files.PRICES",
    "rehearsal's answer": "command_files.REHEARSAL",
    "FilterLogEvents' answers": "account_answers.FILTERED",
    "Logs Insights' answers": "account_answers.QUERIED",
    "page requests": "page_requests.REQUESTS",
    "kernel records": "kernel_logs.RECORDS",
    "hardware faults": "kernel_logs.FAULTS",
    "kernel log positions": "kernel_logs.POSITIONS",
    "control groups": "owners.GROUPS",
    "processes": "owners.PROCESSES",
    "container files": "owners.CONTAINERS",
    "log folders": "owners.LOG_FOLDERS",
    "services that name owners": "owners.SERVICES",
    "pulse file": "amounts.PULSES",
    "system groups": "amounts.SYSTEMS",
}


def target(name: str) -> Target:
    """The target called *name*."""
    module, _, attribute = PLACES[name].partition(".")
    found: Target = getattr(import_module(f"proof.fuzz.{module}"), attribute)
    assert name == found.name
    return found
