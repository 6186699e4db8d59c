"""The values that the functions keep in the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_wire.line_members import Amounts

LastRollup: TypeAlias = str
"""
The kind of a stored rollup: `minute` is the last rollup, and `silent` the last rollup with silent
instances. The `about` of an alarm is the last rollup in which the alarm's metric was above 0.
"""


class TableError(Exception):
    """The table rejected a request or did not answer; the invocation must be repeated."""


class LedgerError(Exception):
    """The ledger's bucket did not accept an object; the run must be repeated."""


@dataclass(frozen=True, slots=True)
class RecordItem:
    """
    One minute record, or several of the same minute and bucket, packed.

    Attributes:
        minute: The epoch minute of the records.

        bucket: The part of the minute, from 0, by the hash of its instance.

        key: The record's identity within its bucket, or that of the pack; equal content always has
            the same key, so that putting it twice keeps one.

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
    The publication of one minute of one cluster.

    Attributes:
        number: The number of publications of the rollup, from 1.

        tallies: The amounts published so far, by metric.

        digest: Fingerprint of the rollup last published.

        first_records: The number of records in the first publication.
    """

    number: int
    tallies: Amounts
    digest: str
    first_records: int


@dataclass(frozen=True, slots=True)
class FindingsItem:
    """
    The open findings of one bucket, or of the owners of one cluster.

    Attributes:
        version: The number of times it was written, from 1.

        due: Events in it that were not sent yet.

        payload: A packed `FindingsState`.
    """

    version: int
    due: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """
    The transition whose message covers other alarms.

    Attributes:
        identity: The identity under which its message is recorded.

        state: The state of its alarm.

        at_ms: Time of the change to that state, milliseconds since the epoch.
    """

    identity: str
    state: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class CloseProgress:
    """
    The progress of close.

    Attributes:
        next_minute: The first minute that no run has read.

        open_minutes: Earlier minutes that are not closed yet, ascending.

        markers_from: The first minute that may have an unhandled late-record marker.

        tried: Failed runs in a row with an open minute, and with a minute to restate.

        restated: The minute in which each marked minute was last read, if it was.

        findings_minute: The newest minute that findings have folded.

        early_minutes: Minutes that closed before an earlier one, ascending. Findings fold them
            after it.
    """

    next_minute: int
    open_minutes: tuple[int, ...]
    markers_from: int
    tried: tuple[int, int] = (0, 0)
    restated: Mapping[int, int] = field(default_factory=dict)
    findings_minute: int = 0
    early_minutes: tuple[int, ...] = ()
