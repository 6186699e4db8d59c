"""
What stands in the file of a profiler: one or more summaries.

Three shapes are known: an object with a summary for each profile, an object
with an array `summary` beside the instructions (`--output-format json`), and a
summary alone. NaN, which profilers before 2.19 wrote, is no number: absent.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from emitter.errors import SettingsError, SourceError
from neuron_emf.profile.keys import is_known

if TYPE_CHECKING:
    from pathlib import Path

STANDARD_INPUT: Final = "-"
MAX_FILE_BYTES: Final = 1 << 29
LARGE_BYTES: Final = 16 << 20  # instructions are with it, of which nothing is needed
MAX_SUMMARIES: Final = 10_000  # one for each core; the largest instance has 128
_LIST: Final = "summary"


@dataclass(frozen=True, slots=True)
class Summary:
    """
    What a profiler says of one core.

    Attributes:
        file: Where it stands.

        name: What the file calls it; empty where it has no name.

        values: Its keys.
    """

    file: str
    name: str
    values: Mapping[str, Any]


class _WithInstructions(msgspec.Struct):
    """All that is needed of a file that has everything."""

    summary: list[dict[str, Any]]


def summaries_in(path: Path) -> list[Summary]:
    """
    The summaries in the file *path*, `-` for standard input.

    Raises:
        SettingsError: If there is no such file.
        SourceError: If it holds none.
    """
    file, raw = _content(path)
    summaries = _summaries(file, _document(file, raw))
    if not summaries:
        msg = (
            f"{file} is not the summary of a profile: it has none of its keys. "
            "Use neuron-explorer view --output-format summary-json."
        )
        raise SourceError(msg)
    if len(summaries) > MAX_SUMMARIES:
        msg = f"{file} has {len(summaries)} summaries, the maximum is {MAX_SUMMARIES}. Split it."
        raise SourceError(msg)
    return summaries


def _content(path: Path) -> tuple[str, bytes]:
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:
            msg = "Standard input is closed. Name a file."
            raise SourceError(msg)
        file, raw = "standard input", sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    else:
        file = str(path)
        try:
            with path.open("rb") as opened:
                raw = opened.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            msg = f"Cannot read {file}: {error.strerror}. Check the name."
            raise SettingsError(msg) from error
    if len(raw) > MAX_FILE_BYTES:
        msg = (
            f"{file} has more than {MAX_FILE_BYTES} bytes. "
            "Use neuron-explorer view --output-format summary-json."
        )
        raise SourceError(msg)
    return file, raw


def _document(file: str, raw: bytes) -> object:
    try:
        if len(raw) > LARGE_BYTES:
            return {_LIST: msgspec.json.decode(raw, type=_WithInstructions).summary}
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_absent)
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        msg = (
            f"{file} is not JSON of a profiler. "
            "Use neuron-explorer view --output-format summary-json."
        )
        raise SourceError(msg) from error


def _absent(_name: str) -> None:
    return None


def _summaries(file: str, document: object) -> list[Summary]:
    if isinstance(document, Mapping):
        if isinstance(document.get(_LIST), list):
            return _unnamed(file, document[_LIST])
        if _is_summary(document):
            return [Summary(file, "", document)]
        return [
            Summary(file, str(name), values)
            for name, values in document.items()
            if _is_summary(values)
        ]
    return _unnamed(file, document) if isinstance(document, list) else []


def _unnamed(file: str, found: list[Any]) -> list[Summary]:
    return [Summary(file, "", values) for values in found if _is_summary(values)]


def _is_summary(values: object) -> bool:
    return isinstance(values, Mapping) and any(
        is_known(str(key)) and not isinstance(value, (Mapping, list))
        for key, value in values.items()
    )
