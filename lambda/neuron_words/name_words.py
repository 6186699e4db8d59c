"""How people and Logs Insights read names that a line, an event or a person gave."""

from __future__ import annotations

import re
from typing import Any, Final

from neuron_wire.holders import printable_name

MAX_NAME_WORDS_CHARS: Final = 80  # characters of any one name in a message


_FORMULA: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula; the last four are the wide ones."""


def printable(text: str, longest: int = MAX_NAME_WORDS_CHARS) -> str:
    """
    *text* on one line of at most *longest* characters.

    Foreign names may hold anything: characters that control a terminal, break a line or turn
    the direction of writing become question marks.
    """
    if len(text) > longest:
        text = text[: longest - 3] + "..."
    return printable_name(text, longest) or ""


_PLACEHOLDER: Final = re.compile(r"\[[a-z0-9, ]{1,40}\]")  # `[unallocated]`, `[8 more]`


_MARKUP: Final = str.maketrans(dict.fromkeys('`$\\|<>[]{}";&', "?"))


def safe_name(text: str, longest: int = MAX_NAME_WORDS_CHARS) -> str:
    """
    Return *text*, a name that a line, an event or a person gave, as every face shows it.

    A letter that a shell, a page or a chat would take for more becomes a question mark, an
    address cannot be clicked, and a spreadsheet sees no formula. Names of placeholder owners
    stay. Log lines and JSON for programs keep names as they are.
    """
    if _PLACEHOLDER.fullmatch(text):
        return text
    return printable(cell(text.translate(_MARKUP).replace("://", ":??")), longest)


def cell(text: str) -> str:
    """*text* behind an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def cells(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """*value*, each text in it, but the names of members, as a `cell`."""
    if isinstance(value, list):
        return [cells(item) for item in value]
    if isinstance(value, dict):
        return {name: cells(item) for name, item in value.items()}
    return cell(value) if isinstance(value, str) else value


UNQUOTED_TEXT: Final = re.compile(r"[A-Za-z0-9 ._:/@#%=,+-]+")
"""A text that means nothing to Logs Insights within quotes, nor to a shell."""

_SPECIAL: Final = re.compile(r"[^A-Za-z0-9 _:@#%=,-]")


def member_is(member: str, text: str) -> str:
    """
    Return the condition of Logs Insights that *member* is *text*, whatever is in it.

    A text without special characters is quoted. In any other text a dot matches each special
    character: the condition finds that text, and rarely another one as well.
    """
    if UNQUOTED_TEXT.fullmatch(text):
        return f'{member} = "{text}"'
    return f"{member} like /^{_SPECIAL.sub('.', text)}$/"
