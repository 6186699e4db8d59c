"""
JSON that is broken in one place: where a place is, and what can stand there instead.

What a place means is for the target to know.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import random
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

NEARLY: Final = (
    b"[" * 900 + b"]" * 900, b'{"a":' * 970 + b"1" + b"}" * 970, b"1" * 4300, b"1" * 4301,
    b'"\\ud800"', b'"\\udc00x"', b"1" * 5000, b'"2026-11-21T03:17:00Z"', b'"9999-12-31T23:59:59Z"',
)  # fmt: skip
"""What one step of a reader takes and the next may not."""

_HERE: Final = "\u0001here\u0001"
_HERE_WRITTEN: Final = json.dumps(_HERE).encode()


def written(document: Any) -> bytes:
    """The document, compact, on one line."""
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def places(document: Any, path: Path = ()) -> Iterator[Path]:
    """Every place below *document*, the outer ones first."""
    items: Any = ()
    if isinstance(document, dict):
        items = document.items()
    elif isinstance(document, list):
        items = enumerate(document)
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def replaced(document: Any, path: Path, raw: bytes) -> bytes:
    """The line of *document* with *raw* as the value at *path*."""
    changed = copy.deepcopy(document)
    _holder(changed, path)[path[-1]] = _HERE
    return written(changed).replace(_HERE_WRITTEN, raw)


def deleted(document: Any, path: Path) -> bytes:
    """The line of *document* without what is at *path*."""
    changed = copy.deepcopy(document)
    del _holder(changed, path)[path[-1]]
    return written(changed)


def doubled(document: Any, path: Path, raw: bytes) -> bytes:
    """The line of *document* with the member at *path* twice, *raw* last."""
    value = document
    for key in path:
        value = value[key]
    first = json.dumps(value, separators=(",", ":")).encode()
    if isinstance(path[-1], str):
        raw = first + b"," + json.dumps(path[-1]).encode() + b":" + raw
    else:
        raw = first + b"," + raw
    return replaced(document, path, raw)


def broken(content: bytes, chance: random.Random) -> bytes:
    """
    *content* with one place broken in one of three ways.

    Raises:
        ValueError, RecursionError, IndexError:
            If it is no JSON any more, or has no places.
    """
    document = json.loads(content)
    path = chance.choice(list(places(document)))
    way = chance.randrange(3)
    if way == 0:
        return deleted(document, path)
    raw = chance.choice(chance.choice((VALID, VALID, NEARLY, NEARLY, NO_JSON)))
    return (replaced if way == 1 else doubled)(document, path, raw)


def _holder(document: Any, path: Path) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document
