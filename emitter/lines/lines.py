"""Records as log lines: drafts of each kind, with the operator's tags, written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from emitter.instance.facts import InstanceFacts
from emitter.lines import legacy
from emitter.lines.emf import load_library, written
from emitter.lines.event import event_draft
from emitter.lines.minute import minute_drafts
from emitter.lines.report import report_drafts
from emitter.lines.runtime import runtime_draft
from emitter.lines.settings import NONE, LineSettings, Source

if TYPE_CHECKING:
    from emitter.events import Event
    from emitter.fold.runtimes import RuntimeMinute
    from emitter.fold.sample import ReportSample
    from emitter.lines.draft import Draft
    from neuron_wire import MinuteRecord


_FACTS: Final = ("instance_type", "ami_id")


class Lines:
    """What one emitter writes, by the settings it was started with."""

    def __init__(self, settings: LineSettings) -> None:
        self._settings = settings
        self._facts = InstanceFacts()
        if settings.tier != NONE:
            load_library()  # what is missing is missed at the start, not at the first minute

    def know(self, facts: InstanceFacts) -> None:
        """Take over what *facts* tell; they serve the common dimensions."""
        told = {name: value for name in _FACTS if (value := getattr(facts, name)) is not None}
        self._facts = replace(self._facts, **told)

    def minute(self, record: MinuteRecord) -> list[str]:
        """
        The minute line, then one per 100 further cores, then those of single cores.

        The n-th of them has the sequence number `record.seq + n`, from 0.

        Raises:
            WireFormatError: If CloudWatch would not extract a line.
        """
        self.know(InstanceFacts(instance_type=record.instance_type))
        common = self._common(record.instance_id)
        drafts = minute_drafts(record, self._settings, common)
        return [self._written(draft) for draft in drafts]

    def runtime(self, runtime: RuntimeMinute, source: Source, *, seq: int, minute_ms: int) -> str:
        """The line of one runtime in the minute that starts at *minute_ms*."""
        return self._written(runtime_draft(runtime, source, seq, minute_ms))

    def event(self, event: Event, source: Source, *, seq: int) -> str:
        """The line of something that happened."""
        return self._written(event_draft(event, source, seq))

    def report(self, sample: ReportSample, source: Source, *, seq: int) -> list[str]:
        """
        The line of one report, then one per 100 further cores.

        The n-th of them has the sequence number `seq + n`, from 0.

        Raises:
            WireFormatError: If CloudWatch would not extract a line.
        """
        common = self._common(source.instance_id)
        drafts = report_drafts(sample, source, self._settings, common, seq)
        return [self._written(draft) for draft in drafts]

    def _common(self, instance_id: str) -> dict[str, str]:
        """
        The common dimensions that are asked for; none when one of them is unknown.

        With fewer dimensions a metric would be another series, and mix
        instances that were kept apart.
        """
        known = {
            legacy.INSTANCE_ID: instance_id,
            legacy.INSTANCE_TYPE: self._facts.instance_type,
            legacy.AMI_ID: self._facts.ami_id,
        }
        wanted = legacy.used(self._settings.common_dims)
        found = {name: value for name in wanted if (value := known[name]) is not None}
        return found if len(found) == len(wanted) else {}

    def _written(self, draft: Draft) -> str:
        tags = self._settings.tags
        if tags:
            own = {name: value for name, value in tags.items() if name not in draft.members}
            draft = replace(draft, members={**draft.members, **own})
        return written(draft, self._settings.namespace)
