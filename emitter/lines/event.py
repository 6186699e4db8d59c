"""The line of something that happened on the instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lines.draft import Draft, identity_members
from emitter.lines.properties import present, timestamp_ms
from neuron_wire import names

if TYPE_CHECKING:
    from emitter.events import Event
    from emitter.lines.settings import LineIdentity


def event_draft(event: Event, identity: LineIdentity, seq: int) -> Draft:
    """
    The line of *event*, at the moment it happened.

    A detail with the name of a member that every event has is left out.
    """
    members = {
        **identity_members(names.EVENT, identity, seq),
        **present(Event=event.name, Message=event.message),
    }
    details = {
        name: value for name, value in present(**event.details).items() if name not in members
    }
    return Draft(members | details, timestamp_ms(event.at_s))
