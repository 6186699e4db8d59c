"""
The page: what the loop leaves, and the text that is made of it when somebody asks.

The reader only ever sets a reference. The text is made by the thread of who
asks, at most once a second however many ask: so a scrape costs the reading of
reports nothing but its share of the processor, and that share has a bound.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from emitter import __version__
from emitter.prometheus.exposition import CONTENT_TYPE, Exposition
from emitter.prometheus.families import BUILD_INFO, LEFT_OUT, REPORT_AT, Sample
from emitter.prometheus.instance_samples import instance_labels, instance_samples
from emitter.prometheus.last_values import LastValues
from emitter.prometheus.minute_samples import ClosedMinute, minute_samples
from emitter.prometheus.runtime_samples import runtime_samples

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.fold import Fold
    from emitter.fold.held_cores import Holdings
    from emitter.lines import LineIdentity
    from emitter.reports.report import Report
    from neuron_wire.minute import MinuteRecord

RENDER_INTERVAL_S: Final = 1.0

__all__ = ["CONTENT_TYPE", "MetricsPage"]


class MetricsPage:
    """One page. `see` and `close` are the loop's, `text` is of any one other thread."""

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._values = LastValues()
        self._minute: ClosedMinute | None = None
        self._text = b""
        self._rendered_s: float | None = None

    def see(
        self, report: Report, raw: bytes, fold: Fold, identity: LineIdentity, at_s: float
    ) -> None:
        """Take the report that *fold* took last, received at *at_s* as the bytes *raw*."""
        self._values.add(report, raw, fold, identity, at_s)

    def close(self, record: MinuteRecord, holdings: Holdings) -> None:
        """Take the minute that was closed."""
        self._minute = ClosedMinute(record, holdings)

    def text(self) -> bytes:
        """The page as it is now, or was less than a second ago."""
        now_s = self._monotonic()
        if self._rendered_s is None or now_s - self._rendered_s >= RENDER_INTERVAL_S:
            self._text = self._render(self._clock())
            self._rendered_s = now_s
        return self._text

    def _render(self, now_s: float) -> bytes:
        view, minute = self._values.view, self._minute
        exposition = Exposition()
        if view is not None:
            labels = instance_labels(view)
            of_runtimes, left_out = runtime_samples(view, now_s)
            exposition.add(of_runtimes, labels)
            exposition.add(instance_samples(view, now_s), labels)
            own = {"cluster": view.cluster, "instance_id": view.instance_id}
            exposition.add((Sample(REPORT_AT, (), view.at_s), Sample(LEFT_OUT, (), left_out)), own)
        if minute is not None:
            record = minute.record
            own = {"cluster": record.cluster, "instance_id": record.instance_id}
            exposition.add(minute_samples(minute), own)
        exposition.add([Sample(BUILD_INFO, (__version__,), 1)], {})
        return exposition.text()
