"""
Options that several commands have, each declared once, and the parsers of their values.

A command's settings inherit the options that it needs. `run` has Region and log group too, so they
are declared in `neuron_emitter.settings`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import click

from neuron_accounts.core_time import DEFAULT_IDLE_AFTER_MINUTES
from neuron_accounts.payment import paid_by_type
from neuron_accounts.prices import DEFAULT_REGION, ParameterTextError, Prices, price_overrides
from neuron_accounts.teams import TeamRules, team_rules_of_file
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.minute_settings import advanced, setting
from neuron_emitter.settings.options import read_bounded
from neuron_emitter.settings.run_settings import LogGroupSettings, RegionSettings
from neuron_wire.names import region_of_variables

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_accounts.payment import PaidByType

SINCE: Final = "7d"
"""The default period of an account. Files are read whole."""


_RULES_GROUP: Final = "Prices and rules"
FILE_PATH: Final = click.Path(dir_okay=False, path_type=Path)
_Value = TypeVar("_Value")


def flag(help_text: str, **form: Any) -> bool:  # noqa: ANN401 - as `setting` has them
    """Declare a setting that has no value and is off by default."""
    return setting(default=False, help_text=help_text, **form)


@dataclass(frozen=True, kw_only=True)
class StackSettings(RegionSettings):
    """The stack to read."""

    HEADING: ClassVar = RegionSettings.HEADING

    stack_name: str = setting("neuron-emf", "Name of the deployed stack.", metavar="NAME")
    rehearsal: bool = flag(
        "Read the rehearsal that `make demo` runs on this machine instead of an account."
    )


@dataclass(frozen=True, kw_only=True)
class AccountSettings(StackSettings, LogGroupSettings):
    """The stack, and the log group of its lines."""

    HEADING: ClassVar = RegionSettings.HEADING

    rollups_log_group: str = advanced(
        "", "Log group of the rollups; by default /neuron-emf/STACK/rollups.", metavar="NAME"
    )


@dataclass(frozen=True, kw_only=True)
class PeriodSettings:
    """The period to read."""

    since: str = setting(
        "",
        "Start: a period back from now such as 36h, 7d or 4w, or a moment such as "
        f"2026-11-20T08:00:00Z; by default {SINCE}, and for FILES all their minutes.",
        metavar="TIME",
    )
    until: str = setting("", "End, in the same form; by default now.", metavar="TIME")


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """The cluster to read."""

    cluster: str = setting("", "Only this cluster; by default all.", metavar="NAME", short="-c")


@dataclass(frozen=True, kw_only=True)
class PriceSettings:
    """The caller's own prices."""

    HEADING: ClassVar = _RULES_GROUP

    price_overrides: str = setting(
        "",
        "USD per hour by instance type, in one region or in all, as the stack's PriceOverrides "
        "takes them: trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4. They take precedence over "
        "list prices.",
        metavar="[REGION/]TYPE=USD,...",
    )


@dataclass(frozen=True, kw_only=True)
class PaymentSettings:
    """Payment of instances: committed or avoidable, by type."""

    HEADING: ClassVar = _RULES_GROUP

    paid_by_type: str = setting(
        "",
        "How instances are paid (committed or avoidable), by type, as the stack's PaidByType: "
        "trn1.32xlarge=committed. run --paid takes precedence.",
        metavar="TYPE=PAID,...",
    )


@dataclass(frozen=True, kw_only=True)
class IdleSettings:
    """The time after which a core is idle."""

    HEADING: ClassVar = _RULES_GROUP

    idle_after: int = advanced(
        DEFAULT_IDLE_AFTER_MINUTES,
        "Minutes without work from which a core is idle, 1 to 1440; the stack's parameter "
        "IdleAfterMinutes is the same number.",
        kind=click.IntRange(1, 1440),
        metavar="MINUTES",
    )


@dataclass(frozen=True, kw_only=True)
class TeamSettings:
    """The team of each owner."""

    HEADING: ClassVar = _RULES_GROUP

    teams: Path | None = advanced(  # noqa: RUF009 - a field, not a shared value
        None,
        "Rules for the team of an owner, one per line, each in the form of the stack's Teams; "
        "the first match counts. By default the teams that schedulers report.",
        kind=FILE_PATH,
    )


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """The form of the answer."""

    json: bool = flag("Print one JSON document, for a program.")


def prices(overrides: str, region: str | None = None) -> Prices:
    """
    Return the list prices with *overrides*. Lines without a Region have the Region *region*.

    The default is the Region of the AWS SDK's variables.

    Raises:
        SettingsError: If *overrides* have another form.
    """
    region = region or region_of_variables(os.environ) or DEFAULT_REGION
    return Prices(_parsed("--price-overrides has", price_overrides, overrides), region)


def payment(text: str) -> PaidByType:
    """
    Return how instances are paid, by type, from the option's *text*.

    Raises:
        SettingsError: If *text* has another form.
    """
    return _parsed("--paid-by-type has", paid_by_type, text)


def teams(file: Path | None) -> TeamRules:
    """
    Return the rules in *file*; no rules without a file.

    Raises:
        SettingsError: If the file cannot be read or contains anything but rules.
    """
    if file is None:
        return TeamRules()
    try:
        return _parsed(f"--teams {file},", team_rules_of_file, read_bounded(file).decode())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        msg = f"Cannot read --teams {file}: {reason}. Name a text file of rules."
        raise SettingsError(msg) from error


def _parsed(option: str, parse: Callable[[str], _Value], text: str) -> _Value:
    try:
        return parse(text)
    except ParameterTextError as error:
        msg = f"{option} {error}"
        raise SettingsError(msg) from error
