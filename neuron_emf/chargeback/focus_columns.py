"""
The columns of FOCUS: those of 1.2, which a bill has, and those that 1.3 adds.

What each is to a split of a charge is what FOCUS 1.3 says of data generators that
split charges ("Data Generator-Calculated Split Cost Allocation Handling"): metrics
that can be summed add up to the charge's own, everything else is the charge's own.
"""

from __future__ import annotations

from typing import Final

SUMMABLE: Final = (
    "BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "ConsumedQuantity",
    "PricingQuantity", "PricingCurrencyEffectiveCost", "CommitmentDiscountQuantity",
)  # fmt: skip
"""Metrics that can be summed, in the order in which a charge keeps them."""

BILLED, EFFECTIVE, LIST, CONTRACTED, CONSUMED, PRICED, PRICING_EFFECTIVE, COMMITTED = range(8)
"""Where in `SUMMABLE` they are."""

PERIODS: Final = ("BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd")
"""Moments, which FOCUS has in one format; the last two are the hour's own."""

DIMENSIONS: Final = (
    "AvailabilityZone", "BillingAccountId", "BillingAccountName", "BillingAccountType",
    "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "CapacityReservationId",
    "CapacityReservationStatus", "ChargeCategory", "ChargeClass", "ChargeDescription",
    "ChargeFrequency", "CommitmentDiscountCategory", "CommitmentDiscountId",
    "CommitmentDiscountName", "CommitmentDiscountStatus", "CommitmentDiscountType",
    "CommitmentDiscountUnit", "ConsumedUnit", "ContractedUnitPrice", "InvoiceId",
    "InvoiceIssuerName", "ListUnitPrice", "PricingCategory", "PricingCurrency",
    "PricingCurrencyContractedUnitPrice", "PricingCurrencyListUnitPrice", "PricingUnit",
    "ProviderName", "PublisherName", "RegionId", "RegionName", "ResourceId", "ResourceName",
    "ResourceType", "ServiceCategory", "ServiceName", "ServiceSubcategory", "SkuId", "SkuMeter",
    "SkuPriceDetails", "SkuPriceId", "SubAccountId", "SubAccountName", "SubAccountType", "Tags",
)  # fmt: skip
"""What an allocated charge has of its charge as it is; unit prices are not summed either."""

OF_AWS: Final = ("x_Discounts", "x_Operation", "x_ServiceCode")
"""AWS's own columns of `FOCUS_1_2_AWS`; a bill may lack them."""

FOCUS_1_2: Final = frozenset((*SUMMABLE, *DIMENSIONS, "ChargePeriodStart", "ChargePeriodEnd"))
"""All columns of FOCUS 1.2; each must be in a bill."""

FRAME: Final = (*DIMENSIONS, *OF_AWS)
"""What is alike in all hours of most charges, in the order in which a charge keeps it."""

PLACE: Final = {name: index for index, name in enumerate(FRAME)}
"""Where in a frame a column is."""

ALLOCATED: Final = (
    "AllocatedMethodId", "AllocatedMethodDetails", "AllocatedResourceId",
    "AllocatedResourceName", "AllocatedTags",
)  # fmt: skip
NEW_IN_1_3: Final = ("ServiceProviderName", "HostProviderName", "ContractApplied", *ALLOCATED)

OWN: Final = (
    "x_ClusterName", "x_Owner", "x_Team", "x_HeldCoreHours", "x_UsedCoreHours",
    "x_IdleCoreHours", "x_CoveredMinutes", "x_Basis",
)  # fmt: skip
"""Our own columns."""

FOCUS_1_3: Final = (
    *sorted((*FOCUS_1_2, *NEW_IN_1_3)), *OF_AWS, *OWN,
)  # fmt: skip
"""The columns of the file that is written, in its order."""
