"""
Patterns of owners' names, as the parameter JobOwners has them: whose executions are to go on.

With commas between, such as `slurm:*,batch/*`; each is a pattern of the whole name, as in
the rules of Teams. A service may wait for requests for hours, a job should not.
"""

from __future__ import annotations

import re
from typing import Final

from neuron_wire.teams import NAME_PATTERN, matches

MAX_CHARS: Final = 256
"""The parameter's MaxLength, which its pattern cannot say."""

_PATTERN: Final = re.compile(NAME_PATTERN)


class OwnerPatternsError(ValueError):
    """The text is not in the grammar; the message says what is wrong and what to write."""


def owner_patterns(text: str) -> tuple[str, ...]:
    """
    The patterns of the parameter JobOwners. Empty text is none.

    Raises:
        OwnerPatternsError: If *text* is not what the template accepts.
    """
    if len(text) > MAX_CHARS:
        msg = f"{len(text)} characters, at most {MAX_CHARS} are allowed: join patterns with *"
        raise OwnerPatternsError(msg)
    patterns = text.split(",") if text else []
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern):
            msg = (
                f"{pattern[:60]!a}, which is no pattern of owners: write slurm:*,batch/* with * "
                "for any text and without quotes, backslashes and commas"
            )
            raise OwnerPatternsError(msg)
    return tuple(pattern.strip() for pattern in patterns)


def is_of(patterns: tuple[str, ...], owner: str | None) -> bool:
    """Whether any of *patterns* means *owner*; nobody's name is none."""
    return owner is not None and any(matches(pattern, owner) for pattern in patterns)
