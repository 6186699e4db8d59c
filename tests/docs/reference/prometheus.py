"""Every metric of the page for Prometheus, as its table says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.prometheus.families import OWN, SCRIPT
from tests.docs.reference.markdown import code, table

if TYPE_CHECKING:
    from emitter.prometheus.families import Family

TABLES = {"script-series": SCRIPT, "own-series": OWN}
"""By the name of the markers."""


def families(listed: tuple[Family, ...]) -> str:
    """One row for each."""
    rows = [
        [
            code(family.name),
            family.kind,
            ", ".join(code(label) for label in family.labels),
            family.meaning,
        ]
        for family in listed
    ]
    return table(["metric", "type", "labels", "what it says"], rows)
