"""
Capacity reservations: how many instances are reserved from when to when.

A bill does not say it. EC2 does, as long as it remembers a reservation that is over;
the answer of `aws ec2 describe-capacity-reservations` can be kept in a file.
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityReservations.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SettingsError
from neuron_emf.account import documented

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from neuron_emf.account import Account

ACTION: Final = "ec2:DescribeCapacityReservations"
_MINUTE_S: Final = 60
_MEMBERS: Final = (
    "CapacityReservationId", "InstanceType", "TotalInstanceCount", "StartDate", "EndDate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reservation:
    """
    One reservation with an end.

    Attributes:
        reservation_id: Such as `cr-0123456789abcdef0`.

        instance_type: As EC2 spells it.

        instances: That are reserved, used or not.

        start_minute: Whole minutes between the Unix epoch and its start.

        end_minute: The first minute after it.
    """

    reservation_id: str
    instance_type: str
    instances: int
    start_minute: int
    end_minute: int

    def minutes_by_hour(self) -> dict[int, int]:
        """Minutes of the clock in it, by hour since the epoch; together its length."""
        minutes = {}
        hour = self.start_minute // 60
        while hour * 60 < self.end_minute:
            minutes[hour] = min(self.end_minute, hour * 60 + 60) - max(self.start_minute, hour * 60)
            hour += 1
        return minutes


def reservation_id_of(text: str) -> str:
    """`cr-...` of an identifier or an ARN."""
    return text.rpartition("/")[2]


def reservations_of_file(path: Path) -> dict[str, Reservation]:
    """
    What a file says, by identifier.

    Raises:
        SettingsError: If it cannot be read or holds something else.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
        return _by_id(document["CapacityReservations"])
    except OSError as error:
        msg = f"Cannot read {path}: {error.strerror}. Correct --reservations."
        raise SettingsError(msg) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        msg = (
            f"{path} is not an answer of aws ec2 describe-capacity-reservations. "
            "Save that as JSON, or correct --reservations."
        )
        raise SettingsError(msg) from error


def reservations_of_ec2(
    account: Account, wanted: Mapping[str, Collection[str]]
) -> dict[str, Reservation]:
    """
    What EC2 says of the identifiers that are *wanted*, by region; what it forgot is left out.

    Raises:
        SettingsError: If no client can be made.
        SourceError: If EC2 refuses or does not answer.
    """
    known: dict[str, Reservation] = {}
    for region, identifiers in sorted(wanted.items()):
        client = account.client("ec2", region or None)
        # By a filter: an identifier that EC2 forgot would refuse all others.
        filters = [{"Name": "capacity-reservation-id", "Values": sorted(identifiers)}]
        with documented(f"{ACTION} in {region or account.region}"):
            pages = client.get_paginator("describe_capacity_reservations").paginate(Filters=filters)
            known.update(_by_id(one for page in pages for one in page["CapacityReservations"]))
    return known


def _by_id(answers: Iterable[Mapping[str, Any]]) -> dict[str, Reservation]:
    """Those of *answers* that have an end: without one there is nothing to spread a fee over."""
    known = {}
    for answer in answers:
        identifier, instance_type, instances, start, end = map(answer.get, _MEMBERS)
        if end is None:
            continue
        if type(instances) is not int or type(identifier) is not str:
            raise TypeError(identifier)
        reservation = Reservation(
            identifier, str(instance_type), instances, _minute(start), _minute(end)
        )
        if instances > 0 and reservation.start_minute < reservation.end_minute:
            known[identifier] = reservation
    return known


def _minute(moment: object) -> int:
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    if not isinstance(moment, datetime):
        raise TypeError(moment)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return int(moment.timestamp()) // _MINUTE_S
