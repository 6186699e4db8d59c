"""
The lines of a truth file: what was produced, one per report, written after the report itself.

Several simulators may share a file: each line is appended by a single call.

Members of a line:

* `instance`, `cores`: who wrote the report
* `nominal_s`: the period asked for, seconds
* `report`: its number, from 0; `at_ms`: when it had been written, ms since 1970
* `period_s`: seconds that its core counters cover
* `runtimes`: length of its list of runtimes; null when the list was null
* `percents`: utilization by core, null for a core it tells nothing about; null
  as a whole when core counters were not due
* `held`: one digit per core, 1 for held; null when memory was not due
* `executions`: what became of executions, by ending; null when not due
* `ecc_rises`: new ECC errors by counter; null when not due
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from local.monitor.report import Produced

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ReportTruth:
    """One line of a truth file; members as described above."""

    instance: str
    cores: int
    nominal_s: float | None
    report: int
    at_ms: int
    period_s: float | None
    runtimes: int | None
    percents: tuple[float | None, ...] | None
    held: tuple[bool, ...] | None
    executions: Mapping[str, int] | None
    ecc_rises: Mapping[str, int] | None


class TruthLog:
    """
    The truth file of one run.

    Attributes:
        constants: Members that are the same in every line of the run.
    """

    def __init__(self, path: str, constants: dict[str, object]) -> None:
        self.constants = {"version": VERSION, **constants}
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def append(self, number: int, at_ms: int, produced: Produced) -> None:
        """Note that report *number* was written at *at_ms*, milliseconds since the epoch."""
        held = produced.held
        line = {
            **self.constants, "report": number, "at_ms": at_ms, "period_s": produced.period_s,
            "runtimes": produced.runtimes, "percents": produced.percents,
            "held": None if held is None else "".join("1" if one else "0" for one in held),
            "executions": produced.executions, "ecc_rises": produced.ecc_rises,
        }  # fmt: skip
        os.write(self._descriptor, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def read_truth(paths: Iterable[Path]) -> list[ReportTruth]:
    """Every whole line of the files; a last line that is still being written is left out."""
    return [
        parse_truth(json.loads(line))
        for path in paths
        for line in path.read_bytes().split(b"\n")[:-1]
    ]


def parse_truth(members: Mapping[str, object]) -> ReportTruth:
    """
    One decoded line.

    Raises:
        ValueError: If it is of another version or lacks a member.
    """
    if members.get("version") != VERSION:
        msg = f"expected a truth line of version 1, found {members.get('version')!r}"
        raise ValueError(msg)
    try:
        percents, held = members["percents"], members["held"]
        return ReportTruth(
            instance=str(members["instance"]),
            cores=_whole(members["cores"]),
            nominal_s=_number(members["nominal_s"]),
            report=_whole(members["report"]),
            at_ms=_whole(members["at_ms"]),
            period_s=_number(members["period_s"]),
            runtimes=None if members["runtimes"] is None else _whole(members["runtimes"]),
            percents=tuple(map(_number, percents)) if isinstance(percents, list) else None,
            held=tuple(one == "1" for one in held) if isinstance(held, str) else None,
            executions=_counts(members["executions"]),
            ecc_rises=_counts(members["ecc_rises"]),
        )
    except KeyError as error:
        msg = f"expected a truth line with the member {error}, found none"
        raise ValueError(msg) from error


def _counts(found: object) -> dict[str, int] | None:
    return (
        {str(key): _whole(value) for key, value in found.items()}
        if isinstance(found, dict)
        else None
    )


def _number(found: object) -> float | None:
    return float(found) if isinstance(found, (int, float)) else None


def _whole(found: object) -> int:
    if isinstance(found, int):
        return found
    msg = f"expected a whole number, found {found!r}"
    raise ValueError(msg)
