"""
Turn a minute, an event or a report into records with consecutive numbers.

The running emitter and `replay` write the same lines. The caller decides where the records go and
whether they are stored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import json

from neuron_emitter.lines.drafts import event_draft, identity_members, runtime_draft, timestamp_ms
from neuron_emitter.lines.emf import line_of, load_library
from neuron_emitter.lines.line_settings import (
    AMI_ID,
    INSTANCE_ID,
    INSTANCE_TYPE,
    common_dimensions,
    parse_choice,
    parse_tags,
)
from neuron_emitter.lines.metric_lines import minute_drafts, report_drafts
from neuron_emitter.settings.minute_settings import NONE
from neuron_emitter.spool.spool_records import NewRecord
from neuron_wire import encode
from neuron_wire.extraction import MAX_EXTRACTED_BYTES
from neuron_wire.line import escape_unprintable
from neuron_wire.names import RAW_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_emitter.fold.minute import LineIdentity
    from neuron_emitter.fold.minute_cores import ReportSample
    from neuron_emitter.fold.runtime_lines import RuntimeMembers
    from neuron_emitter.lines.drafts import Draft
    from neuron_emitter.logs import Event
    from neuron_emitter.settings import MinuteSettings
    from neuron_wire import MinuteRecord


class LineWriter:
    """
    Writes the records of one emitter, under one set of settings.

    Each method numbers its records from a first number on. All methods except `raw_record` raise
    `WireFormatError` for a line that CloudWatch would not extract.
    """

    def __init__(self, settings: MinuteSettings) -> None:
        self._settings = settings
        self._tags = parse_tags(settings.tag)
        if settings.metrics != NONE or parse_choice(settings.metric).names:
            load_library()  # a missing library fails the start, not the first minute

    def minute_records(
        self,
        record: MinuteRecord,
        runtimes: Iterable[RuntimeMembers] = (),
        ami_id: str | None = None,
    ) -> list[NewRecord]:
        """
        Return the lines of a closed minute, then those of *runtimes*, from `record.seq` on.

        The minute line comes first, then one line per 100 further cores, then lines of single
        cores.
        """
        common = self._common(record, ami_id)
        drafts = [*minute_drafts(record, self._settings, common)]
        drafts += [
            runtime_draft(runtime, record, seq)
            for seq, runtime in enumerate(runtimes, record.seq + len(drafts))
        ]
        return [self._record(draft) for draft in drafts]

    def event_records(
        self, events: Iterable[Event], identity: LineIdentity, seq: int
    ) -> list[NewRecord]:
        """Return one line per event."""
        return [
            self._record(event_draft(event, identity, number))
            for number, event in enumerate(events, seq)
        ]

    def report_records(
        self, sample: ReportSample, identity: LineIdentity, seq: int
    ) -> list[NewRecord]:
        """Return one report as a line of one-second metrics, then a line per 100 further cores."""
        common = self._common(identity, identity.ami_id)
        drafts = report_drafts(sample, identity, self._settings, common, seq)
        return [self._record(draft) for draft in drafts]

    def raw_record(
        self, report: bytes, at_s: float, identity: LineIdentity, seq: int
    ) -> NewRecord | None:
        """Return one report as it was received at *at_s*; None if a log event cannot hold it."""
        at_ms = timestamp_ms(at_s)
        members = identity_members(RAW_KIND, identity, seq)
        head = encode({"Timestamp": at_ms, **members, **self._own_tags(members)})
        # Not decoded and encoded again: numbers stay as neuron-monitor wrote them.
        text = json.format(report, indent=-1).decode("utf-8", "replace")
        line = f'{head[:-1]},"Report":{escape_unprintable(text)}}}'
        return NewRecord(at_ms, line) if len(line.encode()) <= MAX_EXTRACTED_BYTES else None

    def knows_dimensions(self, identity: LineIdentity) -> bool:
        """Return True if *identity* has every requested common dimension."""
        wanted = common_dimensions(self._settings.common_dims)
        return len(self._common(identity, identity.ami_id)) == len(wanted)

    def _common(self, identity: LineIdentity | MinuteRecord, ami_id: str | None) -> dict[str, str]:
        """
        Return the requested common dimensions; none if one of them is unknown.

        With fewer dimensions a metric would be another series, and mix instances that are kept
        apart.
        """
        known = {
            INSTANCE_ID: identity.instance_id,
            INSTANCE_TYPE: identity.instance_type,
            AMI_ID: ami_id,
        }
        wanted = common_dimensions(self._settings.common_dims)
        common = {name: value for name in wanted if (value := known[name]) is not None}
        return common if len(common) == len(wanted) else {}

    def _own_tags(self, members: Mapping[str, object]) -> dict[str, str]:
        return {name: value for name, value in self._tags.items() if name not in members}

    def _record(self, draft: Draft) -> NewRecord:
        if self._tags:
            draft = replace(draft, members={**draft.members, **self._own_tags(draft.members)})
        return NewRecord(draft.timestamp_ms, line_of(draft, self._settings.namespace))
