"""Tables in Markdown that both the repository's host and the site render alike."""

from __future__ import annotations

TABLE_BREAKERS = ("|", "\n")
"""Characters that end a cell in one of the two renderers, whatever is before them."""


def table(heads, rows):
    """
    Return a table followed by a line break.

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
    """Return *value* as code; empty for an empty value."""
    return f"`{value}`" if value not in (None, "") else ""


def codes(values):
    """Return several values as code."""
    return ", ".join(code(value) for value in values)


def plain(text):
    """Return *text* with its bars and stars escaped for every renderer."""
    return text.replace("|", "&#124;").replace("*", "&#42;")


def one_line(text):
    """Return *text* without the line breaks of its source."""
    return " ".join(text.split())
