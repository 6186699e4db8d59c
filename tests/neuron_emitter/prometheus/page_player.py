"""A player that folds reports and reads the page for Prometheus."""

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
    """A page that is fed with reports as in the loop; a test closes the minutes."""

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
        """Fold reports, one each period."""
        for document in documents:
            self.now_s += SCRAPED_PERIOD_S
            for report in self._framer.frame_chunk(written(document) + b"\n"):
                self.fold.fold_report(report, self.now_s)
                newest = self._framer.newest
                self.page.show_report(report, newest, self.fold, identity_of(self.fold), self.now_s)

    def close(self, health=None):
        """Close the minute and return its record."""
        record = self.fold.close_minute(identity_of(self.fold), 1, health=health)
        self.page.show_minute(record, self.fold.holdings)
        return record

    def series(self, name=""):
        """Return values by name and labels of series whose name starts with *name*."""
        return series_of(self.text(), name)

    def text(self):
        """Return the page as the library writes it."""
        return generate_latest(self.page).decode()


def series_of(text, name=""):
    """Parse a page into values by name and labels; labels without a value are dropped."""
    values = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name.startswith(name):
                labels = frozenset(pair for pair in sample.labels.items() if pair[1])
                assert (sample.name, labels) not in values
                values[sample.name, labels] = sample.value
    return values


def types_of(text):
    """Return the type of every metric with samples."""
    return {
        family.name: family.type
        for family in text_string_to_metric_families(text)
        if family.samples
    }


def value(series, name, **labels):
    """Return the value of the only series with these labels; None if there is none."""
    numbers = [
        number
        for (is_called, pairs), number in series.items()
        if is_called == name and labels.items() <= dict(pairs).items()
    ]
    assert len(numbers) <= 1, numbers
    return numbers[0] if numbers else None
