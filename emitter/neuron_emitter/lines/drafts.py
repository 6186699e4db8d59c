"""
The draft of one line, and the values that a line may contain.

The fold has checked the values of a minute; an event or a runtime brings texts of a process or an
operating system. A line must be valid JSON and UTF-8 in every case, so an unsuitable value is
omitted or written with `?`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_wire import names
from neuron_wire.line_members import MAX_COUNT
from neuron_wire.minute_record import round_significant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_emitter.fold.minute import LineIdentity
    from neuron_emitter.fold.runtime_lines import RuntimeMembers
    from neuron_emitter.logs import Event
    from neuron_wire import MinuteRecord

STANDARD_S: Final = 60
HIGH_S: Final = 1
MAX_EVENT_TEXT_CHARS: Final = 4096  # the longest text is the last output of a process

Members = dict[str, object]
Value = str | int | float


@dataclass(frozen=True, slots=True)
class Draft:
    """
    The members of one line, and the metrics that CloudWatch extracts from them.

    Attributes:
        members: All members of the line except `_aws`, in order.

        timestamp_ms: Milliseconds since the Unix epoch.

        directives: Pairs: the unit of each metric by name, and sets of member names. Each metric
            makes one series per set. A line without a metric is not an EMF document.

        resolution_s: Storage resolution of the metrics, 1 or 60 seconds.
    """

    members: Mapping[str, object]
    timestamp_ms: int
    directives: Sequence[tuple[Mapping[str, str], Sequence[Sequence[str]]]] = ()
    resolution_s: int = STANDARD_S


def identity_members(kind: str, identity: LineIdentity | MinuteRecord, seq: int) -> Members:
    """Return the members that every line begins with."""
    members: Members = {
        "Schema": names.VERSION,
        "Kind": kind,
        "Boot": identity.boot,
        "Seq": seq,
        "ClusterName": identity.cluster,
        "InstanceId": identity.instance_id,
    }
    if identity.identity_guessed:
        members["IdentityGuessed"] = True
    return members


def present(**values: Value | None) -> dict[str, Value]:
    """Return the *values* that a line can contain, by the name of their member."""
    return {
        _whole(member): made
        for member, value in values.items()
        if value is not None and (made := writable(value)) is not None
    }


def amount(value: float | None) -> float | None:
    """Return *value* rounded as a line writes an amount that is not a count."""
    return None if value is None else round_significant(value)


def writable(value: Value) -> Value | None:
    """Return *value* as a line can contain it, or None."""
    if isinstance(value, str):
        return _whole(value) or None
    # NaN and infinity compare false; isfinite would fail on an integer that no float can hold.
    return value if abs(value) <= MAX_COUNT else None


def _whole(text: str) -> str:
    # A lone surrogate is half a character, which UTF-8 cannot encode.
    return text[:MAX_EVENT_TEXT_CHARS].encode("utf-8", "replace").decode()


def timestamp_ms(at_s: float) -> int:
    """Convert seconds since the epoch to the milliseconds of a line."""
    return int(at_s * 1000)


def runtime_draft(runtime: RuntimeMembers, minute: MinuteRecord, seq: int) -> Draft:
    """Return the line of a runtime in *minute*; a value that was not read has no member."""
    members = {**identity_members(names.RUNTIME_KIND, minute, seq), **present(**runtime)}
    return Draft(members, minute.minute_ms)


def event_draft(event: Event, identity: LineIdentity, seq: int) -> Draft:
    """
    Return the line of *event*, with the time of the event.

    A detail whose name every event uses for another member is omitted.
    """
    members = {
        **identity_members(names.EVENT_KIND, identity, seq),
        **present(Event=event.name, Message=event.message),
    }
    details = {
        name: value for name, value in present(**event.details).items() if name not in members
    }
    return Draft(members | details, timestamp_ms(event.at_s))
