"""Records as log lines: drafts of each kind, with the operator's tags, written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.errors import SettingsError
from emitter.lines import legacy
from emitter.lines.detail import event_draft, raw_line, runtime_draft
from emitter.lines.emf import line_of, load_library
from emitter.lines.legacy import COMMON_DIMS
from emitter.lines.minute import minute_drafts
from emitter.lines.report import report_drafts
from emitter.lines.settings import LEGACY, NONE, LineIdentity, LineSettings
from emitter.lines.tags import check_tags

if TYPE_CHECKING:
    from emitter.events import Event
    from emitter.fold.runtimes import RuntimeMinute
    from emitter.fold.sample import ReportSample
    from emitter.lines.draft import Draft
    from emitter.lines.settings import LineSettings
    from neuron_wire import MinuteRecord


class Lines:
    """What one emitter writes, by the settings it was started with."""

    def __init__(self, settings: LineSettings) -> None:
        self._settings = settings
        if settings.tier != NONE or settings.choice.names:
            load_library()  # what is missing is missed at the start, not at the first minute

    def minute(
        self,
        record: MinuteRecord,
        ami_id: str | None = None,
    ) -> list[str]:
        """
        The minute line, then one per 100 further cores, then those of single cores.

        The n-th of them has the sequence number `record.seq + n`, from 0.

        Raises:
            WireFormatError: If CloudWatch would not extract a line.
        """
        common = self._common(record.instance_id, record.instance_type, ami_id)
        drafts = minute_drafts(record, self._settings, common)
        return [self._written(draft) for draft in drafts]

    def runtime(
        self, runtime: RuntimeMinute, identity: LineIdentity, *, seq: int, minute_ms: int
    ) -> str:
        """The line of one runtime in the minute that starts at *minute_ms*."""
        return self._written(runtime_draft(runtime, identity, seq, minute_ms))

    def event(self, event: Event, identity: LineIdentity, *, seq: int) -> str:
        """The line of something that happened."""
        return self._written(event_draft(event, identity, seq))

    def report(self, sample: ReportSample, identity: LineIdentity, *, seq: int) -> list[str]:
        """
        The line of one report, then one per 100 further cores.

        The n-th of them has the sequence number `seq + n`, from 0.

        Raises:
            WireFormatError: If CloudWatch would not extract a line.
        """
        drafts = report_drafts(sample, identity, self._settings, self._common_of(identity), seq)
        return [self._written(draft) for draft in drafts]

    def knows_dimensions(self, identity: LineIdentity) -> bool:
        """Whether *identity* has every common dimension that is asked for."""
        return len(self._common_of(identity)) == len(legacy.used(self._settings.common_dims))

    def _common_of(self, identity: LineIdentity) -> dict[str, str]:
        return self._common(identity.instance_id, identity.instance_type, identity.ami_id)

    def raw(self, report: bytes, at_ms: int, identity: LineIdentity, *, seq: int) -> str | None:
        """The line of a report as it came, received at *at_ms*; None if no log event is so long."""
        return raw_line(report, at_ms, identity, seq, self._settings.tags)

    def _common(
        self, instance_id: str, instance_type: str | None, ami_id: str | None
    ) -> dict[str, str]:
        """
        The common dimensions that are asked for; none when one of them is unknown.

        With fewer dimensions a metric would be another series, and mix
        instances that were kept apart.
        """
        known = {
            legacy.INSTANCE_ID: instance_id,
            legacy.INSTANCE_TYPE: instance_type,
            legacy.AMI_ID: ami_id,
        }
        wanted = legacy.used(self._settings.common_dims)
        common = {name: value for name in wanted if (value := known[name]) is not None}
        return common if len(common) == len(wanted) else {}

    def _written(self, draft: Draft) -> str:
        tags = self._settings.tags
        if tags:
            own = {name: value for name, value in tags.items() if name not in draft.members}
            draft = replace(draft, members={**draft.members, **own})
        return line_of(draft, self._settings.namespace)


def check_settings(settings: LineSettings) -> None:
    """
    Let *settings* pass only if lines can be written that do what they ask for.

    Raises:
        SettingsError: If a tag cannot be one, a common dimension is not known, or
            dimensions or one-second metrics are asked for where none are defined.
    """
    check_tags(settings.tags, settings.tag_dimensions)
    for name in settings.common_dims:
        if name not in COMMON_DIMS:
            msg = (
                f"Unknown --common-dims {name[:40]!a}. Use {', '.join(COMMON_DIMS)}, or "
                "add a --tag."
            )
            raise SettingsError(msg)
    if settings.tier == NONE:
        for flag, is_given in (
            ("--tag-dimension", bool(settings.tag_dimensions)),
            ("--common-dims", bool(settings.common_dims)),
            ("--high-resolution-metrics", settings.high_resolution),
        ):
            if is_given:
                msg = (
                    f"{flag} needs metrics, but --metrics is none. Use another --metrics, or "
                    f"omit {flag}."
                )
                raise SettingsError(msg)
    if settings.tier == LEGACY and settings.tag_dimensions:
        msg = (
            "--tag-dimension needs ClusterName, which --metrics legacy does not "
            "have. Use another --metrics, or --common-dims."
        )
        raise SettingsError(msg)
