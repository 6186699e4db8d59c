"""Make names from a line, an event or a person safe for people and Logs Insights."""

from __future__ import annotations

import re
from typing import Any, Final

from neuron_wire.holders import printable_name

MAX_NAME_WORDS_CHARS: Final = 80  # characters of a name in a message


_FORMULA: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The characters with which a formula in a spreadsheet begins; the last four are full-width."""


def printable(text: str, longest: int = MAX_NAME_WORDS_CHARS) -> str:
    """
    Return *text* on one line of at most *longest* characters.

    Foreign names may contain anything: characters that control a terminal, break a line or change
    the direction of writing become question marks.
    """
    if len(text) > longest:
        text = text[: longest - 3] + "..."
    return printable_name(text, longest) or ""


_PLACEHOLDER: Final = re.compile(r"\[[a-z0-9, ]{1,40}\]")  # `[unallocated]`, `[8 more]`


_MARKUP: Final = str.maketrans(dict.fromkeys('`$\\|<>[]{}";&', "?"))


def safe_name(text: str, longest: int = MAX_NAME_WORDS_CHARS) -> str:
    """
    Return *text*, a name from a line, an event or a person, as people see it everywhere.

    A character with a special meaning in a shell, a page or a chat becomes a question mark, an
    address cannot be clicked, and a spreadsheet sees no formula. Names of placeholder owners stay.
    Log lines and JSON for programs keep names unchanged.

    >>> safe_name("ml/train-0"), safe_name("$(reboot)"), safe_name("=1+1")
    ('ml/train-0', '?(reboot)', "'=1+1")
    """
    if _PLACEHOLDER.fullmatch(text):
        return text
    return printable(cell(text.translate(_MARKUP).replace("://", ":??")), longest)


def cell(text: str) -> str:
    """Return *text* after an apostrophe if a spreadsheet would interpret it as a formula."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def cells(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return *value* with each text in it as a `cell`, except the names of members."""
    if isinstance(value, list):
        return [cells(item) for item in value]
    if isinstance(value, dict):
        return {name: cells(item) for name, item in value.items()}
    return cell(value) if isinstance(value, str) else value


UNQUOTED_TEXT: Final = re.compile(r"[A-Za-z0-9 ._:/@#%=,+-]+")
"""A text without special characters for Logs Insights within quotes and for a shell."""

_SPECIAL: Final = re.compile(r"[^A-Za-z0-9 _:@#%=,-]")


def member_is(member: str, text: str) -> str:
    """
    Return the condition of Logs Insights that *member* equals *text*, whatever it contains.

    A text without special characters is quoted. In any other text a dot matches each special
    character: the condition finds that text, and rarely another one as well.
    """
    if UNQUOTED_TEXT.fullmatch(text):
        return f'{member} = "{text}"'
    return f"{member} like /^{_SPECIAL.sub('.', text)}$/"
