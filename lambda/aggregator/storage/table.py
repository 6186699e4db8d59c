"""
The table in DynamoDB.

Where things stand in it is `layout`'s business, how DynamoDB is asked is `dynamodb`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aggregator import aws
from aggregator.storage import layout
from aggregator.storage.dynamodb import Requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aggregator.storage.values import (
        Claim,
        CloseProgress,
        FindingsItem,
        LastRollup,
        Publication,
        RecordItem,
    )


class Table:
    """The one table. Every method either did what it says or raised a `TableError`."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    @classmethod
    def connect(cls, table_name: str, *, consistent: bool = True) -> Table:
        """
        Open *table_name* with the credentials and the region of the environment.

        Where what is read was put long ago, its partitions need not be read *consistent*.
        """
        return cls(Requests(aws.client("dynamodb"), table_name, consistent=consistent))

    def put_records(self, items: Sequence[RecordItem]) -> None:
        """
        Keep *items*, at most one of each key.

        Raises:
            TableError: If any is left after the last attempt; the others are
                kept.
        """
        self._requests.write(layout.record_item(item) for item in items)

    def put_markers(self, minutes: Iterable[int], token: str, expires_s: int) -> None:
        """Say that records came for *minutes* that may have been closed."""
        self._requests.write(layout.marker_item(minute, token, expires_s) for minute in minutes)

    def read_markers(self, minutes: Iterable[int]) -> dict[int, str]:
        """
        The tokens of those *minutes* that carry a marker.

        Not a consistent read, for half the price: a marker set a moment ago is
        found by the next run, and an old token clears nothing.
        """
        items = self._requests.get_each(layout.marker_key(minute) for minute in minutes)
        return {layout.minute_of(item): item["token"]["S"] for item in items}

    def clear_marker(self, minute: int, token: str) -> None:
        """Take the marker away, unless it has got another token since."""
        self._requests.delete_if(
            layout.marker_key(minute),
            ConditionExpression="#token = :token",
            ExpressionAttributeNames={"#token": "token"},
            ExpressionAttributeValues={":token": {"S": token}},
        )

    def read_bucket(self, minute: int, bucket: int) -> Iterator[bytes]:
        """
        The payloads of one bucket in key order.

        Every put that has returned is among them.
        """
        for item in self._requests.query(layout.minute_pk(minute, bucket), "r"):
            yield item["r"]["B"]

    def take_lease(self, owner: str, now_s: float, expires_s: float) -> bool:
        """True when *owner* may close minutes until *expires_s*, and nobody else."""
        return self._requests.put_if(
            layout.lease_item(owner, expires_s),
            ConditionExpression="attribute_not_exists(pk) OR #expires < :now",
            ExpressionAttributeNames={"#expires": "expires"},
            ExpressionAttributeValues={":now": {"N": f"{now_s:.3f}"}},
        )

    def release_lease(self, owner: str) -> None:
        """Give the lease back, if *owner* still has it."""
        self._requests.delete_if(
            layout.LEASE,
            ConditionExpression="#owner = :owner",
            ExpressionAttributeNames={"#owner": "owner"},
            ExpressionAttributeValues={":owner": {"S": owner}},
        )

    def read_progress(self) -> CloseProgress | None:
        """How far closing has come; None before the first run."""
        item = self._requests.get(layout.PROGRESS)
        return None if item is None else layout.progress_of(item)

    def write_progress(self, progress: CloseProgress) -> None:
        """Replace what `read_progress` returns."""
        self._requests.put(layout.progress_item(progress))

    def read_publications(self, minute: int) -> dict[str, Publication]:
        """What has been published of *minute*, by cluster."""
        items = self._requests.query(layout.publications_pk(minute))
        return {item["sk"]["S"]: layout.publication_of(item) for item in items}

    def write_publication(
        self, minute: int, cluster: str, publication: Publication, expires_s: int
    ) -> bool:
        """
        Remember *publication*, unless somebody remembered one with its number.

        False when somebody did.
        """
        return self._requests.put_if(
            layout.publication_item(minute, cluster, publication, expires_s),
            ConditionExpression="attribute_not_exists(pk) OR n = :before",
            ExpressionAttributeValues={":before": {"N": str(publication.number - 1)}},
        )

    def read_registry(self) -> dict[int, bytes]:
        """The packed registry by bucket."""
        return {
            int(item["sk"]["S"]): item["r"]["B"] for item in self._requests.query(layout.REGISTRY)
        }

    def write_registry(self, bucket: int, payload: bytes) -> None:
        """Replace one bucket of the registry."""
        self._requests.put(layout.registry_item(bucket, payload))

    def read_findings(self) -> dict[str, FindingsItem]:
        """What is open, by place: a bucket, or a cluster."""
        items = self._requests.query(layout.FINDINGS)
        return {item["sk"]["S"]: layout.findings_of(item) for item in items}

    def write_findings(self, place: str, item: FindingsItem, expires_s: int) -> bool:
        """Replace one item of what is open, unless somebody has; False when somebody did."""
        return self._requests.put_if(
            layout.findings_item(place, item, expires_s),
            ConditionExpression="attribute_not_exists(pk) OR n = :before",
            ExpressionAttributeValues={":before": {"N": str(item.version - 1)}},
        )

    def write_last_rollup(self, about: LastRollup, cluster: str, minute: int, line: str) -> None:
        """Keep *line* as the cluster's last rollup of its kind, unless a later minute is kept."""
        self._requests.put_if(
            layout.last_rollup_item(about, cluster, minute, line),
            ConditionExpression="attribute_not_exists(pk) OR #minute <= :minute",
            ExpressionAttributeNames={"#minute": "minute"},
            ExpressionAttributeValues={":minute": {"N": str(minute)}},
        )

    def read_last_rollup(self, about: LastRollup, cluster: str) -> str | None:
        """The line that `write_last_rollup` kept."""
        item = self._requests.get(layout.last_rollup_key(about, cluster))
        return None if item is None else layout.last_rollup_of(item)

    def read_published(
        self, cluster: str, minutes: Iterable[int]
    ) -> Iterator[tuple[int, Publication]]:
        """
        What has been published of one cluster in those *minutes* that were, in no order.

        Not a consistent read, for half the price: a day's sum may lack its last seconds.
        """
        for item in self._requests.get_each(
            layout.publication_key(minute, cluster) for minute in minutes
        ):
            yield layout.minute_of(item), layout.publication_of(item)

    def put_departure(self, instance_id: str, minute: int, expires_s: int) -> None:
        """EC2 said in *minute* that the instance stops or has stopped."""
        self._requests.put(layout.departure_item(instance_id, minute, expires_s))

    def read_departures(self, first_minute: int, last_minute: int) -> dict[str, list[int]]:
        """
        The minutes in which each instance departed, from *first_minute* to *last_minute*.

        May hold some that are up to an hour outside.
        """
        departures: dict[str, list[int]] = {}
        for pk in layout.departures_pks(first_minute, last_minute):
            for item in self._requests.query(pk, "sk"):
                instance_id, minute = layout.departure_of(item)
                departures.setdefault(instance_id, []).append(minute)
        return departures

    def was_notified(self, transition: str) -> bool:
        """Whether people were told of *transition*."""
        return self._requests.get(layout.notified_key(transition)) is not None

    def put_notified(self, transition: str, expires_s: int) -> None:
        """People were told of *transition*."""
        self._requests.put(layout.notified_item(transition, expires_s))

    def read_claim(self, group: str) -> Claim | None:
        """Whose message tells of the alarms of *group*; None before the first."""
        item = self._requests.get(layout.claim_key(group))
        return None if item is None else layout.claim_of(item)

    def write_claim(self, group: str, claim: Claim, before: Claim | None, expires_s: int) -> bool:
        """Replace *before*, which `read_claim` returned; False when somebody else did."""
        return self._requests.put_if(
            layout.claim_item(group, claim, expires_s),
            ConditionExpression="attribute_not_exists(pk) OR claimer = :before",
            ExpressionAttributeValues={":before": {"S": before.identity if before else ""}},
        )

    def read_settled(self) -> int | None:
        """The first hour that is not in the ledger; None before the first run of settle."""
        item = self._requests.get(layout.SETTLED)
        return None if item is None else int(item["hour"]["N"])

    def write_settled(self, next_hour: int) -> None:
        """Replace what `read_settled` returns."""
        self._requests.put({**layout.SETTLED, "hour": {"N": str(next_hour)}})

    def put_purchases(self, hour: int, part: int, payload: bytes, expires_s: int) -> None:
        """Keep how instances of one part of an hour are bought, unless that is kept already."""
        self._requests.put_if(
            layout.purchases_item(hour, part, payload, expires_s),
            ConditionExpression="attribute_not_exists(pk)",
        )

    def read_purchases(self, hour: int, part: int) -> bytes | None:
        """What `put_purchases` kept first."""
        item = self._requests.get(layout.purchases_key(hour, part))
        return None if item is None else bytes(item["r"]["B"])
