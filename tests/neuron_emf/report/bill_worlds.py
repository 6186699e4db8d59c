"""A month's bills and ledgers, written as AWS and settle write them, and their expected split."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from itertools import combinations

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emf.report.chargeback import BILL_COLUMNS
from neuron_emf.report.chargeback_rows import units_of
from neuron_emf.report.cost_table import UNOWNED, CostRow

LAST_DECIMAL = Decimal(1).scaleb(-18)
BLOCK = "cr-0123456789abcdef0"


def charge(hour, resource, cost, **others):
    """Return a row of AWS's export: by default an hour of an on-demand trn1.2xlarge."""
    row = {
        "BillingCurrency": "USD",
        "BillingPeriodStart": f"{hour[:7]}-01T00:00:00.000Z",
        "ChargePeriodStart": f"{hour.replace(' ', 'T')}:00:00.000Z",
        "ChargeCategory": "Usage",
        "ChargePeriodEnd": f"{_end_of(hour)}.000Z",
        "ResourceId": resource,
        "SkuMeter": "USE2-BoxUsage:trn1.2xlarge",
        "x_ServiceCode": "AmazonEC2",
        "x_Operation": "RunInstances",
        "ConsumedQuantity": "1",
        "EffectiveCost": cost,
        "BilledCost": cost,
    }
    return {**row, **others}


def _end_of(hour):
    end = datetime.strptime(hour, "%Y-%m-%d %H").replace(tzinfo=timezone.utc) + timedelta(hours=1)
    return f"{end:%Y-%m-%dT%H:%M:%S}"


def fee(hour, cost, **others):
    """Return the upfront fee of the capacity block."""
    row = {
        "ChargeCategory": "Purchase",
        "CapacityReservationId": BLOCK,
        "ConsumedQuantity": "",
        "SkuMeter": "USE2-CapacityBlock:trn1.2xlarge",
        "EffectiveCost": "0",
        "BilledCost": cost,
    }
    return charge(hour, BLOCK, cost, **{**row, **others})


LEAVES = ("not_idle", "avoidable", "shared", "committed", "unknown")


@dataclass
class Share:
    """
    The cost of an owner by type and day.

    Attributes:
        cost: In whole units of 1e-18 USD.

        leaves: Exact parts of the cost, by name.

        lines: Instance-hours. Each may round each leaf by less than a unit.

        executions_cost: Cost of the rows with executions.

        billed_executions: Executions of these rows. All are billed.
    """

    cost: int = 0
    leaves: dict = field(default_factory=lambda: dict.fromkeys(LEAVES, Fraction(0)))
    lines: int = 0
    executions_cost: int = 0
    billed_executions: int = 0

    def agrees(self, rows):
        """Return True if *rows* of an answer add up to the share, and their leaves to the cost."""
        whole = CostRow()
        for row in rows:
            whole.fold_row(row.cost)
        sums = dict(zip(LEAVES, whole.billed or [0] * len(LEAVES), strict=False))
        return (
            self.cost == sum(units_of(row.amount) for row in rows) == sum(sums.values())
            and all(abs(sums[name] - self.leaves[name]) < self.lines for name in LEAVES)
            and self.executions_cost == whole.billed_work
            and self.billed_executions == whole.billed_executions
        )


def held(hour, instance, owner, minutes, **others):
    """Return a row of the ledger; *minutes* are core-minutes as text."""
    row = {
        "Hour": f"{hour.replace(' ', 'T')}:00Z",
        "ClusterName": "research",
        "InstanceId": instance,
        "InstanceType": "trn1.2xlarge",
        "Owner": owner,
        "AllocatedCoreMinutes": Decimal(minutes),
        "IdleCoreMinutes": Decimal(0),
        "ListCost": Decimal("0.5"),
    }
    return {**row, **others}


def bill_text(rows):
    """Return the export as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, BILL_COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def ledger_text(rows):
    """Return rows of the ledger as JSON lines, with all decimals."""
    return "".join(json.dumps(row, default=float) + "\n" for row in rows)


def rounded(cost):
    """Return a cost in whole units of 1e-18, rounded half up as both engines do."""
    with localcontext() as context:
        context.prec = 60
        return int(Decimal(cost).quantize(LAST_DECIMAL, ROUND_HALF_UP).scaleb(18))


def divided(amount, weights):
    """Split *amount* by *weights* in whole units, rounded down, then by largest remainder."""
    shares = [Fraction(abs(amount) * weight, sum(weights)) for weight in weights]
    parts = [int(share) for share in shares]
    by_rest = sorted(range(len(weights)), key=lambda place: parts[place] - shares[place])
    for place in by_rest[: abs(amount) - sum(parts)]:
        parts[place] += 1
    return [part if amount >= 0 else -part for part in parts]


def put(shares, names, cost, row=None):
    """Add *cost*, in units of 1e-18 USD, to the share of *names*, by the minutes of *row*."""
    day, owner, cluster, instance_type = names
    team = None if owner in UNOWNED else owner.partition("/")[0]
    share = shares[(day, team, owner, cluster, instance_type)]
    share.cost += cost
    share.lines += 1
    if row is None:
        share.leaves["committed" if owner == "[reserved, unused]" else "unknown"] += cost
        return
    allocated = Fraction(row["AllocatedCoreMinutes"])
    rest = {"idle": min(allocated, Fraction(row["IdleCoreMinutes"]))}
    minutes = {"not_idle": allocated - rest["idle"]}
    for name in ("avoidable", "committed"):
        minutes[name] = min(rest["idle"], Fraction(row.get(f"{name.title()}CoreMinutes", 0)))
        rest["idle"] -= minutes[name]
    minutes["shared"] = rest["idle"]
    for name, number in minutes.items():
        share.leaves[name] += cost * number / (allocated or 1)
    if row.get("Executions") is not None:
        share.executions_cost += cost
        share.billed_executions += row["Executions"]


def expected_shares(bill, ledger):
    """Return the `Share`s of rows of `charge`, `fee` and `held`, without those of HyperPod."""
    bill = [row for row in bill if row["x_ServiceCode"] == "AmazonEC2"]
    costs = defaultdict(int)
    hours = defaultdict(Fraction)
    fees = sum(rounded(row["BilledCost"]) for row in bill if row["ChargeCategory"] == "Purchase")
    used = [row for row in bill if row["ChargeCategory"] != "Purchase"]
    block = [
        row for row in used if row.get("CapacityReservationId") and row["ChargeCategory"] == "Usage"
    ]
    if block and not any(rounded(row["EffectiveCost"]) for row in block):
        block.sort(key=lambda row: (_hour(row), row["ResourceId"]))
        quantities = [int(Decimal(row["ConsumedQuantity"]) * 10**6) for row in block]
        for row, part in zip(block, divided(fees, quantities), strict=True):
            costs[(_hour(row), row["ResourceId"])] += part
    types = {}
    for row in used:
        key = (_hour(row), row["ResourceId"])
        costs[key] += rounded(row["EffectiveCost"])
        types[key] = row["SkuMeter"].rpartition(":")[2]
        if row["ChargeCategory"] == "Usage":
            hours[key] += Fraction(row["ConsumedQuantity"])
    shares = defaultdict(Share)
    rows_of = _by_hour(ledger)
    told_hours = sorted({_ledger_hour(row) for row in ledger})
    for key, cost in costs.items():
        day = key[0][:10]
        of_hour = {(row["Owner"], row["ClusterName"]): row for row in rows_of.get(key, [])}
        allocated = sum(row["AllocatedCoreMinutes"] for row in of_hour.values())
        minutes = hours[key] * max(INSTANCE_TYPES[types[key]].cores * 60, Fraction(allocated))
        if of_hour:
            _charge(shares, (day, types[key], cost), of_hour, minutes)
        else:
            put(shares, (day, _untold(key, told_hours), None, types[key]), cost)
    return shares


def _hour(row):
    return row["ChargePeriodStart"].replace("T", " ")[:13]


def _untold(key, told_hours):
    """Return the placeholder owner of an instance-hour or a reservation without a row."""
    hour, resource = key
    if not resource.startswith("i-"):
        return "[reserved, unused]"
    if told_hours and hour < told_hours[0]:
        return "[before the ledger]"
    return "[no telemetry]" if hour in told_hours else "[ledger missing]"


def _charge(shares, charged, of_hour, billed):
    day, instance_type, cost = charged
    seen = {names: int(of_hour[names]["AllocatedCoreMinutes"] * 10**6) for names in sorted(of_hour)}
    seen = {names: minutes for names, minutes in seen.items() if names[0] != "[unknown]"}
    unseen = max(0, int(billed * 10**6 + Fraction(1, 2)) - sum(seen.values()))
    clusters = {cluster for _, cluster in of_hour}
    payers = [*seen, ("[unknown]", min(clusters) if len(clusters) == 1 else None)]
    weights = [*seen.values(), unseen if sum(seen.values()) else 1]
    for (owner, cluster), part in zip(payers, divided(cost, weights), strict=True):
        row = None if owner == "[unknown]" else of_hour[owner, cluster]
        put(shares, (day, owner, cluster, instance_type), part, row)


def problems(bill, ledger, hours):
    """Count the instance-hours or hours for which a month of *hours* is refused, by problem."""
    counts = Counter()
    told_hours = {_ledger_hour(row) for row in ledger}
    counts["ledger hours missing"] = sum(
        min(told_hours) <= hour not in told_hours for hour in hours
    )
    is_paid = any(row["ChargeCategory"] == "Purchase" for row in bill)
    keys = {(_hour(row), row["ResourceId"]) for row in bill if row["ChargeCategory"] != "Purchase"}
    rows_of = _by_hour(ledger)
    charges_of = defaultdict(list)
    for row in bill:
        charges_of[_hour(row), row["ResourceId"]].append(row)
    for key in keys | rows_of.keys():
        counts[_problem(charges_of[key], rows_of.get(key, []), is_paid=is_paid)] += 1
    if "export not hourly" in counts:
        return {"export not hourly": counts["export not hourly"]}
    del counts[None]
    return {problem: count for problem, count in counts.items() if count}


def _problem(charges, rows, *, is_paid):
    """Return the problem of an instance-hour, or of a reservation's hour."""
    usage = [row for row in charges if row["ChargeCategory"] == "Usage"]
    quantities = [Fraction(row["ConsumedQuantity"]) for row in usage]
    seen = sum(row["AllocatedCoreMinutes"] for row in rows if row["Owner"] != "[unknown]")
    instance_type = (
        INSTANCE_TYPES.get(charges[0]["SkuMeter"].rpartition(":")[2]) if charges else None
    )
    most = 62 * instance_type.cores * instance_type.core_size if instance_type else 0
    is_instance = bool(charges) and charges[0]["ResourceId"].startswith("i-")
    free = [
        row
        for row in usage
        if row.get("CapacityReservationId") and not rounded(row["EffectiveCost"])
    ]
    checks = {
        "ledger hours not billed": seen and not usage,
        "export not hourly": is_instance and max(quantities, default=0) > 2,
        "instance-hours in two clusters": any(row.get("OverlapMinutes") for row in rows),
        "more core-minutes than cores": most
        and sum(row["AllocatedCoreMinutes"] for row in rows) > most,
        "rows of HyperPod": any(row["x_ServiceCode"] != "AmazonEC2" for row in charges),
        "instance-hours billed twice": _has_copy(usage) or (is_instance and sum(quantities) > 1),
        "reserved hours without a fee": free and not is_paid,
        "moved between clusters": len({row["ClusterName"] for row in rows}) > 1,
    }
    return next((problem for problem, is_there in checks.items() if is_there), None)


def _has_copy(usage):
    """Return True if two rows differ at most in one digit of their cost."""
    return any(
        {**one, "EffectiveCost": "", "BilledCost": ""}
        == {**other, "EffectiveCost": "", "BilledCost": ""}
        and abs(Decimal(one["EffectiveCost"]) - Decimal(other["EffectiveCost"])) < Decimal("1e-9")
        for one, other in combinations(usage, 2)
    )


def _by_hour(ledger):
    rows = defaultdict(list)
    for row in ledger:
        rows[_ledger_hour(row), row["InstanceId"]].append(row)
    return rows


def _ledger_hour(row):
    return row["Hour"].replace("T", " ")[:13]


def ledger_sums(ledger):
    """Return the list cost and the executions of all rows of *ledger*."""
    owned = [row for row in ledger if row["Owner"] != "[unknown]"]
    executions = sum(row.get("Executions") or 0 for row in owned)
    return sum(row["ListCost"] for row in ledger), executions
