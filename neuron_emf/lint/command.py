"""The command `neuron-emf lint`, and its settings."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.declaration import setting
from emitter.settings.options import options

_EPILOG: Final = (
    "Exit codes: 0 no line loses a metric, 1 one does, 2 usage error, 3 a file cannot be read."
)


@dataclass(frozen=True, kw_only=True)
class LintSettings:
    """When the lines arrive, and how much to show."""

    now: str = setting(
        "",
        "Time at which the lines arrive, ISO 8601, UTC unless it says otherwise, or a period "
        "ago such as 2h; by default now.",
        metavar="TIME",
    )
    no_age: bool = setting(default=False, help_text="Do not check the age of lines: for old lines.")
    limit: int = setting(
        5,
        "Findings to show per rule, 0 to 100000; all are counted.",
        kind=click.IntRange(0, 100_000),
    )
    json: bool = setting(default=False, help_text="Print one JSON document, for a program.")


@click.command(name="lint", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(LintSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Check whether CloudWatch would extract metrics from log lines, and why not.

    FILES hold lines in Embedded Metric Format, whoever wrote them, plain or
    gzip; - is standard input. Lines that are no EMF are counted and left alone.
    """
    from neuron_emf.lint.listing import Tally, document, lines_of, listing  # noqa: PLC0415 - as above
    from neuron_emf.lint.verdict import judge  # noqa: PLC0415 - --help needs none of it
    from neuron_emf.printing import progress, show, show_json  # noqa: PLC0415 - as above
    from neuron_emf.reading.periods import moment_ms  # noqa: PLC0415 - as above

    settings = LintSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    now_ms: int | None = int(time.time() * 1000)
    if settings.no_age:
        now_ms = None
    elif settings.now and now_ms is not None:
        now_ms = moment_ms(settings.now, "--now", now_ms)
    tally = Tally(settings.limit)
    for path in files:
        with progress(f"Reading {path.name}") as advance:
            for line in lines_of(path, advance):
                tally.add(str(path), line.number, judge(line, now_ms))
    if settings.json:
        show_json(document(tally, [str(path) for path in files]))
    else:
        show(*listing(tally))
    return 1 if tally.lossy else 0
