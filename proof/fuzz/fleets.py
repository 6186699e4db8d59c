"""
Lines of a fleet as an operator's commands read them, and what they show of them on every surface.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError, SourceError
from neuron_emf import printing
from neuron_emf.reading import Records, lines_in
from neuron_emf.reading.records import MAX_KIND_CHARS, MAX_KINDS
from neuron_emf.report import exports, page, terminal
from neuron_emf.report.collection import collect
from neuron_emf.report.exports import document
from neuron_emf.report.settings import IdleReportSettings
from neuron_emf.top.document import document as top_document
from neuron_emf.top.fleet import fleet_of
from neuron_emf.top.order import ORDERS
from neuron_emf.top.page import page as top_page
from neuron_emf.top.rows import FleetPath, rows_at
from neuron_emf.top.window import Window
from neuron_wire.holders import Holder
from proof.factories.records import MINUTE, message, record, some_holders
from proof.fuzz import broken_json
from proof.fuzz.target import Target, require_sentence, reworded

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from rich.console import RenderableType

    from neuron_emf.report.idle_report import IdleReport
    from neuron_emf.top.fleet import FleetSnapshot

MAX_SENTENCE_CHARS: Final = 1_000
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
FILE: Final = Path(_FOLDER.name) / "lines"
_NOW_MS: Final = (MINUTE + 3) * 60_000
_FORMULA: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_TAGS: Final = {
    "body", "caption", "dd", "div", "dl", "dt", "footer", "h1", "h2", "head", "html", "li",
    "main", "meta", "p", "rect", "section", "style", "svg", "table", "tbody", "td", "th", "thead",
    "title", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES: Final = {
    "aria-hidden", "aria-label", "aria-labelledby", "charset", "class", "content", "height",
    "http-equiv", "id", "lang", "name", "preserveaspectratio", "role", "scope", "tabindex",
    "viewbox", "width", "x",
}  # fmt: skip


class _Page(HTMLParser):
    """What a browser finds in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    handle_startendtag = handle_starttag


def printed(parts: Iterable[RenderableType]) -> str:
    """What a pipe gets of *parts*: nothing but letters and line ends."""
    file = io.StringIO()
    out = printing.console(file)
    for part in parts:
        out.print(part, soft_wrap=getattr(part, "no_wrap", None) is True)
    text = file.getvalue()
    assert text.replace("\n", "").isprintable()
    return text


def reads_a_fleet(content: bytes) -> None:
    """
    Every line is a record, repeated, of another kind or counted by its reason; all surfaces
    show it without a control character, a foreign element or a formula.
    """
    FILE.write_bytes(content)
    try:
        _shows_a_fleet(ORDERS[len(content) % len(ORDERS)])
        _shows_a_report(collect(IdleReportSettings(), [FILE]))
    except (SettingsError, SourceError) as error:
        require_sentence(error, MAX_SENTENCE_CHARS)


def _shows_a_fleet(order: str) -> None:
    lines = list(lines_in([FILE]))
    records, window = Records(), Window()
    minutes = list(records.of(lines))
    other = sum(records.other.values())
    assert len(minutes) == records.read
    assert len(lines) == records.read + records.repeated + other + records.unreadable
    assert len(records.other) <= MAX_KINDS + 1  # and those that are not told apart
    assert all(len(kind) <= MAX_KIND_CHARS for kind in records.other)
    window.add(minutes)
    for now_ms in (None, _NOW_MS):
        fleet = fleet_of(window, 15, now_ms=now_ms)
        printed(top_page(fleet, order, records, most=5))
        json.dumps(top_document(fleet, order, records), allow_nan=False)
        _shows_rows(fleet, order)


def _shows_rows(fleet: FleetSnapshot, order: str) -> None:
    """Every place that somebody can walk to in the live view."""
    places = [FleetPath()]
    for cluster in fleet.clusters:
        places.append(FleetPath(cluster.name))
        places += [FleetPath(cluster.name, one.instance_id) for one in cluster.instances]
    for place in places:
        rows = rows_at(fleet, place, order)
        assert rows is not None
        for cells in rows.cells.values():
            assert all(cell.plain.isprintable() for cell in cells)


def _shows_a_report(found: IdleReport) -> None:
    printed(terminal.parts(found, 10))
    json.dumps(document(found), allow_nan=False)
    text = page.text(found)
    text.encode()  # half a letter fits into no file
    shown = _Page(text)
    assert shown.tags <= _TAGS, shown.tags - _TAGS
    assert shown.attributes <= _ATTRIBUTES, shown.attributes - _ATTRIBUTES
    written = exports.spreadsheet(found)
    written.encode()
    header, *rows = csv.reader(io.StringIO(written, newline=""), strict=True)
    assert list(exports.COLUMNS) == header
    for row in rows:
        assert len(header) == len(row)
        assert all(cell.isprintable() for cell in row)
        assert not any(cell.strip().startswith(_FORMULA) for cell in row)


def changed_lines(content: bytes, chance: random.Random) -> bytes:
    """One line broken, told twice or reworded; packed again where it was packed."""
    if content.startswith(b"\x1f\x8b"):
        try:
            whole = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError from error
        return gzip.compress(changed_lines(whole, chance), 1)
    lines = content.splitlines()
    place = chance.randrange(len(lines))
    way = chance.randrange(8)
    if way == 0:
        lines.append(lines[place])
    elif way == 1:
        lines[place] = reworded(lines[place], chance)
    else:
        lines[place] = broken_json.broken(lines[place], chance).rstrip(b"\n")
    whole = b"\n".join(lines)
    return gzip.compress(whole, 1) if way == 2 else whole


def rollup(**changes: object) -> str:
    """A rollup of the minute of `record`, with the members that a report reads."""
    members = {
        "Timestamp": MINUTE * 60_000, "Schema": 1, "Kind": "rollup", "RollupId": "training/1",
        "ClusterName": "training", "Minute": "2025-11-25T00:00Z", "Publication": 1, "Records": 1,
        "IdleCoreMinutes": 1, "IdleCost": 0.011,
    }  # fmt: skip
    return json.dumps({**members, **changes}, separators=(",", ":"))


def fleet_lines() -> list[bytes]:
    """Files of a small fleet: its names as they should be, and as somebody hostile gives them."""
    evil = '<img src=x onerror="a()">'
    holders = (Holder("1", "=cmd()", 41, "\x1b[2J"), Holder("1", "[b]x[/]", None, "\u202e"))
    good = [
        message(record()),
        message(record(minute=MINUTE + 1, seq=2, idle_minutes=(0, 21), bye=True)),
        message(record(instance_id="i-2", holders=some_holders(16, 1), idle_minutes=(20, 20))),
        rollup(),
    ]
    bad = [
        message(record(cluster=evil, instance_id="@sum", holders=holders)),
        message(record(cluster="-1", instance_id="=1", instance_type="+x")),
        rollup(ClusterName=evil),
        json.dumps({"Schema": 1, "Kind": "notice", "Timestamp": 1}),
    ]
    texts = ["\n".join(good), "\n".join(bad), f"2025-11-25T00:00:00Z {good[0]}\n\nno line"]
    whole = [text.encode() for text in texts]
    return [*whole, gzip.compress(whole[0], 1)]


FLEETS: Final = Target("lines of a fleet", reads_a_fleet, fleet_lines, changed_lines)
