"""
A fleet that is looked at: its lines, what is known of it, what it costs.

Without a terminal it is shown once; `screen` shows it again and again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from emitter.errors import SettingsError, SourceError
from neuron_emf import figures
from neuron_emf.account import account
from neuron_emf.payment import payment
from neuron_emf.prices import prices
from neuron_emf.printing import progress, show, show_json
from neuron_emf.reading import period_ms
from neuron_emf.reading.files import is_standard_input
from neuron_emf.reading.periods import now_ms
from neuron_emf.top.document import document
from neuron_emf.top.feed import FileFeed, LiveTailFeed, LogGroupFeed
from neuron_emf.top.fleet import fleet_of
from neuron_emf.top.page import page
from neuron_emf.top.texts import BLOCKS, heights
from neuron_emf.top.window import FORGET_AFTER_MINUTES, Window
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from neuron_emf.printing import Advance
    from neuron_emf.top.feed import Feed
    from neuron_emf.top.fleet import FleetSnapshot
    from neuron_emf.top.settings import TopSettings


class FleetWatch:
    """
    What one call of `top` looks at.

    Attributes:
        settings: As they were given.

        feed: Where lines come from.

        can_be_live: There is a terminal, and lines that can be read again.
    """

    def __init__(
        self, files: Sequence[Path], settings: TopSettings, now_ms: Callable[[], int] = now_ms
    ) -> None:
        """
        Look at *files*, or without any at the log group that *settings* name.

        Raises:
            SettingsError: If settings contradict each other or cannot be used.
            SourceError: If a rehearsal is asked for and none runs.
        """
        self.settings = settings
        self.can_be_live = _is_terminal() and not any(map(is_standard_input, files))
        self.feed = _feed(files, settings, is_live=self.is_live)
        self._now_ms = now_ms
        self._prices = prices(settings.price_overrides, settings.region)
        self._payment = payment(settings.paid_by_type)
        self._window = Window(settings.cluster)

    def require_cluster(self, fleet: FleetSnapshot) -> None:
        """
        Make sure that *fleet* has the cluster that was asked for.

        Raises:
            SourceError: If it has none; it names the clusters that there are.
            EmitterError: If those cannot be read.
        """
        cluster, others = self.settings.cluster, self._window.others
        if not cluster or fleet.clusters:
            return
        if self.feed.is_live:
            others.add_account(account(self.settings), self._now_ms())
        msg = (
            f"No line of cluster {figures.name(cluster)} in "
            f"{self.feed.origin}. {others.beside(cluster)}; check --cluster and --since."
        )
        raise SourceError(msg)

    @property
    def is_live(self) -> bool:
        """Whether it is to be shown again and again."""
        return self.can_be_live and not (self.settings.once or self.settings.json)

    def refresh(self, advance: Advance | None = None) -> FleetSnapshot:
        """
        Read what is new, and give the fleet as it is now.

        Raises:
            EmitterError: If nothing can be read; what was known before is kept.
        """
        now_ms = self._now_ms()
        self.feed.read(self._window, now_ms, advance)
        if self.feed.is_live:
            self._window.forget(now_ms - FORGET_AFTER_MINUTES * MINUTE_MS)
        return fleet_of(
            self._window,
            self.settings.idle_after,
            self._prices,
            now_ms if self.feed.is_live else None,
            self._payment,
        )


def show_once(watch: FleetWatch) -> None:
    """
    Print the fleet as it is, for a person or a program.

    Raises:
        EmitterError: If nothing can be read, or standard output takes nothing.
    """
    with progress("Reading lines") as advance:
        fleet = watch.refresh(advance)
    watch.require_cluster(fleet)
    order, records = watch.settings.sort, watch.feed.records
    if watch.settings.json:
        show_json(document(fleet, order, records))
        return
    signs = heights(getattr(sys.stdout, "encoding", None)) if sys.stdout is not None else BLOCKS
    show(*page(fleet, order, records, most=watch.settings.rows, signs=signs))


def _feed(files: Sequence[Path], settings: TopSettings, *, is_live: bool) -> Feed:
    since_ms = period_ms(settings.since, "--since")
    if not files:
        made: type[LogGroupFeed | LiveTailFeed] = LogGroupFeed
        if settings.live_tail and is_live:  # what is printed once needs no session
            made = LiveTailFeed
        return made(account(settings), since_ms, settings.cluster)
    if settings.rehearsal or settings.live_tail:
        flag = "--rehearsal" if settings.rehearsal else "--live-tail"
        msg = f"Files and {flag} cannot be combined. Omit one of them."
        raise SettingsError(msg)
    return FileFeed(files)


def _is_terminal() -> bool:
    streams: list[Any] = [sys.stdin, sys.stdout]
    return all(stream is not None and stream.isatty() for stream in streams)
