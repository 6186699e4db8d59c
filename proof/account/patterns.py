"""
Filter patterns made of terms, as CloudWatch Logs reads them.

What matches was compared with recordings (`tests/recorded`). Patterns for JSON, for
columns and of regular expressions are not played: nothing of ours asks with one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from proof.logs.forms import INVALID, NOT_PLAYED, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

_TERM = re.compile(r'\s*([?-]?)(?:"([^"\\]*)"|(\w+))')
_OTHER_SORTS = ("{", "[", "%")


def matcher(pattern: str) -> Callable[[str], bool]:
    """
    Whether a message matches *pattern*.

    It has all plain terms, in any order, and no term with a minus; one of those with a
    question mark is asked for only where every term has one.

    Raises:
        ServiceError: If it cannot be, or is of a sort that is not played here.
    """
    if pattern.lstrip().startswith(_OTHER_SORTS):
        raise ServiceError(NOT_PLAYED, f"only terms are played here, found {pattern}", 501)
    terms: dict[str, list[str]] = {"": [], "?": [], "-": []}
    place = 0
    while pattern[place:].strip():
        found = _TERM.match(pattern, place)
        if found is None:
            rest = pattern[place:].split(maxsplit=1)[0]
            raise ServiceError(INVALID, f"Invalid character(s) in term '{rest}'")
        terms[found[1]].append(found[2] or found[3] or "")
        place = found.end()
    optional = [] if terms[""] or terms["-"] else terms["?"]

    def matches(message: str) -> bool:
        has_optional = not optional or any(term in message for term in optional)
        has_all = all(term in message for term in terms[""])
        return has_optional and has_all and not any(term in message for term in terms["-"])

    return matches
