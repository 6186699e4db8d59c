"""
One hour: the ledger's rows and the charges of the bill become rows of owners.

Every charge is split by the core-minutes that owners had of its instance. What was
billed is ConsumedQuantity x 60 x cores; what of it no emitter saw is `[unknown]`, and
where emitters saw more than was billed, all of them scale down. Pure: no file, no
clock, no network; every amount comes out as it went in.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf.chargeback.decimals import split_text
from neuron_emf.chargeback.fees import BY_BILL, FINE, HourCharges, billed_minutes
from neuron_emf.chargeback.focus_columns import (
    BILLED,
    CONSUMED,
    CONTRACTED,
    EFFECTIVE,
    LIST,
    PRICED,
    SUMMABLE,
)
from neuron_emf.chargeback.meters import instance_type_of
from neuron_wire.core_owners import MICRO
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.ledger import HOUR_MINUTES, MINUTE_PLACES, USD_PLACES, decimal_text
from neuron_wire.money import round_half_even, rounded
from neuron_wire.names import UNALLOCATED_OWNER, UNKNOWN_OWNER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuron_emf.chargeback.charges import Amounts, Charge
    from neuron_emf.chargeback.fees import BasedCharge, HourFee
    from neuron_wire.ledger import LedgerRow

    Ledger = Mapping[str, Sequence[LedgerRow]]

NO_TELEMETRY: Final = "[no telemetry]"
"""Billed hours of an instance of which the ledger has no row."""

RESERVED_UNUSED: Final = "[reserved, unused]"
"""Hours of a reservation in which no instance ran."""

NOT_SPLITTABLE: Final = "[not splittable]"
"""Charges of no instance and hour of the month: corrections, fees of unknown reservations."""

UNHELD: Final = frozenset({UNALLOCATED_OWNER, UNKNOWN_OWNER})
"""Owners of a split charge who are nobody: what FOCUS calls its unallocated portion."""

NOT_BILLED: Final = "not billed"
NO_PRICE: Final = "no price"

_HOUR: Final = HOUR_MINUTES * MICRO
_FINE_HOUR: Final = _HOUR * FINE
_HOUR_PLACES: Final = 10
_WHOLE: Final = "1"


class Allocation(NamedTuple):
    """
    What one owner has of one charge.

    Attributes:
        hour: Whole hours since the epoch.

        charge: The charge, its amounts those of the owner alone.

        owner: As the ledger has it, or one of the names above.

        cluster: None where nobody says it.

        team: None where nobody says it.

        basis: What the amounts are based on.

        ratio: The owner's part of the charge as a decimal number; empty when it is not split.

        core_minutes: By which it was split; empty when it is not.

        core_hours: Held, used and idle; empty what nobody knows.

        covered_minutes: That samples cover, of the instance; empty when nobody knows.
    """

    hour: int
    charge: Charge
    owner: str
    cluster: str | None = None
    team: str | None = None
    basis: str = BY_BILL
    ratio: str = ""
    core_minutes: str = ""
    core_hours: tuple[str, ...] = ("", "", "")
    covered_minutes: str = ""


class Share(NamedTuple):
    """
    What one owner had of an instance in an hour.

    Attributes:
        owner: As the ledger has it.

        cluster: None when rows of several clusters say different ones.

        team: None where nobody says it.

        weight: Micro-core-minutes by which charges are split, in `FINE` parts.

        used: Micro-core-minutes; None when unknown.

        idle: Micro-core-minutes; None when unknown.
    """

    owner: str
    cluster: str | None
    team: str | None
    weight: int
    used: int | None = None
    idle: int | None = None


def at_list_cost(hour: int, ledger: Ledger, blank: Charge) -> Iterator[Allocation]:
    """The rows of an hour at the ledger's own amounts; *blank* has what all of them have."""
    for instance_id, rows in sorted(ledger.items()):
        charge = _ledger_charge(instance_id, rows[0], blank)
        parts = _split(hour, charge, "", shares_of(rows, 0), rows)
        for row, part in zip(rows, parts, strict=True):
            cost = "" if row.list_cost is None else decimal_text(row.list_cost, USD_PLACES)
            charge = part.charge._replace(amounts=_at_list(cost))
            yield part._replace(charge=charge, basis=row.basis or NO_PRICE)


@lru_cache(maxsize=1 << 14)
def _at_list(cost: str) -> Amounts:
    at_list = dict.fromkeys((LIST, CONTRACTED, EFFECTIVE), cost)
    return tuple(at_list.get(place, "") for place in range(len(SUMMABLE)))


def by_bill(
    hour: int, ledger: Ledger, charges: Iterable[Charge], fees: Iterable[HourFee], blank: Charge
) -> Iterator[Allocation]:
    """
    The rows of an hour of a bill.

    Args:
        hour: Whole hours since the epoch.
        ledger: Its rows, by instance.
        charges: Those of the bill.
        fees: The hour's parts of upfront fees.
        blank: What a row has of an instance that is not billed.
    """
    of_hour = HourCharges()
    of_hour.add(charges)
    for fee in fees:
        of_hour.add_fee(fee, ledger)
    for charge in of_hour.others:
        yield Allocation(hour, charge, NOT_SPLITTABLE)
    for _, unused in sorted(of_hour.unused.items()):
        for charge, basis in unused:
            yield Allocation(hour, charge, RESERVED_UNUSED, basis=basis)
    for instance_id in sorted(ledger.keys() | of_hour.by_instance.keys()):
        rows = ledger.get(instance_id, ())
        theirs = of_hour.by_instance.get(instance_id)
        if theirs:
            yield from _of_instance(hour, rows, theirs)
        else:
            yield from _not_billed(hour, instance_id, rows, blank)


def shares_of(rows: Sequence[LedgerRow], billed: int) -> list[Share]:
    """The shares of *rows* of one instance-hour, and `[unknown]` up to *billed*, in their unit."""
    shares = [
        Share(row.owner, row.cluster, row.team, row.held * FINE, row.used, row.idle) for row in rows
    ]
    unseen = billed - sum(share.weight for share in shares)
    if unseen > 0:
        for index, share in enumerate(shares):
            if share.owner == UNKNOWN_OWNER:
                shares[index] = share._replace(weight=share.weight + unseen)
                return shares
        clusters = {row.cluster for row in rows}
        cluster = min(clusters) if len(clusters) == 1 else None
        shares.append(Share(UNKNOWN_OWNER, cluster, None, unseen))
    return shares


def cores_of(rows: Iterable[LedgerRow], instance_type: str | None) -> int:
    """
    Cores of an instance: those of its type, or more where a whole hour of a cluster shows more.

    A logical core size other than the default gives an instance more cores than its type has.
    """
    seen: dict[str, int] = {}
    for row in rows:
        seen[row.cluster] = seen.get(row.cluster, 0) + row.held
    by_type = INSTANCE_TYPES.get(instance_type or "")
    whole = max(seen.values(), default=0) // _HOUR
    return max(whole, by_type.cores if by_type else 0)


def _of_instance(
    hour: int, rows: Sequence[LedgerRow], charges: Sequence[BasedCharge]
) -> Iterator[Allocation]:
    if not any(row.held for row in rows):
        for charge, basis in charges:
            yield Allocation(hour, charge, NO_TELEMETRY, basis=basis)
        return
    meter = charges[0].charge.of("SkuMeter")
    cores = cores_of(rows, rows[0].instance_type or instance_type_of(meter))
    minutes = [billed_minutes([charge]) for charge, _ in charges]
    shares = shares_of(rows, billed_minutes(charge for charge, _ in charges) * cores)
    # Core-hours are the instance's: of several charges each has its part of them.
    by_time = tuple(minutes) if any(minutes) else (1,) + (0,) * (len(charges) - 1)
    for index, (charge, basis) in enumerate(charges):
        for part in _split(hour, charge, basis, shares, rows):
            if len(charges) == 1:
                yield part
                continue
            hours = tuple(split_text(text, by_time)[index] for text in part.core_hours)
            yield part._replace(core_hours=hours)


def _split(
    hour: int, charge: Charge, basis: str, shares: Sequence[Share], rows: Sequence[LedgerRow]
) -> Iterator[Allocation]:
    weights = tuple(share.weight for share in shares)
    if not any(weights):
        weights = (1, *weights[1:])
    ratios = split_text(_WHOLE, weights)
    amounts = list(zip(*(split_text(text, weights) for text in charge.amounts), strict=True))
    held = _core_hours(weights, _FINE_HOUR)
    used = _core_hours(tuple(share.used for share in shares), _HOUR)
    idle = _core_hours(tuple(share.idle for share in shares), _HOUR)
    covered = decimal_text(max(row.covered for row in rows), MINUTE_PLACES)
    for index, share in enumerate(shares):
        yield Allocation(
            hour,
            charge._replace(amounts=amounts[index]),
            share.owner,
            share.cluster,
            share.team,
            basis,
            ratios[index],
            decimal_text(round_half_even(share.weight, FINE), MINUTE_PLACES),
            (held[index], used[index], idle[index]),
            covered,
        )


@lru_cache(maxsize=1 << 14)
def _core_hours(parts: tuple[int | None, ...], of_hour: int) -> tuple[str, ...]:
    """*parts*, *of_hour* of them an hour, as hours that add up; empty what is unknown."""
    known = [0 if one is None else one * 10**_HOUR_PLACES for one in parts]
    hours = rounded(known, of_hour)
    return tuple(
        "" if one is None else decimal_text(whole, _HOUR_PLACES)
        for one, whole in zip(parts, hours, strict=True)
    )


def _not_billed(
    hour: int, instance_id: str, rows: Sequence[LedgerRow], blank: Charge
) -> Iterator[Allocation]:
    charge = _ledger_charge(instance_id, rows[0], blank).with_amounts(
        dict.fromkeys((BILLED, EFFECTIVE, LIST, CONTRACTED, CONSUMED, PRICED), "0")
    )
    for row, part in zip(rows, _split(hour, charge, "", shares_of(rows, 0), rows), strict=True):
        yield part._replace(basis=NOT_BILLED, ratio="", core_minutes="", owner=row.owner)


def _ledger_charge(instance_id: str, row: LedgerRow, blank: Charge) -> Charge:
    """A charge of an instance-hour of which only the ledger knows."""
    return blank.with_dimensions(
        {
            "CapacityReservationId": row.capacity_reservation_id or "",
            "CapacityReservationStatus": "Used" if row.capacity_reservation_id else "",
            "RegionId": row.region or "",
            "ResourceId": instance_id,
            "SubAccountId": row.account_id or "",
        }
    )
