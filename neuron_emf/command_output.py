"""
What a command shows: tables and colors for people, JSON for programs, and files.

The one module that knows how Rich is set up. Data goes to standard output,
what is said about the work to standard error. Colors and progress are for
terminals alone: piped, a table is plain text of a fixed width, whatever the
terminal behind it has. NO_COLOR is respected (https://no-color.org).
A number that is not known is shown as a word, never as 0.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO, TypeVar

from neuron_accounts.prices import PRICES_AS_OF, basis_words
from neuron_emitter.command_line import checked_output
from neuron_emitter.errors import DeliveryError
from neuron_words import name_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import Console, RenderableType

    from neuron_accounts.prices import PriceBasis
    from neuron_emitter.command_line import Advance

PIPED_COLUMNS: Final = 100  # of what is no terminal: the same everywhere
MAX_ESCAPED_CHARS: Final = 300
_TRAILING_BLANKS: Final = re.compile(r" +$", re.MULTILINE)
_Answer = TypeVar("_Answer")
PROGRESS_DELAY_S: Final = 2.0  # work that takes longer shows how far it is


def console(file: TextIO | None = None) -> Console:
    """Where tables go: standard output, or *file*."""
    from rich.console import Console  # noqa: PLC0415 - 60 ms, of no use to `run`

    out = sys.stdout if file is None else file
    is_terminal = out.isatty()
    return Console(
        file=out,
        width=None if is_terminal else PIPED_COLUMNS,
        no_color=not is_terminal or bool(os.environ.get("NO_COLOR")),
        force_terminal=is_terminal,
        highlight=False,
        emoji=False,
        markup=False,  # names from log lines are text, never markup
    )


def show(*parts: RenderableType) -> None:
    """
    Print *parts* for a person, without blanks at the end of a line.

    A text that must not be wrapped stays one line, however long.

    Raises:
        DeliveryError: If standard output takes nothing.
    """
    with checked_output():
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A letter of a name that this terminal's encoding lacks ends no command.
            sys.stdout.reconfigure(errors="replace")
        out = console()
        with out.capture() as capture:
            for part in parts:
                out.print(part, soft_wrap=getattr(part, "no_wrap", None) is True)
        # Rich fills up cells and leaves the blank at which it wrapped.
        sys.stdout.write(_TRAILING_BLANKS.sub("", capture.get()))


def show_json(document: object) -> None:
    """
    Print *document* for a program: one JSON value, its members in the order given.

    Raises:
        DeliveryError: If standard output takes nothing.
    """
    show_text(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))


def show_text(text: str) -> None:
    """
    Print *text* of ASCII as it is.

    Raises:
        DeliveryError: If standard output takes nothing.
    """
    with checked_output():
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def show_answer(
    answer: _Answer,
    for_programs: Callable[[_Answer], object],
    for_people: Callable[[_Answer], Iterable[RenderableType]],
    *,
    as_json: bool,
) -> None:
    """
    Print *answer*, as one JSON document or for a person.

    Raises:
        DeliveryError: If standard output takes nothing.
    """
    if as_json:
        show_json(for_programs(answer))
    else:
        show(*for_people(answer))


def write_file(path: Path, text: str) -> None:
    """
    Write *text* to *path*: whoever opens it meanwhile sees what was there, or the whole new.

    Raises:
        DeliveryError: If it cannot be written.
    """
    content, beside = text.encode(), path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():  # /dev/stdout is written to, never replaced
            path.write_bytes(content)
            return
        try:
            beside.write_bytes(content)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        msg = f"Cannot write {path}: {error.strerror}. Use another path."
        raise DeliveryError(msg) from error


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """*rows* as CSV (RFC 4180)."""
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def escaped(text: str) -> str:
    """*text*, of a line or a file, cut to a bound; what does not print is shown as its number."""
    cut = text if len(text) <= MAX_ESCAPED_CHARS else f"{text[:MAX_ESCAPED_CHARS]}..."
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in cut)


@contextmanager
def progress(what: str, *, is_wanted: bool = True) -> Iterator[Advance]:
    """
    Show how far *what* is, on standard error, once it has taken `PROGRESS_DELAY_S`.

    On what is no terminal nothing is shown, and nothing stays when it is over.
    """
    if not is_wanted or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.progress import (  # noqa: PLC0415 - as above
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %")
    bar = Progress(*columns, TimeElapsedColumn(), console=console(sys.stderr), transient=True)
    task = bar.add_task(what, total=None)
    shown_from_s = time.monotonic() + PROGRESS_DELAY_S

    def advance(done: float, total: float | None) -> None:
        bar.update(task, completed=done, total=total)
        if not bar.live.is_started and time.monotonic() >= shown_from_s:
            bar.start()

    try:
        yield advance
    finally:
        if bar.live.is_started:  # else it would print an empty line on a plain terminal
            bar.stop()


UNKNOWN_CELL: Final = "unknown"
MAX_CELL_CHARS: Final = 128
MONTH_HOURS: Final = 730
"""Hours of a month, as AWS's own calculator has it."""


def shown_name(text: str | None) -> str:
    """Return a name from a line or a person as a terminal shows it, on one line."""
    return name_words.safe_name(text, MAX_CELL_CHARS) if text else UNKNOWN_CELL


def prices_of(basis: PriceBasis) -> str:
    """By which prices amounts are: `list price, us-east-1, 2026-11-22`; empty without any."""
    as_of = PRICES_AS_OF if basis.regions else None
    return basis_words(basis.regions, as_of, sorted(basis.overridden))
