"""
Upfront fees of capacity blocks, spread evenly over the minutes of the instances they reserve.

A block is paid at once, before or in the month in which it runs, and its instances
are billed at 0. The whole fee is spread over the whole reservation, whichever month
is asked for: what all months have of it is the fee to the last digit. An hour's part
of it goes to the charges of the instances that ran in the reservation, as
EffectiveCost is meant in FOCUS, and what was reserved for none stays apart.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf.chargeback.decimals import decimal_of, plain, split, total, whole_of
from neuron_emf.chargeback.focus_columns import (
    COMMITTED,
    CONSUMED,
    EFFECTIVE,
    PRICED,
    PRICING_EFFECTIVE,
)
from neuron_emf.chargeback.meters import USAGE, instance_id_of
from neuron_emf.chargeback.reservations import reservation_id_of
from neuron_wire.core_owners import MICRO
from neuron_wire.ledger import HOUR_MINUTES, decimal_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from decimal import Decimal

    from neuron_emf.chargeback.charges import Charge
    from neuron_emf.chargeback.reservations import Reservation
    from neuron_wire.ledger import LedgerRow

BY_BILL: Final = "AWS bill"
FINE: Final = 10**12
"""Parts of a millionth of a minute, in which an hour's quantity of 18 places is whole."""

_MINUTE: Final = MICRO * FINE
_MINUTE_DIGITS: Final = 18
USED, UNUSED = "Used", "Unused"


@dataclass(frozen=True, slots=True)
class Fee:
    """
    One upfront charge for a reservation.

    Attributes:
        reservation_id: `cr-...`

        charge: The row of the bill.

        cost: Its EffectiveCost; its BilledCost where that is 0, as FOCUS has purchases.

        hour: In which it was charged, whole hours since the epoch.

        is_of_month: It is billed in the month that is asked for.
    """

    reservation_id: str
    charge: Charge
    cost: Decimal
    hour: int
    is_of_month: bool


class HourFee(NamedTuple):
    """
    What one hour has of a reservation's fees.

    Attributes:
        reservation_id: `cr-...`

        cost: In the bill's currency.

        minutes: Of all reserved instances together.

        charge: The row of the fee, of which a charge that is not on the bill has the dimensions.
    """

    reservation_id: str
    cost: Decimal
    minutes: int
    charge: Charge


class BasedCharge(NamedTuple):
    """A charge, and what its amounts are based on."""

    charge: Charge
    basis: str = BY_BILL


@dataclass(slots=True)
class HourCharges:
    """
    The charges of one hour by what they are of.

    Attributes:
        by_instance: Those of an instance.

        unused: Those of what is reserved and unused, by reservation.

        others: The rest: of unused commitments, of reservations as a whole.
    """

    by_instance: dict[str, list[BasedCharge]] = field(default_factory=lambda: defaultdict(list))
    unused: dict[str, list[BasedCharge]] = field(default_factory=lambda: defaultdict(list))
    others: list[Charge] = field(default_factory=list)

    def add(self, charges: Iterable[Charge]) -> None:
        """Put each of *charges* where it belongs."""
        for charge in charges:
            instance_id = instance_id_of(charge.of("ResourceId"))
            if instance_id is not None:
                self.by_instance[instance_id].append(BasedCharge(charge))
            elif charge.of("CapacityReservationStatus") == UNUSED:
                self.unused[reservation_of(charge)].append(BasedCharge(charge))
            else:
                self.others.append(charge)

    def add_fee(self, fee: HourFee, ledger: Mapping[str, Sequence[LedgerRow]]) -> None:
        """Share *fee* among the instances that ran in its reservation, by their minutes."""
        ran = self._minutes_in(fee.reservation_id, ledger)
        free = max(0, fee.minutes * _MINUTE - sum(ran.values()))
        weights = [*ran.values(), free]
        *costs, rest = split(fee.cost, weights if any(weights) else [*([0] * len(ran)), 1])
        for (instance_id, minutes), cost in zip(ran.items(), costs, strict=True):
            _pay(self.by_instance[instance_id], fee, cost, instance_id, minutes)
        if free or rest:
            _pay(self.unused[fee.reservation_id], fee, rest, "", free)

    def _minutes_in(
        self, reservation_id: str, ledger: Mapping[str, Sequence[LedgerRow]]
    ) -> dict[str, int]:
        """Minutes in it, of each instance, in `FINE` parts: as the bill says, else as EC2 did."""
        ran: dict[str, int] = {}
        for instance_id in sorted({*self.by_instance, *ledger}):
            charges = [based.charge for based in self.by_instance.get(instance_id, ())]
            said = {reservation_of(charge) for charge in charges} - {""}
            rows = ledger.get(instance_id, ())
            if reservation_id in said:
                charges = [one for one in charges if reservation_of(one) == reservation_id]
            elif said or all(row.capacity_reservation_id != reservation_id for row in rows):
                continue
            ran[instance_id] = billed_minutes(charges) if charges else _longest(rows)
        return ran


def hour_fees(
    fees: Sequence[Fee], reservations: Mapping[str, Reservation], hours: range
) -> dict[int, list[HourFee]]:
    """What each of *hours* has of *fees*, all of them of known *reservations*."""
    by_reservation: dict[str, list[Fee]] = {}
    for fee in fees:
        by_reservation.setdefault(fee.reservation_id, []).append(fee)
    by_hour: dict[int, list[HourFee]] = {}
    for reservation_id, theirs in sorted(by_reservation.items()):
        reservation = reservations[reservation_id]
        minutes = reservation.minutes_by_hour()
        costs = split(total([fee.cost for fee in theirs]), list(minutes.values()))
        for (hour, in_hour), cost in zip(minutes.items(), costs, strict=True):
            if hour in hours:
                of_hour = HourFee(
                    reservation_id, cost, in_hour * reservation.instances, theirs[0].charge
                )
                by_hour.setdefault(hour, []).append(of_hour)
    return by_hour


def billed_minutes(charges: Iterable[Charge]) -> int:
    """Minutes that *charges* of an instance bill in an hour, in `FINE` parts; never below 0."""
    hours = total([decimal_of(charge.amounts[CONSUMED]) for charge in charges])
    return max(0, whole_of(hours, _MINUTE_DIGITS) * HOUR_MINUTES)


def reservation_of(charge: Charge) -> str:
    """`cr-...`; empty when a charge is of none."""
    return reservation_id_of(charge.of("CapacityReservationId"))


def _longest(rows: Sequence[LedgerRow]) -> int:
    """Minutes that samples of an instance cover, which is not billed at all."""
    return min(HOUR_MINUTES * _MINUTE, max(row.covered for row in rows) * FINE)


def _pay(
    charges: list[BasedCharge], fee: HourFee, cost: Decimal, resource_id: str, minutes: int
) -> None:
    """Add *cost* to the charge of the reservation among *charges*; to a new one without any."""
    basis = f"{BY_BILL}, upfront fee of {fee.reservation_id}"
    for reservation_id in (fee.reservation_id, ""):
        for index, (charge, _) in enumerate(charges):
            if reservation_of(charge) == reservation_id:
                charges[index] = BasedCharge(_with_cost(charge, cost), basis)
                return
    hours = decimal_text(minutes // HOUR_MINUTES, _MINUTE_DIGITS)
    zeros = dict.fromkeys(range(len(fee.charge.amounts)), "0")
    amounts = {**zeros, CONSUMED: hours, PRICED: hours, COMMITTED: "", PRICING_EFFECTIVE: ""}
    charge = fee.charge.with_amounts(amounts).with_dimensions(
        {
            "ChargeCategory": USAGE,
            "ChargeClass": "",
            "ChargeDescription": f"Part of the upfront fee of {fee.reservation_id}",
            "ChargeFrequency": "Usage-Based",
            "CapacityReservationStatus": USED if resource_id else UNUSED,
            "ConsumedUnit": "Hours",
            "PricingUnit": "Hours",
            "ContractedUnitPrice": "0",
            "ListUnitPrice": "0",
            "PricingCurrencyContractedUnitPrice": "",
            "PricingCurrencyListUnitPrice": "",
            "ResourceId": resource_id,
            "ResourceName": "",
        }
    )
    charges.append(BasedCharge(_with_cost(charge, cost), basis))


def _with_cost(charge: Charge, cost: Decimal) -> Charge:
    changes = {EFFECTIVE: _sum(charge.amounts[EFFECTIVE], cost)}
    is_one_currency = charge.of("PricingCurrency") == charge.of("BillingCurrency")
    if charge.amounts[PRICING_EFFECTIVE] and is_one_currency:
        changes[PRICING_EFFECTIVE] = _sum(charge.amounts[PRICING_EFFECTIVE], cost)
    return charge.with_amounts(changes)


def _sum(text: str, cost: Decimal) -> str:
    return plain(total([decimal_of(text), cost]))
