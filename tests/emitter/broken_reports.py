"""
Reports that are broken in one place, and what must be true of an emitter that reads them.

It knows where a place is and what can stand there instead, not what the place
means: that is for the test.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final

from shaped_reports import START_S, inf1_busy, line

from emitter.fold import Fold, FoldSettings, Stamp
from emitter.lines import Lines, LineSettings, Source
from emitter.reports.framing import Framer
from neuron_wire.line import OtherRecord, parse
from neuron_wire.minute import MinuteRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]

NESTING: Final = 20_000  # deeper than any decoder goes

VALID: Final = (
    b"null", b"true", b"false", b'""', b'"x"', b'"27.4"', b'"\\u0000\\u202e"',
    b'"' + b"y" * 3000 + b'"',
    b"0", b"-0", b"-1", b"0.5", b"1e-320", b"1e300", b"1e999", b"-1e999", b"2147483648",
    b"9223372036854775808", b"18446744073709551616", b"1" + b"0" * 400, b"1.5", b"[]", b"{}",
    b"[[]]", b"[null]", b"[{}]", b"[1,2]", b'{"0":null}', b'{"0":{}}', b'{"1024":{"a":1}}',
    b'{"99999999999999999999":{"neuroncore_utilization":5}}', b'{"":{"":{"":[]}}}',
    b'{"x":{"x":{"x":{"x":{"x":1}}}}}', b"[" * 50 + b"]" * 50, b" \t7 ",
)  # fmt: skip
"""JSON of any kind and size."""

NO_JSON: Final = (
    b"NaN", b"Infinity", b"-Infinity", b"nan", b"undefined", b"01", b".5", b"1.", b"+1", b"0x10",
    b"'x'", b"", b",", b"[", b"]", b"{", b"}", b'"', b'"\x00"', b"\xff\xfe", b'"\xff"',
    b'"\xed\xa0\x80"', b'"\\ud800"', b"\x00", b"[" * NESTING, b"[" * NESTING + b"]" * NESTING,
    b'{"a":' * NESTING + b"1" + b"}" * NESTING, b"None", b"/* */", b"1" * 5000 + b"e",
)  # fmt: skip
"""What is no JSON, or more than a decoder takes."""

_LINES: Final = Lines(LineSettings())
_HERE: Final = "\u0001here\u0001"
_HERE_WRITTEN: Final = json.dumps(_HERE).encode()


def places(document: Any, path: Path = ()) -> Iterator[Path]:
    """
    Every place below *document*, the outer ones first.
    """
    items: Any = ()
    if isinstance(document, dict):
        items = document.items()
    elif isinstance(document, list):
        items = enumerate(document)
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def replaced(document: Any, path: Path, raw: bytes) -> bytes:
    """
    The line of *document* with *raw* as the value at *path*.
    """
    changed = copy.deepcopy(document)
    _holder(changed, path)[path[-1]] = _HERE
    return line(changed).replace(_HERE_WRITTEN, raw)


def deleted(document: Any, path: Path) -> bytes:
    """
    The line of *document* without what is at *path*.
    """
    changed = copy.deepcopy(document)
    del _holder(changed, path)[path[-1]]
    return line(changed)


def doubled(document: Any, path: Path, raw: bytes) -> bytes:
    """
    The line of *document* with the member at *path* twice, *raw* last.
    """
    value = document
    for key in path:
        value = value[key]
    first = json.dumps(value, separators=(",", ":")).encode()
    if isinstance(path[-1], str):
        raw = first + b"," + json.dumps(path[-1]).encode() + b":" + raw
    else:
        raw = first + b"," + raw
    return replaced(document, path, raw)


def _holder(document: Any, path: Path) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document


class Survival:
    """
    An emitter that must survive what it reads: bytes in, one minute out.

    Attributes:
        framer: What cuts the bytes.

        fold: What folds the reports.

        record: The minute.
    """

    def __init__(self, *contents: bytes, chunk_bytes: int = 1 << 16) -> None:
        self.framer = Framer()
        settings = FoldSettings(period_s=5.0, runtime_lines="all", every_report=True)
        self.fold = Fold(settings)
        self.fold.open(START_S)
        for place, content in enumerate(contents):
            for start in range(0, len(content), chunk_bytes):
                self._take(self.framer.feed(content[start : start + chunk_bytes]), place)
        self._take(self.framer.end(), len(contents))
        stamp = Stamp(cluster="blue", boot="b", seq=1, instance_id="host-guess")
        self.record = self.fold.close(stamp)
        self._check(stamp, settings)

    @property
    def dropped(self) -> int:
        """
        Pieces, groups and parts that could not be read.
        """
        return self.framer.malformed + self.fold.malformed

    def _take(self, reports: Any, place: int) -> None:
        for report in reports:
            self.fold.add(report, START_S + 5.0 * place)

    def _check(self, stamp: Stamp, settings: FoldSettings) -> None:
        """
        The stack reads every line, and a restart the state.
        """
        assert self.record.reports == self.fold.reports_read
        for percent in self.record.utilization_percent:
            assert percent is None or 0 <= percent <= 100
        minute, *_more = _LINES.minute(self.record)
        found = parse(minute)
        assert isinstance(found, MinuteRecord)
        assert self.record.core_state == found.core_state
        source = Source("blue", self.record.instance_id, self.record.identity_guessed, "b")
        written = [
            *(_LINES.event(event, source, seq=2) for event in self.fold.take_events()),
            *(
                _LINES.runtime(one, source, seq=3, minute_ms=self.record.minute_ms)
                for one in self.fold.runtimes
            ),
        ]
        if self.fold.sample is not None:
            written += _LINES.report(self.fold.sample, source, seq=4)
        for other in written:
            assert isinstance(parse(other), OtherRecord)
        after = Fold(settings, self.fold.state())
        after.open(START_S + 60)
        after.close(stamp)


def survives(content: bytes, chunk_bytes: int = 1 << 16) -> Survival:
    """
    Read *content*: no exception, every piece read or counted, and what follows it is read.
    """
    alone = Survival(content, chunk_bytes=chunk_bytes)
    if content.strip():
        assert alone.fold.reports_read + alone.framer.malformed >= 1
    followed = Survival(content, b"\n", line(inf1_busy()), chunk_bytes=chunk_bytes)
    assert followed.fold.reports_read >= 1
    return alone
