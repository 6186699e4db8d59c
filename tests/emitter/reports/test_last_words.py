"""The end of a program's standard error: bounded, printable, and telling a terminal nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emitter.reports.child import MAX_CHARS, TAIL_BYTES, LastWords


def heard(*chunks):
    """What was said in these chunks."""
    words = LastWords()
    for chunk in chunks:
        words.hear(chunk)
    return words


@given(st.lists(st.binary(max_size=3000), max_size=4), st.integers(1, 700))
@example([b"\x1b]0;title", b"\x1b[31mred\x9b1m\xc2\x9b2Jx\x1b", b"\x07\xe2\x80\xae"], 600)
def test_nothing_but_bounded_printable_text_comes_out(chunks, max_chars):
    """
    No escape, no control character, no line end, no turned reading direction; however long it was.
    """
    words = heard(*chunks)
    for text in (words.text(max_chars), words.last_line(max_chars)):
        assert text == "" or text.isprintable()
        assert len(text) <= max_chars
    assert len(words._tail) <= TAIL_BYTES
    assert words.text() == words.text(MAX_CHARS)


@given(st.text(st.sampled_from("ab \n"), max_size=50), st.lists(st.integers(0, 50), max_size=5))
def test_chunks_do_not_matter(text, places):
    """However the bytes were read, the words are the same."""
    content = text.encode()
    bounds = sorted({0, len(content), *(min(place, len(content)) for place in places)})
    cut = [content[start:end] for start, end in pairwise(bounds)]
    assert heard(content).text() == heard(*cut).text()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (b"", ""),
        (b"\n \n", ""),
        (b"no devices\n", "no devices"),
        (b"one\r\ntwo\n\n  three  \n", "one | two | three"),
        (
            b"\x1b[1;31mfatal\x1b[0m: \x1b]8;;http://x\x07link\x1b]8;;\x1b\\ gone",
            "fatal: link gone",
        ),
        (b"10%\r50%\r100%\n", "10% | 50% | 100%"),
        (b"\xff\xfe broken", "\ufffd\ufffd broken"),
        ("Gerät fehlt".encode(), "Gerät fehlt"),
        (b"a\x00b\x08c\td", "a b c d"),
    ],
)
def test_lines_are_joined_and_colors_left_out(said, text):
    """A person reads what was meant, on one line."""
    assert text == heard(said).text()


def test_only_the_newest_whole_lines_are_kept():
    """Of megabytes the last two kilobytes, without the line that begins in the middle."""
    words = heard(*[b"x" * 99 + b"\n"] * 10_000, b"the end\n")
    assert words.text(5000).startswith("x" * 99 + " | ")
    assert words.text(5000).endswith(" | the end")
    assert "the end" == words.last_line()


def test_one_line_without_an_end_is_kept_as_far_as_it_fits():
    """Its end says more than nothing."""
    assert "y" * 600 == heard(b"y" * 1_000_000).text()
