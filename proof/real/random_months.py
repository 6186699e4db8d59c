"""Write random months of a FOCUS 1.2 export and of a ledger, from a seed."""

from __future__ import annotations

import csv
import json
from calendar import monthrange
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emf.report.chargeback import BILL_COLUMNS
from neuron_emf.report.settings import IdleReportSettings

if TYPE_CHECKING:
    import random
    from pathlib import Path

BLOCK: Final = "cr-0123456789abcdef0"
MONTH_CLUSTERS: Final = ("research", "serving_a", "servingxa", "100%")
MONTH_OWNERS: Final = (
    "slurm:7 ann",
    "slurm:8 bob",
    "ml/train-1",
    "ml/x_y",
    "ml/größe",
    "[others]",
    "[not reported]",
    "[unallocated]",
    "[unknown]",
)
TEAM_RULES: Final = (
    None,
    "research|slurm:*=phys\n",
    "*|ml/x_y=serving\n*|*ann=ann\nserving_a|*=a\n",
    "100%|*=percent\nserving*|ml/*=ml\n*|[unallocated]=platform\n",
)
MONTH_TYPES: Final = ("trn1.2xlarge", "inf2.24xlarge", "inf1.6xlarge", "trn2.3xlarge")
QUANTITIES: Final = ("1", "1.0000000000", "0.5", "0.3333333333", "0.000278")
MONTH_FAULTS: Final = ("copied row", "daily row", "HyperPod", "lost fee", "lost hours")
LEDGER_FAULTS: Final = ("forged cluster", "overlap", "moved", "moved", "lost hours", "late start")

Row = dict[str, Any]


@dataclass
class Month:
    """
    The rows of one month.

    Attributes:
        rng: Source of all random choices.

        hours: Hours of the month, such as `2026-02-01 00`.

        bill: Rows of the export.

        ledger: Rows of the ledger.
    """

    rng: random.Random
    hours: list[str]
    bill: list[Row] = field(default_factory=list)
    ledger: list[Row] = field(default_factory=list)

    def add_instance(self, number: int) -> None:
        """Add an instance that runs for a part of the month; number 0 is in the capacity block."""
        rng = self.rng
        month_type = rng.choice(MONTH_TYPES)
        cluster = rng.choice(MONTH_CLUSTERS)
        first = rng.randrange(len(self.hours) // 2)
        last = rng.randrange(first + 1, len(self.hours))
        usage = {
            "ResourceId": f"i-{number:08x}",
            "SkuMeter": f"USE2-{rng.choice(['BoxUsage', 'SpotUsage'])}:{month_type}",
        }
        if number == 0:
            usage["CapacityReservationId"] = f"arn:aws:ec2:us-east-2:1:capacity-reservation/{BLOCK}"
        for hour in self.hours[first:last]:
            quantity = rng.choice(QUANTITIES)
            cost = "0" if number == 0 else self.cost(0, 40)
            self.charge(hour, cost, ConsumedQuantity=quantity, **usage)
            if number > 0 and rng.random() < 0.1:
                share = {"ConsumedQuantity": "0", "CommitmentDiscountId": "sp-1"}
                self.charge(hour, self.cost(0, 5), **usage, **share)
            if rng.random() < 0.1:
                self.charge(hour, self.cost(-50, 0), ChargeCategory="Credit", **usage)
            if rng.random() < 0.95:
                self.hold(hour, usage["ResourceId"], cluster, INSTANCE_TYPES[month_type].cores)

    def add_block(self) -> None:
        """Add the fee of the capacity block and one hour in which the block was not used."""
        unused = {"CapacityReservationId": BLOCK, "ResourceId": f"arn:x/{BLOCK}"}
        self.charge(self.rng.choice(self.hours), "0", ConsumedQuantity="2", **unused)
        cost = self.cost(0, 90_000)
        self.charge(
            self.hours[0],
            "0",
            BilledCost=cost,
            ChargeCategory="Purchase",
            ConsumedQuantity="",
            ResourceId=BLOCK,
            CapacityReservationId=BLOCK,
            SkuMeter="USE2-CapacityBlock:trn1.2xlarge",
        )

    def charge(self, hour: str, cost: str, **others: str) -> None:
        """Add one row of the export."""
        day, _, number = hour.partition(" ")
        end = f"{day}T{number}:59:59" if number == "23" else f"{day}T{int(number) + 1:02d}:00:00"
        row = {
            "BillingCurrency": "USD", "BillingPeriodStart": f"{hour[:7]}-01T00:00:00.000Z",
            "ChargePeriodStart": f"{day}T{number}:00:00.000Z", "ChargePeriodEnd": f"{end}.000Z",
            "ChargeCategory": "Usage", "SkuMeter": "USE2-BoxUsage:trn1.2xlarge",
            "x_ServiceCode": "AmazonEC2", "x_Operation": "RunInstances", "ConsumedQuantity": "1",
            "EffectiveCost": cost, "BilledCost": cost,
        }  # fmt: skip
        self.bill.append({**row, **others})

    def hold(self, hour: str, instance: str, cluster: str, cores: int) -> None:
        """Add the ledger rows of one instance-hour: owners that share its core-minutes."""
        rng = self.rng
        owners = rng.sample(MONTH_OWNERS, rng.randint(1, 4))
        for owner in owners:
            micros = rng.randrange(cores * 60 * 10**6 // len(owners) + 1)
            idle = rng.randrange(micros + 1)
            avoidable = rng.randrange(idle + 1)
            row = {
                "Hour": f"{hour.replace(' ', 'T')}:00Z",
                "InstanceId": instance,
                "ClusterName": cluster,
                "Owner": owner,
                "AllocatedCoreMinutes": Decimal(micros).scaleb(-6),
                "BusyCoreMinutes": Decimal(micros - idle).scaleb(-6),
                "IdleCoreMinutes": Decimal(idle).scaleb(-6),
                "AvoidableCoreMinutes": Decimal(avoidable).scaleb(-6),
                "CommittedCoreMinutes": Decimal(rng.randrange(idle - avoidable + 1)).scaleb(-6),
                "ListCost": Decimal(rng.randrange(10**10)).scaleb(-9),
            }
            if not owner.startswith("[") and rng.random() < 0.8:
                row["Team"] = owner[:2]
            self.ledger.append(row)

    def cost(self, low: int, high: int) -> str:
        """Return an amount with 10 to 24 decimals."""
        places = self.rng.randint(10, 24)
        units = self.rng.randint(low * 10**places, high * 10**places)
        return f"{Decimal(units).scaleb(-places):f}"

    def add_fault_of_bill(self, fault: str) -> None:
        """Add a row with which the bill contradicts itself or the ledger."""
        rng = self.rng
        usage = rng.choice([row for row in self.bill if row["ResourceId"] == "i-ffffffff"])
        hour = rng.choice(self.hours)
        if fault == "copied row":
            self.bill.append({**usage, "EffectiveCost": f"{usage['EffectiveCost']}0000000000001"})
        elif fault == "daily row":
            usage["ConsumedQuantity"] = "24"
        elif fault == "HyperPod":
            cluster = {"ResourceId": "arn:x:cluster/abc", "x_ServiceCode": "AmazonSageMaker"}
            self.charge(hour, "0.9", SkuMeter="USE1-Cluster:ml.trn1.32xlarge", **cluster)
        elif fault == "lost fee":
            self.bill = [row for row in self.bill if row["ChargeCategory"] != "Purchase"]
        else:
            ten_hours = hour.replace(" ", "T")[:12]
            self.bill = [
                row for row in self.bill if not row["ChargePeriodStart"].startswith(ten_hours)
            ]

    def add_fault_of_ledger(self, fault: str) -> None:
        """Add a row with which the ledger contradicts itself or the bill."""
        rng = self.rng
        row = rng.choice(self.ledger)
        start = rng.choice(self.hours).replace(" ", "T")
        others: dict[str, dict[str, Any]] = {
            "forged cluster": {"AllocatedCoreMinutes": Decimal(61440)},
            "overlap": {"OverlapMinutes": 3},
            "moved": {"AllocatedCoreMinutes": Decimal(1)},
        }
        if fault in others:
            self.ledger.append({**row, "ClusterName": "mine", **others[fault]})
        elif fault == "lost hours":
            ten_hours = start[:12]
            self.ledger = [row for row in self.ledger if not row["Hour"].startswith(ten_hours)]
        else:
            self.ledger = [row for row in self.ledger if row["Hour"] >= start]


def random_month(rng: random.Random, name: str, folder: Path) -> IdleReportSettings:
    """Write the files of month *name* into *folder*; return the settings of the command."""
    days = monthrange(int(name[:4]), int(name[5:]))[1]
    hours = [f"{name}-{day:02d} {hour:02d}" for day in range(1, days + 1) for hour in range(24)]
    month = Month(rng, hours)
    for hour in hours:
        month.charge(hour, "1.25", ResourceId="i-ffffffff")
        month.hold(hour, "i-ffffffff", "research", 2)
    first = rng.randint(0, 1)
    for number in range(first, rng.randint(2, 4)):
        month.add_instance(number)
    if first == 0:
        month.add_block()
    if rng.random() < 0.3:
        month.add_fault_of_bill(rng.choice(MONTH_FAULTS))
    if rng.random() < 0.5:
        month.add_fault_of_ledger(rng.choice(LEDGER_FAULTS))

    folder.mkdir()
    with (folder / "bill.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, BILL_COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(month.bill)
    lines = [json.dumps(row, default=float) + "\n" for row in month.ledger]
    copies = lines if rng.random() < 0.3 else []  # settle may write an hour twice
    (folder / "ledger.jsonl").write_text("".join(lines + copies), "utf-8")
    rules = rng.choice(TEAM_RULES)
    if rules is not None:
        (folder / "teams").write_text(rules, "utf-8")
    return IdleReportSettings(
        month=name,
        bill=(str(folder / "bill.csv"),),
        ledger=(str(folder / "ledger.jsonl"),),
        teams=None if rules is None else folder / "teams",
        by=rng.choice(["owner", "instance"]),
        incomplete=rng.choice([False, False, True]),
    )
