"""
Filter patterns made of terms, as FilterLogEvents and subscriptions take them.

`"a" "b"` is both, `?"a" ?"b"` any of them, `-"a"` none; case counts. Patterns
for JSON, for columns and regular expressions are not played: nothing of ours
uses one, so one is refused with words that say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from proof.logs.forms import INVALID, NOT_PLAYED, ServiceError

_TERM = re.compile(r'\s*(?P<sign>[?-]?)(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<word>[A-Za-z0-9_]+))')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True)
class Pattern:
    """What a message must have, may have one of, and must not have."""

    every: tuple[str, ...] = ()
    some: tuple[str, ...] = ()
    none: tuple[str, ...] = ()

    def is_in(self, message: str) -> bool:
        """Whether *message* matches. Beside a term without a mark, `?` says nothing."""
        if any(one in message for one in self.none):
            return False
        if self.every or not self.some:
            return all(one in message for one in self.every)
        return any(one in message for one in self.some)


def pattern_of(text: str) -> Pattern:
    """
    Read a pattern.

    Raises:
        ServiceError: If it is none, or of a sort that is not played here.
    """
    found: dict[str, list[str]] = {"": [], "?": [], "-": []}
    at = 0
    while text[at:].strip():
        match = _TERM.match(text, at)
        if match is None:
            if text[at:].lstrip()[0] in "{[%":
                raise ServiceError(
                    NOT_PLAYED, f"only terms are played here, found {text[at:]}", 501
                )
            raise ServiceError(INVALID, f"Invalid filter pattern: {text}")
        term = match["word"] or _ESCAPED.sub(r"\1", match["quoted"] or "")
        found[match["sign"]].append(term)
        at = match.end()
    return Pattern(tuple(found[""]), tuple(found["?"]), tuple(found["-"]))
