"""
The settings that the template passes to the functions, read once and checked.

Variables that Powertools reads itself (POWERTOOLS_SERVICE_NAME) are not here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aggregator.minutes import SILENT_FORGET_MINUTES
from neuron_accounts.core_time import CostRules
from neuron_accounts.payment import paid_by_type
from neuron_accounts.prices import DEFAULT_REGION, Prices, price_overrides
from neuron_accounts.teams import team_rules
from neuron_wire.line_members import present_members
from neuron_wire.names import Variables, region_of_variables

if TYPE_CHECKING:
    from collections.abc import Callable

_Value = TypeVar("_Value")

MAX_CLUSTERS_WITH_OVERRIDES: Final = 500
"""The most clusters at a time; CloudWatch's alarms on every cluster see no more."""

# Python refuses to parse thousands of digits, with its own error.
_WHOLE: Final = re.compile("[0-9]{1,19}")


class SettingError(ValueError):
    """A variable is missing or out of range; the operator of the stack must act."""


@dataclass(frozen=True, slots=True)
class Rules(CostRules):
    """
    Settings that define when a minute closes and an instance is silent, and the rules of its cost.

    Attributes:
        grace_s: Seconds after its end at which a minute closes at the latest.

        late_minutes: Age up to which a record still changes its minute.

        silent_after_minutes: Minutes without a record after which an instance
            is silent.

        max_clusters: Clusters that have rollups at a time.
    """

    grace_s: int = 120
    late_minutes: int = 120
    silent_after_minutes: int = 5
    max_clusters: int = MAX_CLUSTERS_WITH_OVERRIDES


@dataclass(frozen=True, slots=True)
class Environment:
    """
    One function's environment.

    Attributes:
        table_name: The DynamoDB table.

        stack_name: Dimension of the stack's metrics about itself.

        rules: The rules.

        region: The stack's Region, also used for instances whose lines have no Region.

        records_log_group: The log group of the emitters.

        rollups_log_group: The log group of close.

        alarm_topic_arn: The topic of explain and digest; empty in the other functions.

        runbook: The address of docs/operations.md, a path or a URL.

        chat_topic_arn: The topic of explain for chats; empty if none is set.

        findings_bus: The event bus for findings of close; empty if none is set.

        dashboard: Name of the stack's dashboard; empty in the other functions and without a
            dashboard.

        ledger_bucket: The bucket of the ledger, for settle and digest; empty in the other
            functions.

        metrics: Names of the rollup's numbers that close publishes as metrics, in the form that
            `rollup_metrics` parses.

        own_log_groups: Log groups that the stack writes to; a subscription to one of them would
            feed the stack its own output.

        own_log_group: The log group of this function, or None.
    """

    table_name: str
    stack_name: str
    rules: Rules
    own_log_groups: frozenset[str]
    own_log_group: str | None
    region: str = DEFAULT_REGION
    records_log_group: str = ""
    rollups_log_group: str = ""
    alarm_topic_arn: str = ""
    chat_topic_arn: str = ""
    runbook: str = ""
    dashboard: str = ""
    ledger_bucket: str = ""
    findings_bus: str = ""
    metrics: str = ""


_VARIABLES_OF_TEXTS: Final = (
    "RECORDS_LOG_GROUP",
    "ROLLUPS_LOG_GROUP",
    "ALARM_TOPIC_ARN",
    "CHAT_TOPIC_ARN",
    "RUNBOOK",
    "DASHBOARD",
    "LEDGER_BUCKET",
    "FINDINGS_BUS",
    "METRICS",
)
"""Variables that may be empty; the member of `Environment` has the same name in small letters."""


_VARIABLES_OF_NUMBERS: Final = {
    "grace_s": ("GRACE_SECONDS", 45, 900),
    "late_minutes": ("LATE_MINUTES", 3, 1440),
    "idle_after_minutes": ("IDLE_AFTER_MINUTES", 1, 1440),
    "silent_after_minutes": ("SILENT_AFTER_MINUTES", 1, SILENT_FORGET_MINUTES),
    "max_clusters": ("MAX_CLUSTERS", 1, 1_500),
}
"""Members of `Rules`: the variable, the least and the most."""


def read_environment(variables: Variables) -> Environment:
    """
    Read the environment from *variables*.

    Raises:
        SettingError: If a variable is missing or out of range.
    """
    numbers: dict[str, Any] = present_members(
        {field: _whole(variables, *bounds) for field, bounds in _VARIABLES_OF_NUMBERS.items()}
    )
    region = region_of_variables(variables) or DEFAULT_REGION
    rules = Rules(
        prices=Prices(_in_grammar(variables, "PRICE_OVERRIDES", price_overrides), region),
        paid_by_type=_in_grammar(variables, "PAID_BY_TYPE", paid_by_type),
        teams=_in_grammar(variables, "TEAMS", team_rules),
        **numbers,
    )
    own_log_group = variables.get("AWS_LAMBDA_LOG_GROUP_NAME") or None
    written_to = map(variables.get, ("ROLLUPS_LOG_GROUP", "MESSAGES_LOG_GROUP"))
    return Environment(
        table_name=_text(variables, "TABLE_NAME"),
        stack_name=_text(variables, "STACK_NAME"),
        rules=rules,
        own_log_groups=frozenset(filter(None, (own_log_group, *written_to))),
        own_log_group=own_log_group,
        region=region,
        **{name.lower(): variables.get(name, "") for name in _VARIABLES_OF_TEXTS},
    )


def _text(variables: Variables, name: str) -> str:
    value = variables.get(name, "").strip()
    if not value:
        msg = f"{name} is not set. Deploy the function with template.yaml, which sets it."
        raise SettingError(msg)
    return value


def _whole(variables: Variables, name: str, least: int, most: int) -> int | None:
    text = variables.get(name, "").strip()
    if not text:
        return None
    if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
        msg = f"{name} is {text[:20]!r}. Use a whole number from {least} to {most}."
        raise SettingError(msg)
    return int(text)


def _in_grammar(variables: Variables, name: str, grammar: Callable[[str], _Value]) -> _Value:
    """Return the variable as *grammar* parses it; its errors are ValueErrors with a sentence."""
    try:
        return grammar(variables.get(name, ""))
    except ValueError as error:
        msg = f"{name} has {error}"
        raise SettingError(msg) from error
