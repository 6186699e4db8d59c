"""docs/explanation/reliability.md: words from `page.md`, figures from what the commands printed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import record
from proof.soak.history import BROKEN_EVERY
from proof.soak.timetable import DAYS_A_WEEK, HOURS_A_DAY, SHORT_HOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

WORDS = Path(__file__).with_name("page.md")
STEP = re.compile(r"(?<= killed) (before|after) \w+$")
COMMANDS = {name: f"make {name} RECORD=1" for name in ("chaos", "soak", "fuzz", "mutants")}


class MissingRecordError(Exception):
    """A command was never asked to keep what it printed."""


def page(folder: Path = record.FOLDER) -> str:
    """
    The whole page, from the records in *folder*.

    Raises:
        MissingRecordError: If one is not there.
    """
    records = {name: _read(name, folder) for name in COMMANDS}
    chaos, soak = records["chaos"].facts, records["soak"].facts
    return WORDS.read_text(encoding="utf-8").format_map(
        {
            **{name: one.markdown() for name, one in records.items()},
            **{f"{name}_how": one.how for name, one in records.items()},
            "emitters": f"{chaos['emitters']}",
            "minutes": f"{chaos['minutes']:g}",
            "undisturbed": f"{chaos['undisturbed_minutes']:,}",
            "happened": _listed(chaos["happened"]),
            "stack_happened": _listed(_summed(chaos["stack_happened"])),
            "killed_at": "{} of {}".format(*chaos["close_killed_at"]),
            "days": f"{DAYS_A_WEEK * soak['weeks']}",
            "file_days": f"{soak['file_days']}",
            "file_warm_days": f"{soak['file_warm_days']}",
            "warm_days": f"{soak['drawn']['warm_hours'] / HOURS_A_DAY:g}",
            "short_hours": f"{SHORT_HOURS}",
            "broken_every": f"{BROKEN_EVERY}",
        }
    )


def _read(name: str, folder: Path) -> record.Record:
    try:
        return record.read(name, folder)
    except FileNotFoundError:
        msg = (
            f"{folder / name}.json was expected to hold what `make {name}` printed and is missing:"
            f" run `{COMMANDS[name]}`"
        )
        raise MissingRecordError(msg) from None


def _summed(happened: Mapping[str, int]) -> Counter[str]:
    """Without the step at which a function was killed: there are too many for a page."""
    summed: Counter[str] = Counter()
    for kind, count in happened.items():
        summed[STEP.sub("", kind)] += count
    return summed


def _listed(happened: Mapping[str, int]) -> str:
    """In a sentence, by name."""
    return ", ".join(f"{kind} {count:,}" for kind, count in sorted(happened.items()))
