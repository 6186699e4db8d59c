"""Tables of a page, as Markdown that the repository's host and the site read alike."""

from __future__ import annotations

TABLE_BREAKERS = ("|", "\n")
"""What ends a cell: one of the two readers takes it so, whatever stands before it."""


def table(heads, rows):
    """
    A table with a line break behind it.

    Raises:
        ValueError: If a cell would end before its text does.
    """
    for row in rows:
        for cell in row:
            if any(breaker in cell for breaker in TABLE_BREAKERS):
                msg = f"a cell was expected to have no bar and no line break and has one: {cell!r}"
                raise ValueError(msg)
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:], ""])


def code(value):
    """*value* as it is typed; nothing for nothing."""
    return f"`{value}`" if value not in (None, "") else ""


def codes(values):
    """Several of them."""
    return ", ".join(code(value) for value in values)


def plain(text):
    """*text* whose bars and stars are no Markdown, however its reader takes a backslash."""
    return text.replace("|", "&#124;").replace("*", "&#42;")


def one_line(text):
    """*text* without the line breaks that its source needed."""
    return " ".join(text.split())
