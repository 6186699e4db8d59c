"""One reason why CloudWatch would not extract a line, and where it stands."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

ROOT: Final = "$"
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_NAME_CHARS: Final = 64  # of a name in a path: it is foreign text


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One reason.

    Attributes:
        rule: Short name of the rule, of a bounded set.

        sentence: What was expected and what was found, for a person.

        path: Where it is, as RFC 9535 writes it: `$._aws.CloudWatchMetrics[0].Namespace`.
    """

    rule: str
    sentence: str
    path: str = ROOT


def at_root(name: str) -> str:
    """The path of the member *name* of the line itself."""
    if _PLAIN.fullmatch(name):
        return f"{ROOT}.{name[:_MAX_NAME_CHARS]}"
    return f"{ROOT}[{json.dumps(name[:_MAX_NAME_CHARS])}]"


def in_directive(index: int, rest: str = "") -> str:
    """The path of *rest* in directive *index*, counted from 0."""
    return f"{ROOT}._aws.CloudWatchMetrics[{index}]{rest}"
