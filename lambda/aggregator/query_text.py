"""Where Logs Insights looks, and its conditions about a name that somebody else chose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

UNQUOTED_TEXT: Final = re.compile(r"[A-Za-z0-9 ._:/@#%=,+-]+")
"""What means nothing to Logs Insights within quotes, nor to a shell."""

_SPECIAL: Final = re.compile(r"[^A-Za-z0-9 _:@#%=,-]")


@dataclass(frozen=True, slots=True)
class StackLogGroups:
    """
    The log groups that queries read.

    Attributes:
        records: What the emitters write.

        rollups: What close prints.
    """

    records: str
    rollups: str


def member_is(member: str, text: str) -> str:
    """
    The condition that *member* is *text*, whatever is in it.

    A text goes into quotes if it holds nothing that means anything to Logs
    Insights or to a shell. Any other is matched with a dot for each such
    letter: it finds that text, and rarely another one as well.
    """
    if UNQUOTED_TEXT.fullmatch(text):
        return f'{member} = "{text}"'
    return f"{member} like /^{_SPECIAL.sub('.', text)}$/"
