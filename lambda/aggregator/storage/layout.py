"""
What stands where in the table.

One table, keys `pk` and `sk`, both text, and `ttl`:

| pk                  | sk          | what                                            |
|---------------------|-------------|-------------------------------------------------|
| `m#MINUTE#BUCKET`   | identity    | one record, or a pack of them: `r`              |
| `dirty#MINUTE`      | `dirty`     | late records came: `token`                      |
| `p#MINUTE`          | cluster     | what has been published: `n`, `r`               |
| `registry`          | `BUCKET`    | the instances of one bucket: `r`                |
| `cluster#ABOUT`     | cluster     | the last rollup about it: `minute`, `r`         |
| `gone#HOUR`         | see below   | EC2 stopped an instance in a minute             |
| `findings`          | see below   | what is open: `n`, `due`, `r`                   |
| `told#TRANSITION`   | `told`      | people were told of an alarm's transition       |
| `told#GROUP`        | `claim`     | whose message it is: `claimer`, `state`, `at`   |
| `close`             | `lease`     | who may close: `owner`, `expires`               |
| `close`             | `progress`  | how far closing has come: `r`                   |
| `settle`            | `progress`  | the first hour that is not settled: `hour`      |
| `settle#HOUR`       | PART        | how EC2 says its instances are bought: `r`      |

MINUTE is the epoch minute, HOUR 60 of them, BUCKET two digits, TRANSITION and GROUP
fingerprints, PART a digit, `r` packed JSON. A departure's `sk` is `MINUTE#INSTANCE`: what EC2
says again is put again in the same place, and nothing has to be compared. That of what is
open is a BUCKET, or `cluster#` and a cluster.
Attributes are written as DynamoDB types them: `{"S": text}`, `{"N": digits}`,
`{"B": bytes}`.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

from aggregator.minutes import end_s
from aggregator.storage.values import (
    Claim,
    CloseProgress,
    FindingsItem,
    LastRollup,
    Publication,
    RecordItem,
    TableError,
)
from neuron_wire.findings import PARTITION
from neuron_wire.names import HOUR_MINUTES

Attributes = Mapping[str, Mapping[str, Any]]
"""An item, or the key of one."""

LEASE: Final[Attributes] = {"pk": {"S": "close"}, "sk": {"S": "lease"}}
PROGRESS: Final[Attributes] = {"pk": {"S": "close"}, "sk": {"S": "progress"}}
SETTLED: Final[Attributes] = {"pk": {"S": "settle"}, "sk": {"S": "progress"}}
REGISTRY: Final = "registry"
CLUSTERS: Final = "cluster"
DEPARTURES: Final = "gone"
FINDINGS: Final = PARTITION
LAST_ROLLUP_LIFE_S: Final = 30 * 24 * 3600
"""How long the last rollup is kept of a cluster that nobody hears of any more."""


def minute_pk(minute: int, bucket: int) -> str:
    """The partition of one bucket of a minute's records."""
    return f"m#{minute}#{bucket:02d}"


def publications_pk(minute: int) -> str:
    """The partition of what has been published of a minute."""
    return f"p#{minute}"


def marker_key(minute: int) -> Attributes:
    """
    Where a minute's marker stands.

    A partition each: a flood of late records spreads over as many as it has minutes.
    """
    return {"pk": {"S": f"dirty#{minute}"}, "sk": {"S": "dirty"}}


def minute_of(item: Attributes) -> int:
    """The minute of a marker, or of a publication."""
    return int(item["pk"]["S"].partition("#")[2])


def record_item(item: RecordItem) -> Attributes:
    """One record."""
    return {
        "pk": {"S": minute_pk(item.minute, item.bucket)},
        "sk": {"S": item.key},
        "r": {"B": item.payload},
        "ttl": {"N": str(item.expires_s)},
    }


def marker_item(minute: int, token: str, expires_s: int) -> Attributes:
    """One marker."""
    return {**marker_key(minute), "token": {"S": token}, "ttl": {"N": str(expires_s)}}


def lease_item(owner: str, expires_s: float) -> Attributes:
    """The lease in somebody's hands."""
    return {**LEASE, "owner": {"S": owner}, "expires": {"N": f"{expires_s:.3f}"}}


def progress_item(progress: CloseProgress) -> Attributes:
    """How far closing has come."""
    members = {
        "next": progress.next_minute,
        "open": progress.open_minutes,
        "markers_from": progress.markers_from,
        "tried": [progress.tried, progress.tried_late],
        "restated": list(progress.restated.items()),
        "findings": progress.findings_minute,
        "early": progress.early_minutes,
    }
    return {**PROGRESS, "r": _packed(members)}


def progress_of(item: Attributes) -> CloseProgress:
    """What `progress_item` wrote."""
    members = _unpacked(item)
    tried, tried_late = members.get("tried", (0, 0))  # a release before wrote none
    return CloseProgress(
        members["next"],
        tuple(members["open"]),
        members["markers_from"],
        tried,
        tried_late,
        dict(members.get("restated", ())),  # nor this
        members.get("findings", 0),
        tuple(members.get("early", ())),
    )


def publication_key(minute: int, cluster: str) -> Attributes:
    """Where what has been published of one minute of one cluster stands."""
    return {"pk": {"S": publications_pk(minute)}, "sk": {"S": cluster}}


def publication_item(
    minute: int, cluster: str, publication: Publication, expires_s: int
) -> Attributes:
    """What has been published of one minute of one cluster."""
    members = {
        "tallies": dict(publication.tallies),
        "digest": publication.digest,
        "first_records": publication.first_records,
    }
    return {
        **publication_key(minute, cluster),
        "n": {"N": str(publication.number)},
        "r": _packed(members),
        "ttl": {"N": str(expires_s)},
    }


def publication_of(item: Attributes) -> Publication:
    """What `publication_item` wrote."""
    return Publication(number=int(item["n"]["N"]), **_unpacked(item))


def registry_item(bucket: int, payload: bytes) -> Attributes:
    """One bucket of the registry."""
    return {"pk": {"S": REGISTRY}, "sk": {"S": f"{bucket:02d}"}, "r": {"B": payload}}


def findings_item(place: str, item: FindingsItem, expires_s: int) -> Attributes:
    """What is open of one bucket, or of the owners of one cluster."""
    return {
        "pk": {"S": FINDINGS},
        "sk": {"S": place},
        "n": {"N": str(item.version)},
        "due": {"N": str(item.due)},
        "r": {"B": item.payload},
        "ttl": {"N": str(expires_s)},
    }


def findings_of(item: Attributes) -> FindingsItem:
    """What `findings_item` wrote."""
    return FindingsItem(int(item["n"]["N"]), int(item["due"]["N"]), bytes(item["r"]["B"]))


def last_rollup_key(about: LastRollup, cluster: str) -> Attributes:
    """Where the last rollup of one cluster stands."""
    return {"pk": {"S": f"{CLUSTERS}#{about}"}, "sk": {"S": cluster}}


def last_rollup_item(about: LastRollup, cluster: str, minute: int, line: str) -> Attributes:
    """The last rollup of one cluster."""
    return {
        **last_rollup_key(about, cluster),
        "minute": {"N": str(minute)},
        "r": {"B": zlib.compress(line.encode())},
        "ttl": {"N": str(end_s(minute) + LAST_ROLLUP_LIFE_S)},
    }


def last_rollup_of(item: Attributes) -> str:
    """
    The line that `last_rollup_item` wrote.

    Raises:
        TableError: If the item is not one that `last_rollup_item` made.
    """
    try:
        return zlib.decompress(item["r"]["B"]).decode()
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        msg = "the last rollup is not compressed UTF-8 text"
        raise TableError(msg) from error


def departures_pks(first_minute: int, last_minute: int) -> list[str]:
    """The partitions that hold every departure of those minutes."""
    first_hour, last_hour = first_minute // HOUR_MINUTES, last_minute // HOUR_MINUTES
    return [f"{DEPARTURES}#{hour}" for hour in range(first_hour, last_hour + 1)]


def departure_item(instance_id: str, minute: int, expires_s: int) -> Attributes:
    """One departure."""
    return {
        "pk": {"S": f"{DEPARTURES}#{minute // HOUR_MINUTES}"},
        "sk": {"S": f"{minute}#{instance_id}"},
        "ttl": {"N": str(expires_s)},
    }


def departure_of(item: Attributes) -> tuple[str, int]:
    """The instance of a departure, and its minute."""
    minute, _, instance_id = item["sk"]["S"].partition("#")
    return instance_id, int(minute)


def purchases_key(hour: int, part: int) -> Attributes:
    """Where it stands how the instances of one part of an hour are bought."""
    return {"pk": {"S": f"settle#{hour}"}, "sk": {"S": str(part)}}


def purchases_item(hour: int, part: int, payload: bytes, expires_s: int) -> Attributes:
    """How the instances of one part of an hour are bought."""
    return {**purchases_key(hour, part), "r": {"B": payload}, "ttl": {"N": str(expires_s)}}


def notified_key(transition: str) -> Attributes:
    """
    Where it is remembered that people were told of *transition*.

    By its fingerprint: the names in a transition may be longer than a key.
    """
    fingerprint = hashlib.sha256(transition.encode()).hexdigest()
    return {"pk": {"S": f"told#{fingerprint}"}, "sk": {"S": "told"}}


def notified_item(transition: str, expires_s: int) -> Attributes:
    """People were told of *transition*."""
    return {**notified_key(transition), "ttl": {"N": str(expires_s)}}


def claim_key(group: str) -> Attributes:
    """Where it stands whose message tells of the alarms of *group*."""
    return {**notified_key(group), "sk": {"S": "claim"}}


def claim_item(group: str, claim: Claim, expires_s: int) -> Attributes:
    """Whose message it is."""
    return {
        **claim_key(group),
        "claimer": {"S": claim.identity},
        "state": {"S": claim.state},
        "at": {"N": str(claim.at_ms)},
        "ttl": {"N": str(expires_s)},
    }


def claim_of(item: Attributes) -> Claim:
    """What `claim_item` wrote."""
    return Claim(item["claimer"]["S"], item["state"]["S"], int(item["at"]["N"]))


def _packed(members: Mapping[str, object]) -> dict[str, bytes]:
    return {"B": zlib.compress(json.dumps(members, separators=(",", ":")).encode())}


def _unpacked(item: Attributes) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(zlib.decompress(item["r"]["B"]))
    return members
