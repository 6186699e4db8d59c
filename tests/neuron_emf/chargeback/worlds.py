"""Random months: fleets, what the ledger has of them, and a bill that need not agree."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hypothesis import strategies as st

from neuron_emf.chargeback.bill_reader import BillReader
from neuron_emf.chargeback.month import Month
from neuron_emf.chargeback.reservations import Reservation
from neuron_emf.chargeback.run import Chargeback, rows_by_bill
from neuron_wire.phrases import iso
from proof.factories.bills import fee_row, ledger_row, usage_row, write_bill

MONTH = Month(2026, 10)
BEFORE = Month(2026, 9)
FIRST = MONTH.hours.start
HOURS = (FIRST, MONTH.hours.stop - 1)
CORES = {"trn1.2xlarge": 2, "trn2.3xlarge": 4, "inf9.xlarge": 0}  # of the last nobody knows
MICRO = 1_000_000
BLOCK = "cr-0000000000000001"
BLOCK_ARN = f"arn:aws:ec2:us-east-2:444455556666:capacity-reservation/{BLOCK}"
OWNERS = ["ml/a", "ml/b", "slurm:7 ann", "[unnamed]", "[unallocated]", "[unknown]"]
QUANTITIES = ["1", "1.0", "0.5", "0.3338888889", "1E-3", "0", "", "0.33333333333333331"]
COSTS = st.one_of(
    st.sampled_from(["0", "0.0", "21.5", "1.34375", "1.2E-7", "-0.7000000001", "1E1"]),
    st.decimals(-100, 1_000, allow_nan=False, places=12).map(str),
)


@dataclass
class World:
    """One month: rows of the bill, of the ledger, and what EC2 says of the block."""

    bill: list[dict[str, str]]
    ledger: dict[int, dict[str, list]]
    reservations: dict[str, Reservation]


@st.composite
def worlds(draw):
    """A few instances in a few hours, with all that a bill can hold beside them."""
    bill, ledger = [], defaultdict(dict)
    instances = draw(st.lists(st.sampled_from(sorted(CORES)), min_size=1, max_size=3))
    for number, instance_type in enumerate(instances):
        instance_id = f"i-0000000{number}"
        for hour in HOURS:
            rows = draw(_ledger_rows(hour, instance_id, instance_type))
            if rows:
                ledger[hour][instance_id] = rows
            count = draw(st.sampled_from([0, 1, 1, 1, 2]))
            usage = _usage_rows(hour, instance_id, instance_type)
            bill += draw(st.lists(usage, min_size=count, max_size=count))
    bill += draw(st.lists(_strange_rows(), max_size=4))
    fees = draw(st.lists(_fees(), max_size=2))
    start = draw(st.integers(-2_000, 60))
    block = Reservation(
        BLOCK,
        "trn2.3xlarge",
        draw(st.integers(1, 3)),
        FIRST * 60 + start,
        FIRST * 60 + start + draw(st.integers(1, 3_000)),
    )
    known = draw(st.booleans())
    bill.append(usage_row(MONTH, MONTH.hours.stop - 1, "vol-1", "x", "1", SkuMeter="Last"))
    return World(bill + fees, dict(ledger), {BLOCK: block} if known else {})


@st.composite
def _usage_rows(draw, hour, instance_id, instance_type):
    return usage_row(
        MONTH,
        hour,
        draw(st.sampled_from([instance_id, f"arn:x:instance/{instance_id}"])),
        instance_type,
        draw(COSTS),
        draw(st.sampled_from(QUANTITIES)),
        **draw(st.sampled_from(RESERVED)),
    )


RESERVED = [
    {},
    {},
    {"CapacityReservationId": BLOCK_ARN, "CapacityReservationStatus": "Used"},
    {"CapacityReservationId": "cr-2", "CapacityReservationStatus": "Used"},
]


@st.composite
def _ledger_rows(draw, hour, instance_id, instance_type):
    names = draw(st.lists(st.sampled_from(OWNERS), unique=True, max_size=4))
    reservation = draw(st.sampled_from([None, None, BLOCK]))
    whole = 60 * MICRO * (CORES[instance_type] or 3)
    told = draw(st.sampled_from([instance_type, None]))
    return [
        ledger_row(
            hour,
            instance_id,
            name,
            0,
            held=draw(st.integers(0, whole) | st.sampled_from([whole, whole // 3, 1])),
            cluster=draw(st.sampled_from(["research", "research", "serving"])),
            covered=draw(st.integers(0, 60 * MICRO)),
            capacity_reservation_id=reservation,
            instance_type=told,
        )
        for name in names
    ]


@st.composite
def _strange_rows(draw):
    """What is no hour of an instance, or none of the month."""
    changes = draw(
        st.sampled_from(
            [
                {"SkuMeter": "USE2-DataTransfer-Out-Bytes", "ConsumedUnit": "GB"},
                {"ChargeCategory": "Tax", "SkuMeter": ""},
                {"ChargeCategory": "Credit"},
                {"x_ServiceCode": "ElasticMapReduce"},
                {"x_Operation": "Hourly", "SkuMeter": "USE2-EBSOptimized:trn1.2xlarge"},
                {"SkuMeter": "USE2-BoxUsage:m5.xlarge"},
                {"SkuMeter": "USE2-UnusedBox:trn2.3xlarge", **UNUSED},
                {"SkuMeter": "USE2-UnusedBox:trn2.3xlarge", **UNUSED, **OTHER},
                {"SkuMeter": "USE2-Reservation:trn2.3xlarge", "ResourceId": BLOCK_ARN},
                CORRECTION,
            ]
        )
    )
    return usage_row(MONTH, draw(st.sampled_from(HOURS)), "i-00000000", cost=draw(COSTS), **changes)


UNUSED = {
    "CapacityReservationId": BLOCK_ARN,
    "CapacityReservationStatus": "Unused",
    "ResourceId": BLOCK_ARN,
}
OTHER = {"CapacityReservationId": "cr-2", "ResourceId": "cr-2"}
CORRECTION = {
    "ChargeClass": "Correction",
    "ChargePeriodStart": "2026-09-30T23:00:00.000Z",
    "ChargePeriodEnd": "2026-10-01T00:00:00.000Z",
}


@st.composite
def _fees(draw):
    month, hour = draw(st.sampled_from([(MONTH, FIRST), (BEFORE, FIRST - 700)]))
    cost = draw(st.decimals(1, 9_999, allow_nan=False, places=10).map(str))
    changes = draw(st.sampled_from([{}, {"EffectiveCost": "0"}]))
    return fee_row(month, hour, draw(st.sampled_from([BLOCK, BLOCK_ARN])), cost, **changes)


def read(world: World):
    """The bill of *world* as its reader has it."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_bill(Path(folder) / "bill.csv", world.bill)
        reader = BillReader(MONTH)
        reader.read(path)
        return reader.bill


def reckoned(world: World):
    """The result, and all rows of owners."""
    bill = read(world)
    result = Chargeback(MONTH, is_by_bill=True, bill=bill)
    rows = []
    for row in rows_by_bill(result, bill, iter(sorted(world.ledger.items())), world.reservations):
        result.totals.add(row)
        rows.append(row)
    return result, rows


def is_usage(row) -> bool:
    """Whether a row of the bill is an hour of a Neuron instance or reservation, by its words."""
    return (
        row["ChargeCategory"] == "Usage"
        and row["x_ServiceCode"] == "AmazonEC2"
        and row["x_Operation"] == "RunInstances"
        and row["SkuMeter"].rpartition(":")[2][:4] in ("trn1", "trn2", "inf9")
    )


def instance_of(row) -> str | None:
    """The instance of a row of the bill."""
    name = row["ResourceId"].rpartition("/")[2]
    return name if name.startswith("i-") else None


def expected_costs(world: World):
    """EffectiveCost of usage rows by hour, instance and owner, without fees, as fractions."""
    costs = defaultdict(Fraction)
    of_instance = defaultdict(list)
    for row in world.bill:
        if not is_usage(row):
            continue
        in_month = row["ChargePeriodStart"] >= "2026-10"
        hour = next(
            (one for one in HOURS if row["ChargePeriodStart"][8:13] == _day_hour(one)), None
        )
        instance_id = instance_of(row)
        if not in_month:
            costs[FIRST - 1, "[not splittable]"] += Fraction(row["EffectiveCost"])
        elif instance_id is not None:
            of_instance[hour, instance_id].append(row)
        elif row["CapacityReservationStatus"] == "Unused":
            costs[hour, "[reserved, unused]"] += Fraction(row["EffectiveCost"])
        else:
            costs[hour, "[not splittable]"] += Fraction(row["EffectiveCost"])
    for (hour, instance_id), rows in of_instance.items():
        cost = sum(Fraction(row["EffectiveCost"]) for row in rows)
        held = defaultdict(Fraction)
        by_cluster = defaultdict(int)
        for one in world.ledger.get(hour, {}).get(instance_id, ()):
            held[one.owner] += one.held
            by_cluster[one.cluster] += one.held
        seen = sum(held.values())
        if not seen:
            costs[hour, "[no telemetry]"] += cost
            continue
        instance_type = rows[0]["SkuMeter"].rpartition(":")[2]
        cores = max(CORES[instance_type], max(by_cluster.values()) // (60 * MICRO))
        quantity = sum(Fraction(row["ConsumedQuantity"] or 0) for row in rows)
        held["[unknown]"] += max(0, quantity * 60 * MICRO * cores - seen)
        for owner, part in held.items():
            costs[hour, owner] += cost * part / sum(held.values())
    return costs


def _day_hour(hour: int) -> str:
    return iso(hour * 3_600_000)[8:13]
