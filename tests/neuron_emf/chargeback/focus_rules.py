"""
What FOCUS 1.3 demands of the file: of its base columns, and of the columns of a split.

Each rule has the section of the specification beside it, and a cell that breaks it.
Sections are those of https://focus.finops.org/focus-specification/v1-3/.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from neuron_emf.chargeback.focus_columns import FOCUS_1_2, NEW_IN_1_3

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, str]


class Rule(NamedTuple):
    """
    One demand.

    Attributes:
        column: That it is about.

        section: Of the specification.

        demand: In its words, shortened.

        holds: Whether a row meets it.

        broken: A cell of the column with which a row does not.
    """

    column: str
    section: str
    demand: str
    holds: Callable[[Row], bool]
    broken: str = ""


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(E-?[0-9]+)?")
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
COSTS = ("BilledCost", "ContractedCost", "EffectiveCost", "ListCost")
NUMBERS = (
    *COSTS, "CommitmentDiscountQuantity", "ConsumedQuantity", "ContractedUnitPrice",
    "ListUnitPrice", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice", "PricingQuantity",
)  # fmt: skip
MOMENTS = ("BillingPeriodEnd", "BillingPeriodStart", "ChargePeriodEnd", "ChargePeriodStart")
MANDATORY = (
    *COSTS, *MOMENTS, "BillingAccountId", "BillingCurrency", "ChargeCategory", "ChargeFrequency",
    "HostProviderName", "InvoiceIssuerName", "ProviderName", "PublisherName", "ServiceCategory",
    "ServiceName", "ServiceProviderName", "ServiceSubcategory",
)  # fmt: skip
ALLOWED = {
    "ChargeCategory": {"Usage", "Purchase", "Tax", "Credit", "Adjustment"},
    "ChargeClass": {"", "Correction"},
    "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
    "CapacityReservationStatus": {"", "Used", "Unused"},
    "PricingCategory": {"", "Standard", "Dynamic", "Committed", "Other"},
}
WHOLE = {"[no telemetry]", "[reserved, unused]", "[not splittable]"}
"""Owners of charges that are not split."""

KEY_VALUES = ("AllocatedTags", "SkuPriceDetails", "Tags")


def is_split(row: Row) -> bool:
    """Whether a row is an allocated charge."""
    return row["AllocatedMethodId"] != ""


def _is_key_values(text: str) -> bool:
    try:
        pairs = json.loads(text)
    except ValueError:
        return False
    return isinstance(pairs, dict) and not any(
        isinstance(value, (dict, list)) for value in pairs.values()
    )


def _details_hold(text: str) -> bool:
    try:
        elements = json.loads(text)["Elements"]
    except (ValueError, LookupError, TypeError):
        return False
    return bool(elements) and all(
        0 <= one["AllocatedRatio"] <= 1 and ("UsageUnit" in one or "UsageQuantity" not in one)
        for one in elements
    )


def _repeats_tags(row: Row) -> bool:
    tags = json.loads(row["Tags"] or "{}")
    return bool(tags.keys() & json.loads(row["AllocatedTags"] or "{}").keys())


BASE = (
    *(
        Rule(name, "Null Handling", "MUST NOT be null", lambda row, name=name: row[name] != "")
        for name in MANDATORY
    ),
    *(
        Rule(
            name, "Numeric Format", "one number, E notation, no + sign",
            lambda row, name=name: row[name] == "" or NUMBER.fullmatch(row[name]) is not None,
            "+1,000.5",
        )
        for name in NUMBERS
    ),
    *(
        Rule(
            name, "Date/Time Format", "YYYY-MM-DDTHH:mm:ssZ",
            lambda row, name=name: MOMENT.fullmatch(row[name]) is not None,
            "2026-09-01 00:00:00.000",
        )
        for name in MOMENTS
    ),
    *(
        Rule(
            name, name, "one of the allowed values",
            lambda row, name=name: row[name] in ALLOWED[name], "Whatever",
        )
        for name in ALLOWED
    ),
    *(
        Rule(
            name, "Key-Value Format", "a JSON object without objects in it",
            lambda row, name=name: row[name] == "" or _is_key_values(row[name]), '{"a": {}}',
        )
        for name in KEY_VALUES
    ),
    Rule(
        "BillingCurrency", "Currency Format", "three letters of ISO 4217",
        lambda row: re.fullmatch("[A-Z]{3}", row["BillingCurrency"]) is not None, "dollars",
    ),
    Rule(
        "ChargePeriodEnd", "Charge Period End", "exclusive, after ChargePeriodStart",
        lambda row: row["ChargePeriodEnd"] > row["ChargePeriodStart"], "2000-01-01T00:00:00Z",
    ),
    Rule(
        "ConsumedQuantity", "Consumed Quantity", "null unless Usage, and not null when it is",
        lambda row: (row["ChargeCategory"] == "Usage") == (row["ConsumedQuantity"] != ""),
    ),
    Rule(
        "ConsumedUnit", "Consumed Unit", "null when ConsumedQuantity is",
        lambda row: row["ConsumedQuantity"] != "" or row["ConsumedUnit"] == "", "Hours",
    ),
    Rule(
        "PricingQuantity", "Pricing Quantity", "MUST NOT be null when Usage or Purchase",
        lambda row: row["PricingQuantity"] != "",
    ),
    Rule(
        "CapacityReservationStatus", "Capacity Reservation Status",
        "null when CapacityReservationId is, not null when it is not and the charge is Usage",
        lambda row: row["ChargeCategory"] != "Usage"
        or (row["CapacityReservationId"] == "") == (row["CapacityReservationStatus"] == ""),
        "Used",
    ),
)  # fmt: skip
"""Of each row."""

SPLIT = (
    Rule(
        "AllocatedMethodId", "Allocated Method ID", "MUST NOT be null of a charge that is split",
        lambda row: is_split(row) or row["x_Owner"] in WHOLE or row["x_Basis"] == "not billed",
    ),
    Rule(
        "AllocatedMethodDetails", "Allocated Method Details Object",
        "Elements, each with a ratio, and a unit where there is a quantity",
        lambda row: not is_split(row) or _details_hold(row["AllocatedMethodDetails"]),
        '{"Elements":[]}',
    ),
    Rule(
        "AllocatedMethodDetails", "Allocated Method Details", "null when not split",
        lambda row: is_split(row) or row["AllocatedMethodDetails"] == "", "{}",
    ),
    Rule(
        "AllocatedResourceId", "Allocated Resource ID", "null when not split",
        lambda row: is_split(row) or row["AllocatedResourceId"] == "", "research/ml/a",
    ),
    Rule(
        "AllocatedResourceId", "Allocated Resource ID", "null of the unallocated portion",
        lambda row: row["x_Owner"] not in ("[unallocated]", "[unknown]")
        or row["AllocatedResourceId"] == "",
        "research/[unallocated]",
    ),
    Rule(
        "AllocatedResourceId", "Allocated Resource ID", "MUST NOT be null of an allocated portion",
        lambda row: not is_split(row)
        or row["x_Owner"] in ("[unallocated]", "[unknown]")
        or row["AllocatedResourceId"] != "",
    ),
    Rule(
        "AllocatedResourceName", "Allocated Resource Name", "null if and only if the ID is",
        lambda row: (row["AllocatedResourceId"] == "") == (row["AllocatedResourceName"] == ""),
    ),
    Rule(
        "AllocatedTags", "Allocated Tags", "null when not split",
        lambda row: is_split(row) or row["AllocatedTags"] == "", '{"a": "b"}',
    ),
    Rule(
        "AllocatedTags", "Allocated Tags", "MUST NOT include what is in Tags",
        lambda row: not _repeats_tags(row), '{"user:cost-center":"12"}',
    ),
)  # fmt: skip
"""Of each row, too."""

COLUMNS = (*FOCUS_1_2, *NEW_IN_1_3)
"""What must be present: Cost and Usage, of a generator that splits charges."""
