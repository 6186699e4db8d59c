"""
What a command shows: tables and colors for people, JSON for programs.

The one module that knows how Rich is set up. Data goes to standard output,
what is said about the work to standard error. Colors and progress are for
terminals alone: piped, a table is plain text of a fixed width, whatever the
terminal behind it has. NO_COLOR is respected (https://no-color.org).
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from emitter.errors import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

PIPED_COLUMNS: Final = 100  # of what is no terminal: the same everywhere
MAX_ESCAPED_CHARS: Final = 300
_TRAILING_BLANKS: Final = re.compile(r" +$", re.MULTILINE)
PATIENCE_S: Final = 2.0  # work that takes longer shows how far it is


class Advance(Protocol):
    """Say how far the work is."""

    def __call__(self, done: float, total: float | None = None, /) -> None:
        """*done* of *total*; None when nobody knows how much there is."""


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
        soft_wrap=False,
    )


def show(*parts: RenderableType) -> None:
    """
    Print *parts* for a person, without blanks at the end of a line.

    A text that must not be wrapped stays one line, however long.

    Raises:
        DeliveryError: If standard output takes nothing.
    """
    with _checked_output():
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
    text = json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False)
    with _checked_output():
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def escaped(text: str) -> str:
    """*text*, of a line or a file, cut to a bound; what does not print is shown as its number."""
    cut = text if len(text) <= MAX_ESCAPED_CHARS else f"{text[:MAX_ESCAPED_CHARS]}..."
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in cut)


@contextmanager
def progress(what: str, *, is_wanted: bool = True) -> Iterator[Advance]:
    """
    Show how far *what* is, on standard error, once it has taken `PATIENCE_S`.

    On what is no terminal nothing is shown.
    """
    if not is_wanted or sys.stderr is None or not sys.stderr.isatty():
        yield _say_nothing
        return
    bar = _ProgressBar(what, PATIENCE_S, console(sys.stderr))
    try:
        yield bar
    finally:
        bar.stop()


class _ProgressBar:
    """A bar that shows itself only when there is something to wait for, and is gone afterwards."""

    def __init__(self, what: str, patience_s: float, console: Console) -> None:
        """Wait *patience_s* before anything is seen of *what* on *console*."""
        from rich.progress import (  # noqa: PLC0415 - as above
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self._shown_from_s = time.monotonic() + patience_s
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task(what, total=None)
        self._is_shown = False

    def __call__(self, done: float, total: float | None = None) -> None:
        """*done* of *total*; None when nobody knows how much there is."""
        self._progress.update(self._task, completed=done, total=total)
        if not self._is_shown and time.monotonic() >= self._shown_from_s:
            self._progress.start()
            self._is_shown = True

    def stop(self) -> None:
        """Leave nothing of it."""
        if self._is_shown:
            self._progress.stop()


def _say_nothing(_done: float, _total: float | None = None) -> None:
    pass


@contextmanager
def _checked_output() -> Iterator[None]:
    if sys.stdout is None:
        msg = "Cannot write to standard output: it is closed."
        raise DeliveryError(msg)
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wanted (`neuron-emf cost ... | head`); nothing must fail later.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        msg = f"Cannot write to standard output: {error.strerror}."
        raise DeliveryError(msg) from error
