"""A bar that shows itself only when there is something to wait for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console
    from typing_extensions import Self


class ProgressBar:
    """Use as a context manager; it is gone afterwards."""

    def __init__(self, what: str, patience_s: float, console: Console) -> None:
        """Wait *patience_s* before anything is seen of *what* on *console*."""
        self._what = what
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_shown:
            self._progress.stop()
