"""
Mutants that no test can see, each with the reason: `answers.toml`.

A reason says why the mutant does what the original does, in one line. One reason
may stand for several mutants of one line: then `now` is a list.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proof.mutants.mutant import Likeness

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

FILE: Final = Path(__file__).resolve().parent / "answers.toml"


def answers(path: Path = FILE) -> dict[Likeness, str]:
    """
    The reason for each mutant that is answered.

    Raises:
        ValueError: If one is answered twice, or without a reason.
    """
    by_likeness: dict[Likeness, str] = {}
    for file, listed in tomllib.loads(path.read_text(encoding="utf-8")).items():
        for entry in listed:
            for now in [entry["now"]] if isinstance(entry["now"], str) else entry["now"]:
                known = Likeness(file, entry.get("in", ""), entry["was"], now)
                if known in by_likeness:
                    msg = f"expected one answer, found two: {known}; remove one"
                    raise ValueError(msg)
                if not entry["why"].strip():
                    msg = f"expected a reason, found none: {known}; say why it changes nothing"
                    raise ValueError(msg)
                by_likeness[known] = entry["why"]
    return by_likeness


def unanswered(survivors: Collection[Likeness], given: Mapping[Likeness, str]) -> list[Likeness]:
    """Survivors without an answer."""
    return sorted(set(survivors) - set(given))


def stale(
    tried: Collection[Likeness], survivors: Collection[Likeness], given: Mapping[Likeness, str]
) -> list[Likeness]:
    """Answers to mutants that were *tried* and killed."""
    return sorted((set(given) & set(tried)) - set(survivors))


def homeless(
    given: Mapping[Likeness, str], whole: Mapping[str, Collection[Likeness]]
) -> list[Likeness]:
    """Answers to mutants that the files listed in *whole*, with all they can have, do not have."""
    return sorted(one for one in given if one.file in whole and one not in whole[one.file])


def proposed(survivor: Likeness) -> str:
    """The answer to write into the file, without its reason."""
    quoted = {"in": survivor.where, "was": survivor.was, "now": survivor.now, "why": ""}
    lines = [f'[["{survivor.file}"]]']
    lines += [f"{name} = {_text(value)}" for name, value in quoted.items() if value or name != "in"]
    return "\n".join(lines)


def _text(value: str) -> str:
    # A literal string where it can be one: code has quotes and backslashes.
    if "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
