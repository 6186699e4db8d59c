"""
The line of a report as it came, so that nothing neuron-monitor says is out of reach.

No metric, and no member of the report at the root: the report is one object,
in its own words and numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from emitter.lines.draft import identity_members
from neuron_wire import encode, names
from neuron_wire.extraction import MAX_LINE_BYTES
from neuron_wire.line import printing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.lines.settings import LineIdentity


def raw_line(
    report: bytes, at_ms: int, identity: LineIdentity, seq: int, tags: Mapping[str, str]
) -> str | None:
    """The line of *report*, which was received at *at_ms*; None if no log event is so long."""
    members = identity_members(names.RAW, identity, seq)
    own = {name: value for name, value in tags.items() if name not in members}
    head = encode({"Timestamp": at_ms, **members, **own})
    # Not decoded and encoded again: numbers stay as they were written.
    text = msgspec.json.format(report, indent=-1).decode("utf-8", "replace")
    line = f'{head[:-1]},"Report":{printing(text)}}}'
    return line if len(line.encode()) <= MAX_LINE_BYTES else None
