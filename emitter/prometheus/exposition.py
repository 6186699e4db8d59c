"""From samples to the text that Prometheus reads; alone in knowing its library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prometheus_client import CollectorRegistry

    from emitter.prometheus.families import Family, Sample

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"  # which every Prometheus reads


class Exposition:
    """Metrics in the order in which they were added first."""

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}

    def add(self, samples: Iterable[Sample], common: Mapping[str, str]) -> None:
        """Add *samples*, each with the labels *common* beside its own."""
        for sample in samples:
            family = sample.family
            labels = dict(common)
            labels.update(zip(family.labels, sample.labels, strict=True))
            self._metric(family).add_sample(family.name, labels, sample.value)

    def text(self) -> bytes:
        """The page."""
        return generate_latest(cast("CollectorRegistry", self))

    def collect(self) -> Sequence[Metric]:
        """All metrics, as the library asks a registry for them."""
        return [*self._metrics.values()]

    def _metric(self, family: Family) -> Metric:
        metric = self._metrics.get(family.name)
        if metric is None:
            name = family.name.removesuffix("_total") if family.kind == "counter" else family.name
            metric = Metric(name, family.meaning, family.kind)
            self._metrics[family.name] = metric
        return metric
