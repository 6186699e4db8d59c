"""Names that somebody else gave, as text that is safe in a mail, a shell, a chat or a sheet."""

from __future__ import annotations

from typing import Final

from neuron_wire.phrases import LONGEST_NAME, cell, printable

_MARKUP: Final = str.maketrans(dict.fromkeys('`$\\|<>[]{}";&', "?"))


def name(text: str, longest: int = LONGEST_NAME) -> str:
    """
    *text*, a name that somebody else gave, for people.

    What a shell, a page or a chat would take for more than a letter becomes a
    question mark, an address is none to click on, and a spreadsheet sees no
    formula. Names as they are stand in the log lines.
    """
    return printable(cell(text.translate(_MARKUP).replace("://", ":??")), longest)


def ascii_only(text: str, longest: int) -> str:
    """*text* on one line of at most *longest* ASCII characters."""
    return printable(text.encode("ascii", "replace").decode(), longest)
