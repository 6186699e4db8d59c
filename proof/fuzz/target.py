"""Something that reads what others wrote, and what must be true of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

MAX_BYTES = 1 << 16

Change = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Target:
    """
    One reader.

    Attributes:
        name: What it reads.

        once: Reads one input, and raises when what must be true is not.

        seeds: Inputs as they should be.

        change: Another input made of one, still in the form that the reader
            looks for; it may raise when the input has lost that form.
    """

    name: str
    once: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    change: Change

    def changed(self, content: bytes, chance: random.Random) -> bytes:
        """*content* changed within its form, else byte by byte."""
        if chance.random() < 0.7:
            try:
                return self.change(content, chance)[: 2 * MAX_BYTES]
            except (ValueError, RecursionError, TypeError, LookupError, AttributeError):
                pass  # it has another form by now
        return spoiled(content, chance)


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """A few bytes of *content* replaced, left out or put in."""
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 8])):
        start = chance.randrange(len(changed) + 1)
        gone = chance.choice([0, 1, 1, 4, 64])
        put = bytes(chance.randrange(256) for _ in range(chance.choice([0, 1, 1, 4, 16])))
        changed[start : start + gone] = put
    return bytes(changed)


WORDS = (
    b"", b"\x00", b"\n", b"\r\n", b"=", b"#", b"\xff\xfe", b"\xed\xa0\x80", "\u202e".encode(),
    b"-1", b"1e999", b"9" * 400, b"9" * 5000, b"nan", b"inf", b"[" * 2000, b"{" * 2000, b"'''",
    b'"""', b"\\ud800", b"\\u0000", b"A" * 4000, b"../../etc/passwd", b"$(reboot)", b"\x1b[2J",
    b"true", b"0x7f",
)  # fmt: skip


def reworded(content: bytes, chance: random.Random) -> bytes:
    """A word or a line of a text replaced, doubled or left out."""
    separator = chance.choice([b"\n", b" ", b"=", b'"', b">"])
    parts = content.split(separator)
    place = chance.randrange(len(parts))
    way = chance.randrange(3)
    if way == 0:
        del parts[place]
    elif way == 1:
        parts.insert(place, chance.choice(parts))
    else:
        parts[place] = chance.choice(WORDS)
    return separator.join(parts)


def require_sentence(error: BaseException, most_chars: int) -> None:
    """An error says something, and not as much as somebody else likes."""
    words = str(error)
    assert 0 < len(words) < most_chars, words[:most_chars]
