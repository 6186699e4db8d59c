"""Reports in, and the series of the page for Prometheus out."""

from __future__ import annotations

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from neuron_emitter.fold import Fold, FoldSettings
from neuron_emitter.owners.assignments import RuntimeOwner
from neuron_emitter.prometheus.metrics_page import MetricsPage
from neuron_emitter.reports.framing import Framer
from tests.neuron_emitter.neuron_reports import REPORTS_START_S, identity_of, written

SCRAPED_PERIOD_S = 5.0


class PlayedPage:
    """Reports in, the page out, as the loop does it; a minute ends when a test closes it."""

    def __init__(self, **settings):
        self.now_s = REPORTS_START_S
        self.fold = Fold(
            FoldSettings(**{"period_s": SCRAPED_PERIOD_S, **settings}),
            owner_of=lambda pid: RuntimeOwner(f"owner-{pid}"),
        )
        self.page = MetricsPage(clock=lambda: self.now_s)
        self.fold.clock.open_minute(REPORTS_START_S)
        self._framer = Framer()

    def read(self, *documents):
        """Reports, one each period."""
        for document in documents:
            self.now_s += SCRAPED_PERIOD_S
            for report in self._framer.frame_chunk(written(document) + b"\n"):
                self.fold.fold_report(report, self.now_s)
                newest = self._framer.newest
                self.page.show_report(report, newest, self.fold, identity_of(self.fold), self.now_s)

    def close(self, health=None):
        """End the minute."""
        record = self.fold.close_minute(identity_of(self.fold), 1, health=health)
        self.page.show_minute(record, self.fold.holdings)
        return record

    def series(self, name=""):
        """By name and labels, the value of every series whose name begins with *name*."""
        return series_of(self.text(), name)

    def text(self):
        """The page, as the library writes it."""
        return generate_latest(self.page).decode()


def series_of(text, name=""):
    """Of a page in the text format; a label without a value is no label, as in Prometheus."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name.startswith(name):
                labels = frozenset(pair for pair in sample.labels.items() if pair[1])
                assert (sample.name, labels) not in found
                found[sample.name, labels] = sample.value
    return found


def types_of(text):
    """The type of every metric that has samples."""
    return {one.name: one.type for one in text_string_to_metric_families(text) if one.samples}


def value(series, name, **labels):
    """The value of the one series with these labels among others; None when there is none."""
    found = [
        number
        for (is_called, pairs), number in series.items()
        if is_called == name and labels.items() <= dict(pairs).items()
    ]
    assert len(found) <= 1, found
    return found[0] if found else None
