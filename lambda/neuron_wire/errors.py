"""
What can go wrong with a line, and who is expected to act.

* WireFormatError    whoever wrote the line: the reader counts it, sets it aside
                     with its reason, and goes on with the next one
"""

from __future__ import annotations

from typing import Final

TOO_LONG: Final = "too_long"
NOT_JSON: Final = "not_json"
NOT_AN_OBJECT: Final = "not_an_object"
NOT_OURS: Final = "not_ours"
SCHEMA_NEWER: Final = "schema_newer"
MISSING_MEMBER: Final = "missing_member"
BAD_MEMBER: Final = "bad_member"
NOT_EXTRACTABLE: Final = "not_extractable"

REASONS: Final = frozenset(
    {
        TOO_LONG,
        NOT_JSON,
        NOT_AN_OBJECT,
        NOT_OURS,
        SCHEMA_NEWER,
        MISSING_MEMBER,
        BAD_MEMBER,
        NOT_EXTRACTABLE,
    }
)
"""Every reason there is: each may stand in the name of a counter."""


class WireFormatError(ValueError):
    """
    A line does not follow the contract.

    Attributes:
        reason: One of `REASONS`. The message says more, and never quotes the line.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
