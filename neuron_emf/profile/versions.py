"""
Whether a summary is of a profiler whose keys are known.

AWS says of the summary that its keys may change between versions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.profile.keys import FRACTIONS, amount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FIRST, LAST = (2, 26), (2, 29)
"""Versions of the profiler from whose summaries this was made."""

MOST: Final = 2.0  # of a fraction: estimates may be above 1, and percent are above 2
_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(\..*)?")
_SCHEMA_KEYS: Final = ("profile_schema_version", "schema_version")


def doubts(values: Mapping[str, Any]) -> Iterator[str]:
    """What to say before somebody trusts the line of a summary; nothing when it is well known."""
    known = f"{_text(FIRST)} to {_text(LAST)}"
    version = values.get("profiler_version")
    match = _VERSION.match(version) if isinstance(version, str) else None
    if match is None:
        yield f"no profiler version in it; this release knows the keys of {known}"
    elif not FIRST <= (int(match[1]), int(match[2])) <= LAST:
        yield (
            f"it is of profiler {match[1]}.{match[2]}, and the keys known here are those of "
            f"{known}: compare a figure or two with what the profiler shows"
        )
    for key in _SCHEMA_KEYS:
        if key in values:
            yield f"it has a {key}, which no summary known here has: its keys may mean other things"
    if not is_in_fractions(values):
        yield (
            f"a share is above {MOST:g}, so the shares may be percentages already: the line has "
            "them only as the profiler wrote them"
        )


def is_in_fractions(values: Mapping[str, Any]) -> bool:
    """Whether shares are fractions of 1, as in every summary that is known."""
    return all((amount(values.get(key)) or 0) <= MOST for key in FRACTIONS)


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
