"""
What the functions ask of the table, and the values they keep in it.

Knows no database: `store` keeps these in DynamoDB, the tests in a dictionary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Telling = Literal["minute", "ecc", "faults", "errors"]
"""
What a kept rollup tells about: the last minute, the last one with uncorrectable
memory errors, the last one with hardware faults, the last one with failed
executions.
"""


class TableError(Exception):
    """The table did not take or give something; the invocation must be repeated."""


@dataclass(frozen=True, slots=True)
class RecordItem:
    """
    One minute record, or several of the same minute and bucket, packed.

    Attributes:
        minute: Epoch minute it belongs to.

        bucket: Part of the minute, from 0, by the hash of its instance.

        key: The record's identity within its bucket, or that of the pack; the
            same content always has the same key, so that putting it twice
            keeps one.

        payload: The record or records.

        expires_s: Epoch second after which the table may delete it.
    """

    minute: int
    bucket: int
    key: str
    payload: bytes
    expires_s: int


@dataclass(frozen=True, slots=True)
class Publication:
    """
    What has been published of one minute of one cluster.

    Attributes:
        number: How often the rollup has been published, from 1.

        tallies: The amounts published so far, by metric.

        digest: Fingerprint of the rollup last published.

        first_records: Records that the first publication counted.
    """

    number: int
    tallies: Mapping[str, float]
    digest: str
    first_records: int


@dataclass(frozen=True, slots=True)
class Progress:
    """
    How far closing has come.

    Attributes:
        next_minute: The first minute that no run has looked at.

        open_minutes: Earlier minutes that are not closed yet, ascending.

        markers_from: The first minute that may carry a late-record marker
            which no run has dealt with.

        tried: Runs in a row that could not finish a minute that nobody has closed.

        tried_late: Runs in a row that could not finish a minute to restate.
    """

    next_minute: int
    open_minutes: tuple[int, ...]
    markers_from: int
    tried: int = 0
    tried_late: int = 0


class Table(Protocol):
    """The one table. Every method either did what it says or raised a `TableError`."""

    def put_records(self, items: Sequence[RecordItem]) -> None:
        """Keep *items*; one that is already there is replaced by itself."""

    def put_markers(self, minutes: Iterable[int], token: str, expires_s: int) -> None:
        """Say that records came for *minutes* that may have been closed."""

    def read_markers(self, minutes: Iterable[int]) -> dict[int, str]:
        """The tokens of those *minutes* that carry a marker."""

    def clear_marker(self, minute: int, token: str) -> None:
        """Take the marker away, unless it has got another token since."""

    def read_bucket(self, minute: int, bucket: int) -> Iterator[bytes]:
        """
        The payloads of one bucket in key order.

        Every put that has returned is among them.
        """

    def take_lease(self, owner: str, now_s: float, expires_s: float) -> bool:
        """True when *owner* may close minutes until *expires_s*, and nobody else."""

    def release_lease(self, owner: str) -> None:
        """Give the lease back, if *owner* still has it."""

    def read_progress(self) -> Progress | None:
        """How far closing has come; None before the first run."""

    def write_progress(self, progress: Progress) -> None:
        """Replace what `read_progress` returns."""

    def read_publications(self, minute: int) -> dict[str, Publication]:
        """What has been published of *minute*, by cluster."""

    def write_publication(
        self, minute: int, cluster: str, publication: Publication, expires_s: int
    ) -> bool:
        """
        Remember *publication*, unless somebody remembered one with its number.

        False when somebody did.
        """

    def read_registry(self) -> dict[int, bytes]:
        """The packed registry by bucket."""

    def write_registry(self, bucket: int, payload: bytes) -> None:
        """Replace one bucket of the registry."""

    def write_last_rollup(self, about: Telling, cluster: str, minute: int, line: str) -> None:
        """Keep *line* as the cluster's last rollup of its kind, unless a later minute is kept."""

    def read_last_rollup(self, about: Telling, cluster: str) -> str | None:
        """The line that `write_last_rollup` kept."""

    def read_published(
        self, cluster: str, minutes: Iterable[int]
    ) -> Iterator[tuple[int, Publication]]:
        """What has been published of one cluster in those *minutes* that were, in no order."""

    def put_departure(self, instance_id: str, minute: int, expires_s: int) -> None:
        """EC2 said in *minute* that the instance stops or has stopped."""

    def read_departures(self, first_minute: int, last_minute: int) -> dict[str, list[int]]:
        """
        The minutes in which each instance departed, from *first_minute* to *last_minute*.

        May hold some that are up to an hour outside.
        """

    def was_told(self, transition: str) -> bool:
        """Whether people were told of *transition*."""

    def put_told(self, transition: str, expires_s: int) -> None:
        """People were told of *transition*."""
