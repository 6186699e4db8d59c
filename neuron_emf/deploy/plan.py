"""
The resources and the cost of a deployment, computed without AWS, and the missing prices.

The template is not parsed as YAML: the expressions below rely on its form, in which each condition
and each attribute of a resource is on its own line. Types without a list price are sold in capacity
blocks, which are paid whether they run or not, so their price is never called a saving.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click
from rich.table import Table

from neuron_accounts.payment import COMMITTED_TYPES
from neuron_accounts.prices import ParameterTextError, price_overrides
from neuron_emf.cost.bill import bill, total
from neuron_emf.cost.quantities import Fleet
from neuron_emf.cost.tariff import listed
from neuron_words.now_words import price_overrides_line
from neuron_words.quantity_words import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import RenderableType

    from neuron_emf.deploy.package import Package
    from neuron_wire.line_members import JsonObject, Texts

FLEETS: Final = (1, 10, 100, 1_000)
"""Numbers of instances, in one cluster, for which a month is shown."""

_PSEUDO: Final = {"AWS::AccountId": "111122223333", "AWS::Partition": "aws"}
_CONDITION: Final = re.compile(r"^  (\w+): (!.+?)(?: #.*)?$", re.MULTILINE)
_TOKEN: Final = re.compile(r"'[^']*'|[\[\]]|[^\s,\[\]']+")
_RESOURCES: Final = re.compile(r"^Resources:\n(.+?)^\w", re.MULTILINE | re.DOTALL)
_LOGICAL_ID_LINE: Final = re.compile(r"^  \w+:(?: #.*)?$", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(r"^    (Type|Condition): (\S+)", re.MULTILINE)
# Resources that SAM creates in addition to the resource that names them.
_PART: Final = re.compile(r"^ {6}(EventInvokeConfig):|^ {10}Type: (ScheduleV2)$", re.MULTILINE)
_BY_SAM: Final = {
    "AWS::Serverless::Function": "AWS::Lambda::Function",
    "EventInvokeConfig": "AWS::Lambda::EventInvokeConfig",
    "ScheduleV2": "AWS::Scheduler::Schedule",
}


def count_resources(package: Package, named: Texts) -> Counter[str]:
    """Return the number of resources of each type in an empty account with these parameters."""
    holds = conditions(package.source, {**_PSEUDO, **package.defaults, **named})
    found: Counter[str] = Counter()
    (resources,) = _RESOURCES.findall(package.source)
    for resource in _LOGICAL_ID_LINE.split(resources)[1:]:
        attributes = dict(_ATTRIBUTE.findall(resource))
        if "Condition" not in attributes or holds(attributes["Condition"]):
            resource_type = attributes["Type"]
            parts = map("".join, _PART.findall(resource) if resource_type in _BY_SAM else ())
            found.update(_BY_SAM.get(part, part) for part in (resource_type, *parts))
    return found


def conditions(source: str, values: Texts) -> Callable[[str], bool]:
    """Return a function that evaluates a condition of the template *source* with *values*."""
    texts = dict(_CONDITION.findall(source.partition("\nConditions:\n")[2]))

    def value(tokens: Iterator[str]) -> Any:  # noqa: ANN401 - text, truth or a list
        word = next(tokens)
        if word == "[":
            return list(iter(partial(value, tokens), "]"))
        if word in functions:
            return functions[word](value(tokens))
        return word.strip("'")

    functions: Mapping[str, Callable[[Any], Any]] = {
        "!And": all,
        "!Condition": lambda name: value(iter(_TOKEN.findall(texts[name]))),
        "!Equals": lambda terms: terms[0] == terms[1],
        "!Not": lambda terms: not terms[0],
        "!Or": any,
        "!Ref": values.__getitem__,
    }
    return functions["!Condition"]


def plan(package: Package, named: Texts) -> JsonObject:
    """Return the resources and costs of *package* with these parameters."""
    chosen = {**package.defaults, **named}
    mode = (
        "direct" if chosen.get("Mode", "direct") == "direct" else "kinesis"
    )  # also while it drains
    is_whole = bool(package.functions)
    fleet = Fleet(1, mode=mode, has_dashboard=chosen.get("Dashboard") == "true")
    fleet = fleet if is_whole else fleet.emitters_only()
    usd = {instances: total(bill(replace(fleet, instances=instances))) for instances in FLEETS}
    basis = f"instances of {fleet.cores} cores, list prices of {listed().region}"
    return {
        "resources": dict(sorted(count_resources(package, named).items())),
        "release_bucket": is_whole,
        "capabilities": list(package.capabilities),
        "cost": {"basis": basis, "usd_a_month": usd},
    }


def resource_table(counts: Mapping[str, int], title: str) -> RenderableType:
    """Return the number of resources of each type as a table."""
    table = Table("type", "count", title=title, title_justify="left")
    for kind, count in [*sorted(counts.items()), ("in all", sum(counts.values()))]:
        table.add_row(kind, str(count))
    return table


def for_people(found: JsonObject) -> list[RenderableType]:
    """Yield the plan as tables."""
    bucket = "In addition, the stack neuron-emf-deploy: a bucket for the release, and its policy."
    costs = Table("instances", "USD a month")
    for instances, usd in found["cost"]["usd_a_month"].items():
        costs.add_row(f"{instances:,}", dollars(usd))
    return [
        resource_table(found["resources"], "Resources"),
        *([bucket] if found["release_bucket"] else []),
        f"Capabilities: {' '.join(found['capabilities'])}",
        f"Cost of one cluster, {found['cost']['basis']}",
        costs,
    ]


_PARAMETER: Final = "PriceOverrides"
_EXAMPLE_TYPE: Final = "trn2.48xlarge"


def unpriced_sentence(parameters: Texts, region: str | None) -> str:
    """
    Return the types without a price, and the setting; empty if *parameters* price one of them.

    Without a *region* the price in the example counts in every Region.
    """
    overrides = parameters.get(_PARAMETER)
    if overrides is None:  # a template without prices
        return ""
    types = (override.partition("=")[0].rpartition("/")[2] for override in overrides.split(","))
    if any(name.startswith(COMMITTED_TYPES) for name in types):
        return ""
    line = price_overrides_line([f"{region}/{_EXAMPLE_TYPE}" if region else _EXAMPLE_TYPE])
    return (
        f"{' and '.join(COMMITTED_TYPES)} have no list price: unless you set one, such as {line}, "
        "their idle cores are in no amount."
    )


def ask_prices(parameters: Texts) -> dict[str, str]:
    """Ask for prices on the terminal. Return them with those of *parameters*."""

    def checked(text: str) -> str:
        try:
            price_overrides(text.strip())
        except ParameterTextError as error:
            msg = f"Found {error}"
            raise click.BadParameter(msg) from error
        return text.strip()

    question = "USD per hour of those you run, [REGION/]TYPE=USD,... (empty: none)"
    answer = click.prompt(question, default="", show_default=False, value_proc=checked, err=True)
    return {_PARAMETER: ",".join(filter(None, (parameters[_PARAMETER], answer)))}
