"""
EC2's answer about instances: on demand, spot, block or reservation, and their type.

EC2 forgets an instance an hour after its end, so its first answer is stored with the hour. A
repeated run reads the stored answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aggregator import aws
from aggregator.storage.record_items import bucket_of
from neuron_accounts.findings import pack_json, unpack_json
from neuron_accounts.instance_hours import Ec2Instance
from neuron_accounts.ledger import PARTS_OF_HOUR

if TYPE_CHECKING:
    from collections.abc import Mapping

ON_DEMAND: Final = "on-demand"  # EC2 has no lifecycle then
NEURON_TYPE_FILTERS: Final = ["inf*", "trn*"]
DENIED_CODES: Final = ("UnauthorizedOperation", "AccessDenied", "AccessDeniedException")
"""EC2's error codes if a policy denies the call; no later call gets another answer."""

_INSTANCES_IN_PAGE: Final = 1_000  # the most that DescribeInstances returns at once

Purchases = dict[str, Ec2Instance]


def part_of(bucket: int) -> int:
    """Return the part of an hour with the instances of *bucket*."""
    return bucket % PARTS_OF_HOUR


def asked_of_ec2() -> Purchases:
    """
    Return every instance of Neuron types that EC2 knows in this account and Region.

    Raises:
        AwsError: If EC2 refuses or does not answer.
    """
    pages = (
        aws.client("ec2")
        .get_paginator("describe_instances")
        .paginate(
            Filters=[{"Name": "instance-type", "Values": NEURON_TYPE_FILTERS}],
            PaginationConfig={"PageSize": _INSTANCES_IN_PAGE},
        )
    )

    def read_pages() -> Purchases:
        """Keep a few members of each page, because whole pages of a large fleet do not fit."""
        return {
            str(instance["InstanceId"]): Ec2Instance(
                instance.get("InstanceLifecycle") or ON_DEMAND,
                instance.get("CapacityReservationId"),
                instance.get("InstanceType"),
            )
            for page in pages
            for reservation in page.get("Reservations", ())
            for instance in reservation.get("Instances", ())
        }

    return aws.call(read_pages)


def packed_parts(purchases: Mapping[str, Ec2Instance]) -> list[bytes]:
    """Return *purchases* by part of an hour, in stored form."""
    parts: list[dict[Ec2Instance, list[str]]] = [{} for _ in range(PARTS_OF_HOUR)]
    for instance_id, bought in sorted(purchases.items()):
        part = parts[part_of(bucket_of(instance_id))]
        part.setdefault(bought, []).append(instance_id)
    return [pack_json([[*bought, ids] for bought, ids in part.items()]) for part in parts]


def unpacked(payload: bytes) -> Purchases:
    """Return the instances of one part."""
    return {
        instance_id: Ec2Instance(*bought)
        for *bought, ids in unpack_json(payload)
        for instance_id in ids
    }
