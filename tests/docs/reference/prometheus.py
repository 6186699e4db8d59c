"""Every metric of the page for Prometheus, as its table says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.prometheus.names import BUILD, OF_MINUTE, OF_REPORT, SCRIPT
from tests.docs.reference.markdown import code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.prometheus.names import PageMetric

TABLES = {"script-series": SCRIPT, "own-series": (*OF_MINUTE, *OF_REPORT, *BUILD)}
"""By the name of the markers."""


def families(listed: Sequence[PageMetric[Any]]) -> str:
    """One row for each."""
    labels = {name: ", ".join(map(code, name.labels.split())) for name in listed}
    return "\n".join(
        f"- {code(name.name)}{f' ({labels[name]})' if name.labels else ''}: {name.meaning}"
        for name in listed
    )
