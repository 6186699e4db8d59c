"""
The output of a command: tables and colors for people, JSON for programs, and files.

This is the only module that configures Rich. Data goes to standard output, progress and remarks to
standard error. Colors and progress appear only on terminals: in a pipe, a table is plain text of a
fixed width. NO_COLOR is respected (https://no-color.org). An unknown number is shown as a word,
never as 0.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO, TypeVar

from rich.console import Console

from neuron_accounts.prices import PRICES_AS_OF, basis_words
from neuron_emitter.command_line import checked_output, print_lines
from neuron_emitter.errors import DeliveryError
from neuron_words import name_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from neuron_accounts.prices import PriceBasis
    from neuron_emitter.command_line import Advance

PIPED_COLUMNS: Final = 100  # the width without a terminal, equal everywhere
MAX_ESCAPED_CHARS: Final = 300
_TRAILING_BLANKS: Final = re.compile(r" +$", re.MULTILINE)
_Answer = TypeVar("_Answer")
PROGRESS_DELAY_S: Final = 2.0  # longer work shows its progress


def console(file: TextIO | None = None) -> Console:
    """Return the console for tables: standard output, or *file*."""
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

    A text that must not be wrapped stays one line of any length.

    Raises:
        DeliveryError: If standard output cannot be written.
    """
    with checked_output():
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A character that the terminal's encoding lacks must not end the command.
            sys.stdout.reconfigure(errors="replace")
        out = console()
        with out.capture() as capture:
            for part in parts:
                out.print(part, soft_wrap=getattr(part, "no_wrap", None) is True)
        # Rich pads cells and keeps the blank at which it wrapped.
        sys.stdout.write(_TRAILING_BLANKS.sub("", capture.get()))


def show_json(document: object) -> None:
    """
    Print *document* for a program: one JSON value, its members in the given order.

    Raises:
        DeliveryError: If standard output cannot be written.
    """
    print_lines([json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False)])


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
        DeliveryError: If standard output cannot be written.
    """
    if as_json:
        show_json(for_programs(answer))
    else:
        show(*for_people(answer))


def write_file(path: Path, text: str) -> None:
    """
    Write *text* to *path* atomically: a reader sees the old content or the whole new content.

    Raises:
        DeliveryError: If the file cannot be written.
    """
    content = text.encode()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():  # /dev/stdout is written to, never replaced
            path.write_bytes(content)
            return
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        msg = f"Cannot write {path}: {error.strerror}. Use another path."
        raise DeliveryError(msg) from error


def stop_event() -> threading.Event:
    """Return an event that Ctrl-C or SIGTERM sets."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return *rows* as CSV (RFC 4180)."""
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def escaped(text: str) -> str:
    """Return *text* from a line or file, cut to a bound, with unprintable characters as codes."""
    cut = text if len(text) <= MAX_ESCAPED_CHARS else f"{text[:MAX_ESCAPED_CHARS]}..."
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in cut)


@contextmanager
def progress(what: str, *, is_wanted: bool = True) -> Iterator[Advance]:
    """
    Show the progress of *what* on standard error after `PROGRESS_DELAY_S`.

    Without a terminal nothing is shown. The bar disappears at the end.
    """
    if not is_wanted or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.progress import (  # noqa: PLC0415 - 27 ms, for work that takes 2 s
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
"""The hours of a month, as in AWS's own calculator."""


def shown_name(text: str | None) -> str:
    """Return a name from a line or a person as a terminal shows it, on one line."""
    return name_words.safe_name(text, MAX_CELL_CHARS) if text else UNKNOWN_CELL


def prices_of(basis: PriceBasis) -> str:
    """Return the source of prices, such as `list price, us-east-1, 2026-11-22`; empty if none."""
    as_of = PRICES_AS_OF if basis.regions else None
    return basis_words(basis.regions, as_of, sorted(basis.overridden))
