"""
The stack's table in DynamoDB: its items, and the reads and writes of the functions.

The module `dynamodb` sends the requests. The keys `pk` and `sk` are text; DynamoDB deletes an item
after `ttl`.

| pk                    | sk         | item                                                   |
|-----------------------|------------|--------------------------------------------------------|
| `m#MINUTE#BUCKET`     | identity   | one record, or a pack of records: `r`                  |
| `dirty#MINUTE`        | `dirty`    | marker of late records: `token`                        |
| `p#MINUTE`            | cluster    | the publication of a rollup: `n`, `r`                  |
| `registry`            | `BUCKET`   | the instances of one bucket: `r`                       |
| `cluster#ABOUT`       | cluster    | the last rollup of one kind: `minute`, `r`             |
| `gone#HOUR`           | see below  | EC2's report that an instance stopped                  |
| `findings`            | see below  | open findings: `n`, `due`, `r`                         |
| `notified#TRANSITION` | `notified` | record that the message of a transition was sent       |
| `notified#GROUP`      | `claim`    | alarm that sends the message: `claimer`, `state`, `at` |
| `close`               | `lease`    | the run that may close minutes: `owner`, `expires`     |
| `close`               | `progress` | the progress of close: `r`                             |
| `settle`              | `progress` | the first hour that is not settled: `hour`             |
| `settle#HOUR`         | PART       | EC2's answer on the payment of instances: `r`          |

MINUTE is minutes since the epoch, HOUR is hours since the epoch, BUCKET has two digits and PART
one. TRANSITION and GROUP are fingerprints, and `r` is packed JSON. The `sk` of a departure is
`MINUTE#INSTANCE`, so a repeated report of EC2 replaces the first. The `sk` of open findings is a
BUCKET, or `cluster#` and the name of a cluster.
Attributes have DynamoDB's own form: `{"S": text}`, `{"N": digits}`, `{"B": bytes}`.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any, Final

from aggregator import aws
from aggregator.minutes import end_s
from aggregator.storage.dynamodb import Requests
from aggregator.storage.values import (
    Claim,
    CloseProgress,
    FindingsItem,
    LastRollup,
    Publication,
    RecordItem,
    TableError,
)
from neuron_accounts.findings import PARTITION, pack_json, unpack_json
from neuron_wire.names import HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from aggregator.storage.dynamodb import Attributes

LAST_ROLLUP_LIFE_S: Final = 30 * 24 * 3600
"""Seconds for which the last rollup of a cluster without new records is kept."""


def _item(
    pk: str, sk: str, expires_s: int | None = None, **attributes: Mapping[str, Any]
) -> Attributes:
    """Return an item; without attributes the key of an item."""
    item = {"pk": {"S": pk}, "sk": {"S": sk}, **attributes}
    return item if expires_s is None else {**item, "ttl": {"N": str(expires_s)}}


LEASE: Final = _item("close", "lease")
PROGRESS: Final = _item("close", "progress")
SETTLE_PROGRESS: Final = _item("settle", "progress")
REGISTRY: Final = "registry"


class Table:
    """The one table. Every method either succeeds or raises a `TableError`."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    @classmethod
    def connect(cls, table_name: str, *, consistent: bool = True) -> Table:
        """
        Open *table_name* with the credentials and the Region of the environment.

        Reads need not be *consistent* if the data was put long ago.
        """
        return cls(Requests(aws.client("dynamodb"), table_name, consistent=consistent))

    def put_records(self, items: Sequence[RecordItem]) -> None:
        """
        Put *items*, at most one for each key.

        Raises:
            TableError: If any is left after the last attempt; the others are
                kept.
        """
        self._requests.write(
            _item(
                _records_pk(item.minute, item.bucket),
                item.key,
                item.expires_s,
                r={"B": item.payload},
            )
            for item in items
        )

    def read_bucket(self, minute: int, bucket: int) -> Iterator[bytes]:
        """
        Yield the payloads of one bucket in key order.

        Every put that has returned is among them.
        """
        for item in self._requests.query(_records_pk(minute, bucket), "r"):
            yield item["r"]["B"]

    def put_markers(self, minutes: Iterable[int], token: str, expires_s: int) -> None:
        """Store that records came for *minutes* that may have been closed."""
        self._requests.write(
            {**_marker_key(minute), "token": {"S": token}, "ttl": {"N": str(expires_s)}}
            for minute in minutes
        )

    def read_markers(self, minutes: Iterable[int]) -> dict[int, str]:
        """
        Return the tokens of those *minutes* that have a marker.

        The read is not consistent, for half the price: the next run finds a marker that was just
        set, and an old token clears nothing.
        """
        items = self._requests.get_each(map(_marker_key, minutes))
        return {_minute_of(item): item["token"]["S"] for item in items}

    def clear_marker(self, minute: int, token: str) -> None:
        """Remove the marker, unless it has another token by now."""
        self._requests.delete_if(_marker_key(minute), "#token = :token", token={"S": token})

    def take_lease(self, owner: str, now_s: float, expires_s: float) -> bool:
        """Return True if *owner* alone may close minutes until *expires_s*."""
        return self._requests.put_if(
            {**LEASE, "owner": {"S": owner}, "expires": {"N": f"{expires_s:.3f}"}},
            "attribute_not_exists(pk) OR #expires < :now",
            now={"N": f"{now_s:.3f}"},
        )

    def release_lease(self, owner: str) -> None:
        """Release the lease, if *owner* still has it."""
        self._requests.delete_if(LEASE, "#owner = :owner", owner={"S": owner})

    def read_progress(self) -> CloseProgress | None:
        """Return the progress of close; None before its first run."""
        item = self._requests.get(PROGRESS)
        if item is None:
            return None
        members = _unpacked(item)
        return CloseProgress(
            members["next"],
            tuple(members["open"]),
            members["markers_from"],
            tuple(members.get("tried", (0, 0))),  # an earlier release did not write these,
            dict(members.get("restated", ())),  # nor these
            members.get("findings", 0),
            tuple(members.get("early", ())),
        )

    def write_progress(self, progress: CloseProgress) -> None:
        """Replace the stored progress."""
        members = {
            "next": progress.next_minute,
            "open": progress.open_minutes,
            "markers_from": progress.markers_from,
            "tried": progress.tried,
            "restated": list(progress.restated.items()),
            "findings": progress.findings_minute,
            "early": progress.early_minutes,
        }
        self._requests.put({**PROGRESS, "r": _packed(members)})

    def read_publications(self, minute: int) -> dict[str, Publication]:
        """Return the publications of *minute*, by cluster."""
        return {
            item["sk"]["S"]: _publication_of(item)
            for item in self._requests.query(_publications_pk(minute))
        }

    def read_published(
        self, cluster: str, minutes: Iterable[int]
    ) -> Iterator[tuple[int, Publication]]:
        """
        Yield the publications of one cluster in those *minutes* that have one, in no order.

        The read is not consistent, for half the price: a day's sum may lack its last seconds.
        """
        keys = (_item(_publications_pk(minute), cluster) for minute in minutes)
        for item in self._requests.get_each(keys):
            yield _minute_of(item), _publication_of(item)

    def write_publication(
        self, minute: int, cluster: str, publication: Publication, expires_s: int
    ) -> bool:
        """Store *publication*. Return False if another run has stored one with its number."""
        members = {
            "tallies": dict(publication.tallies),
            "digest": publication.digest,
            "first_records": publication.first_records,
        }
        pk = _publications_pk(minute)
        number = {"N": str(publication.number)}
        item = _item(pk, cluster, expires_s, n=number, r=_packed(members))
        return self._put_numbered(item, publication.number)

    def read_registry(self) -> dict[int, bytes]:
        """Return the packed registry by bucket."""
        return {int(item["sk"]["S"]): item["r"]["B"] for item in self._requests.query(REGISTRY)}

    def write_registry(self, bucket: int, payload: bytes) -> None:
        """Replace one bucket of the registry."""
        self._requests.put(_item(REGISTRY, f"{bucket:02d}", r={"B": payload}))

    def read_findings(self) -> dict[str, FindingsItem]:
        """Return the open findings, by place: a bucket, or a cluster."""
        return {
            item["sk"]["S"]: FindingsItem(
                int(item["n"]["N"]), int(item["due"]["N"]), bytes(item["r"]["B"])
            )
            for item in self._requests.query(PARTITION)
        }

    def write_findings(self, place: str, item: FindingsItem, expires_s: int) -> bool:
        """Replace one item of open findings. Return False if another run has replaced it."""
        number = {"N": str(item.version)}
        due = {"N": str(item.due)}
        written = _item(PARTITION, place, expires_s, n=number, due=due, r={"B": item.payload})
        return self._put_numbered(written, item.version)

    def _put_numbered(self, item: Attributes, number: int) -> bool:
        """Put *item* after the one before *number*. Return False if another run did."""
        before = {"N": str(number - 1)}
        return self._requests.put_if(item, "attribute_not_exists(pk) OR n = :before", before=before)

    def write_last_rollup(self, about: LastRollup, cluster: str, minute: int, line: str) -> None:
        """Store *line* as the cluster's last rollup of its kind, unless a later one is stored."""
        self._requests.put_if(
            _item(
                f"cluster#{about}",
                cluster,
                end_s(minute) + LAST_ROLLUP_LIFE_S,
                minute={"N": str(minute)},
                r={"B": zlib.compress(line.encode())},
            ),
            "attribute_not_exists(pk) OR #minute <= :minute",
            minute={"N": str(minute)},
        )

    def read_last_rollup(self, about: LastRollup, cluster: str) -> str | None:
        """
        Return the line that `write_last_rollup` stored.

        Raises:
            TableError: Also if `write_last_rollup` did not write the item.
        """
        item = self._requests.get(_item(f"cluster#{about}", cluster))
        try:
            return None if item is None else zlib.decompress(item["r"]["B"]).decode()
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            msg = "the last rollup is not compressed UTF-8 text"
            raise TableError(msg) from error

    def put_departure(self, instance_id: str, minute: int, expires_s: int) -> None:
        """Store EC2's report in *minute* that the instance stops or has stopped."""
        pk = _departures_pk(minute // HOUR_MINUTES)
        self._requests.put(_item(pk, f"{minute}#{instance_id}", expires_s))

    def read_departures(self, first_minute: int, last_minute: int) -> dict[str, list[int]]:
        """
        Return the minutes in which each instance departed, from *first_minute* to *last_minute*.

        Some minutes may be up to an hour before or after these.
        """
        departures: dict[str, list[int]] = {}
        for hour in range(first_minute // HOUR_MINUTES, last_minute // HOUR_MINUTES + 1):
            for item in self._requests.query(_departures_pk(hour), "sk"):
                minute, _, instance_id = item["sk"]["S"].partition("#")
                departures.setdefault(instance_id, []).append(int(minute))
        return departures

    def was_notified(self, transition: str) -> bool:
        """Return True if the message for *transition* was sent."""
        return self._requests.get(_item(_notified_pk(transition), "notified")) is not None

    def put_notified(self, transition: str, expires_s: int) -> None:
        """Record that the message for *transition* was sent."""
        self._requests.put(_item(_notified_pk(transition), "notified", expires_s))

    def read_claim(self, group: str) -> Claim | None:
        """Return the claim of the alarms in *group*; None before the first."""
        item = self._requests.get(_item(_notified_pk(group), "claim"))
        if item is None:
            return None
        return Claim(item["claimer"]["S"], item["state"]["S"], int(item["at"]["N"]))

    def write_claim(self, group: str, claim: Claim, before: Claim | None, expires_s: int) -> bool:
        """Replace *before*, which `read_claim` returned. Return False if another run did."""
        return self._requests.put_if(
            _item(
                _notified_pk(group),
                "claim",
                expires_s,
                claimer={"S": claim.identity},
                state={"S": claim.state},
                at={"N": str(claim.at_ms)},
            ),
            "attribute_not_exists(pk) OR claimer = :before",
            before={"S": before.identity if before else ""},
        )

    def read_settled(self) -> int | None:
        """Return the first hour that is not in the ledger; None before the first run of settle."""
        item = self._requests.get(SETTLE_PROGRESS)
        return None if item is None else int(item["hour"]["N"])

    def write_settled(self, next_hour: int) -> None:
        """Replace the hour that `read_settled` returns."""
        self._requests.put({**SETTLE_PROGRESS, "hour": {"N": str(next_hour)}})

    def put_purchases(self, hour: int, part: int, payload: bytes, expires_s: int) -> None:
        """Store EC2's answer for one part of an hour, unless one is stored already."""
        self._requests.put_if(
            _item(f"settle#{hour}", str(part), expires_s, r={"B": payload}),
            "attribute_not_exists(pk)",
        )

    def read_purchases(self, hour: int, part: int) -> bytes | None:
        """Return the answer that `put_purchases` stored first."""
        item = self._requests.get(_item(f"settle#{hour}", str(part)))
        return None if item is None else bytes(item["r"]["B"])


def _records_pk(minute: int, bucket: int) -> str:
    return f"m#{minute}#{bucket:02d}"


def _publications_pk(minute: int) -> str:
    return f"p#{minute}"


def _departures_pk(hour: int) -> str:
    return f"gone#{hour}"


def _notified_pk(transition: str) -> str:
    """Return a key from its fingerprint: the names in a transition may be longer than a key."""
    return f"notified#{hashlib.sha256(transition.encode()).hexdigest()}"


def _marker_key(minute: int) -> Attributes:
    """Return a partition for each minute: a flood of late records spreads over its minutes."""
    return _item(f"dirty#{minute}", "dirty")


def _minute_of(item: Attributes) -> int:
    """Return the minute of a marker, or of a publication."""
    return int(item["pk"]["S"].partition("#")[2])


def _publication_of(item: Attributes) -> Publication:
    return Publication(number=int(item["n"]["N"]), **_unpacked(item))


def _packed(members: Mapping[str, object]) -> dict[str, bytes]:
    return {"B": pack_json(members)}


def _unpacked(item: Attributes) -> Any:  # noqa: ANN401  # JSON that `_packed` wrote
    return unpack_json(item["r"]["B"])
