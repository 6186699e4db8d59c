"""
Rows of owners as a FOCUS 1.3 file: CSV, one row for each owner of each charge.

A row has the dimensions of its charge and its part of what can be summed; the
`Allocated` columns say whose it is and by what it was split, and are empty where a
charge was not split. What nobody held of a split charge has no AllocatedResourceId.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Final, Protocol, cast

from neuron_emf import figures
from neuron_emf.chargeback.allocation import UNHELD
from neuron_emf.chargeback.bill_file import iso_moment
from neuron_emf.chargeback.focus_columns import FOCUS_1_3, FRAME, PERIODS, PLACE, SUMMABLE
from neuron_emf.chargeback.month import HOUR_S
from neuron_emf.output_file import whole_file
from neuron_wire.phrases import cell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from neuron_emf.chargeback.allocation import Allocation
    from neuron_emf.chargeback.charges import Frame

METHOD_ID: Final = "neuron-emf/held-core-minutes"
"""https://focus.finops.org/focus-specification/ calls for one identifier of a documented method."""

USAGE_UNIT: Final = "NeuronCore-Minutes"
CLUSTER_TAG, TEAM_TAG = "neuron-emf:cluster", "neuron-emf:team"
_LEVEL: Final = 3  # of gzip: half the time of its default, for a tenth more bytes
_AT: Final = {name: index for index, name in enumerate(FOCUS_1_3)}


class RowWriter(Protocol):
    """Takes rows one after the other."""

    def __call__(self, row: Allocation, /) -> None:
        """Write *row*."""


@contextmanager
def focus_file(path: Path) -> Iterator[RowWriter]:
    """
    Write a file, with gzip when its name ends in .gz; the same rows are the same bytes.

    Raises:
        DeliveryError: If it cannot be written.
    """
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(whole_file(path))
        if path.suffix == ".gz":
            packer = gzip.GzipFile(
                filename="", mode="wb", fileobj=file, mtime=0, compresslevel=_LEVEL
            )
            file = cast("IO[bytes]", stack.enter_context(packer))
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=False)
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(FOCUS_1_3)
        yield lambda row: writer.writerow(cells(row))
        text.flush()
        text.detach()


def cells(row: Allocation) -> list[str]:
    """The cells of one row, in the order of `FOCUS_1_3`."""
    texts = _frame_cells(row.charge.frame).copy()
    texts[_START], texts[_END] = _period(row.hour)
    for index, text in zip(_SUMMABLE_AT, row.charge.amounts, strict=True):
        texts[index] = text
    owner, cluster, team = _name(row.owner), _name(row.cluster), _name(row.team)
    if row.ratio:
        texts[_METHOD] = METHOD_ID
        texts[_DETAILS] = (
            f'{{"Elements":[{{"AllocatedRatio":{row.ratio},"UsageUnit":"{USAGE_UNIT}",'
            f'"UsageQuantity":{row.core_minutes}}}]}}'
        )
        if row.owner not in UNHELD:
            texts[_RESOURCE] = _name(f"{row.cluster}/{row.owner}")
            texts[_RESOURCE_NAME] = owner
            texts[_TAGS] = _tags(row.cluster, row.team, row.charge.of("Tags"))
    texts[_OWN : _OWN + 3] = cluster, owner, team
    texts[_OWN + 3 : _OWN + 6] = row.core_hours
    texts[_OWN + 6] = row.covered_minutes
    texts[_OWN + 7] = row.basis
    return texts


_START, _END = _AT["ChargePeriodStart"], _AT["ChargePeriodEnd"]
_SUMMABLE_AT: Final = tuple(_AT[name] for name in SUMMABLE)
_METHOD, _DETAILS = _AT["AllocatedMethodId"], _AT["AllocatedMethodDetails"]
_RESOURCE, _RESOURCE_NAME = _AT["AllocatedResourceId"], _AT["AllocatedResourceName"]
_TAGS = _AT["AllocatedTags"]
_OWN: Final = _AT["x_ClusterName"]


@lru_cache(maxsize=1 << 16)
def _frame_cells(frame: Frame) -> list[str]:
    texts = [""] * len(FOCUS_1_3)
    for name, text in zip(FRAME, frame, strict=True):
        texts[_AT[name]] = iso_moment(text) if name in PERIODS else text
    provider = frame[PLACE["ProviderName"]]
    texts[_AT["ServiceProviderName"]] = texts[_AT["HostProviderName"]] = provider
    return texts


@lru_cache(maxsize=64)
def _period(hour: int) -> tuple[str, str]:
    start, end = (
        datetime.fromtimestamp(one * HOUR_S, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        for one in (hour, hour + 1)
    )
    return start, end


@lru_cache(maxsize=1 << 14)
def _name(text: str | None) -> str:
    """Other people's text on one line, no formula of a spreadsheet; empty when nobody says it."""
    return cell(figures.name(text)) if text else ""


@lru_cache(maxsize=1 << 14)
def _tags(cluster: str | None, team: str | None, tags: str) -> str:
    """What is known of an owner, less what the charge's own tags say."""
    own = {CLUSTER_TAG: cluster, TEAM_TAG: team}
    new = {key: text for key, text in own.items() if text and f'"{key}"' not in tags}
    return json.dumps(new, separators=(",", ":")) if new else ""
