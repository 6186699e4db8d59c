"""Rows of AWS's FOCUS 1.2 export, and objects of the ledger beside them, for one month."""

from __future__ import annotations

import csv
import gzip
import io
from collections import defaultdict
from typing import TYPE_CHECKING

from neuron_emf.chargeback.focus_columns import FOCUS_1_2, OF_AWS
from neuron_wire.core_owners import MICRO
from neuron_wire.ledger import PARTS, LedgerRow, key_of, packed
from neuron_wire.phrases import iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from neuron_emf.chargeback.month import Month

COLUMNS = (*sorted(FOCUS_1_2), *OF_AWS)
_HOUR_MS = 3_600_000


def moment(hour: int) -> str:
    """The start of an hour as AWS's export has it."""
    return iso(hour * _HOUR_MS).replace("Z", ".000Z")


def usage_row(  # noqa: PLR0917 - as a row is read
    month: Month,
    hour: int,
    instance_id: str,
    instance_type: str = "trn1.2xlarge",
    cost: str = "1.34375",
    hours: str = "1.0",
    **changes: str,
) -> dict[str, str]:
    """An instance-hour on demand; *changes* by column."""
    row = {
        **dict.fromkeys(COLUMNS, ""),
        "AvailabilityZone": "use2-az1",
        "BilledCost": cost,
        "BillingAccountId": "111122223333",
        "BillingAccountName": "payer",
        "BillingAccountType": "BillingAccount",
        "BillingCurrency": "USD",
        "BillingPeriodEnd": moment(month.hours.stop),
        "BillingPeriodStart": moment(month.hours.start),
        "ChargeCategory": "Usage",
        "ChargeDescription": f"{cost} USD per On Demand Linux {instance_type} Instance Hour",
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodEnd": moment(hour + 1),
        "ChargePeriodStart": moment(hour),
        "ConsumedQuantity": hours,
        "ConsumedUnit": "Hours",
        "ContractedCost": cost,
        "ContractedUnitPrice": "1.34375",
        "EffectiveCost": cost,
        "InvoiceId": "2100000001",
        "InvoiceIssuerName": "Amazon Web Services, Inc.",
        "ListCost": cost,
        "ListUnitPrice": "1.34375",
        "PricingCategory": "Standard",
        "PricingCurrency": "USD",
        "PricingCurrencyEffectiveCost": cost,
        "PricingQuantity": hours,
        "PricingUnit": "Hours",
        "ProviderName": "AWS",
        "PublisherName": "AWS",
        "RegionId": "us-east-2",
        "RegionName": "US East (Ohio)",
        "ResourceId": instance_id,
        "ResourceType": "Instance",
        "ServiceCategory": "Compute",
        "ServiceName": "Amazon Elastic Compute Cloud",
        "ServiceSubcategory": "Virtual Machines",
        "SkuId": "SKU1",
        "SkuMeter": f"USE2-BoxUsage:{instance_type}",
        "SkuPriceDetails": f'{{"InstanceType":"{instance_type}"}}',
        "SkuPriceId": "SKU1.JRTCKXETXF.6YS6EN2CT7",
        "SubAccountId": "444455556666",
        "SubAccountName": "research",
        "SubAccountType": "Account",
        "Tags": '{"user:cost-center":"12"}',
        "x_Operation": "RunInstances",
        "x_ServiceCode": "AmazonEC2",
    }
    unknown = changes.keys() - row.keys()
    if unknown:
        msg = f"no columns of the export: {unknown}"
        raise KeyError(msg)
    return {**row, **changes}


def fee_row(month: Month, hour: int, reservation: str, cost: str, **changes: str) -> dict[str, str]:
    """The upfront fee of a capacity block, as a purchase."""
    return usage_row(
        month,
        hour,
        reservation,
        cost=cost,
        **{
            "CapacityReservationId": reservation,
            "ChargeCategory": "Purchase",
            "ChargeDescription": f"Upfront fee of {reservation}",
            "ChargeFrequency": "One-Time",
            "ConsumedQuantity": "",
            "ConsumedUnit": "",
            "PricingQuantity": "1",
            "SkuMeter": "USE2-CapacityBlock:trn2.48xlarge",
            **changes,
        },
    )


def write_bill(path: Path, rows: Iterable[Mapping[str, str]]) -> Path:
    """A file of the export."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    payload = text.getvalue().encode()
    path.write_bytes(gzip.compress(payload, mtime=0) if path.suffix == ".gz" else payload)
    return path


def ledger_row(
    hour: int, instance_id: str, owner: str, minutes: float, **changes: object
) -> LedgerRow:
    """A row of a trn1.2xlarge in which *owner* had *minutes* core-minutes, half of them used."""
    held = round(minutes * MICRO)
    known = {"busy": held, "used": held // 2, "idle": 0} if owner != "[unknown]" else {}
    values = {
        "hour": hour,
        "cluster": "research",
        "instance_id": instance_id,
        "owner": owner,
        "held": held,
        "covered": 60 * MICRO,
        "list_cost": round(minutes * 1_343_750_000 / 120),
        "basis": "list price, us-east-2, 2026-11-22",
        "account_id": "444455556666",
        "region": "us-east-2",
        "instance_type": "trn1.2xlarge",
        **known,
        **changes,
    }
    return LedgerRow(**values)  # type: ignore[arg-type]  # as its fields are


def write_ledger(folder: Path, hours: Iterable[int], rows: Iterable[LedgerRow]) -> Path:
    """The objects of *hours*, all eight of each, with *rows* in them."""
    parts: dict[tuple[int, int], list[LedgerRow]] = defaultdict(list)
    for row in rows:
        parts[row.hour, sum(row.instance_id.encode()) % PARTS].append(row)
    empty = packed([])
    for hour in hours:
        for part in range(PARTS):
            path = folder / key_of(hour, part)
            path.parent.mkdir(parents=True, exist_ok=True)
            of_part = parts.get((hour, part))
            path.write_bytes(packed(of_part) if of_part else empty)
    return folder
