"""Somebody at a terminal who looks at the live view and presses keys."""

from __future__ import annotations

import asyncio

from neuron_emf.top.screen import TopScreen
from neuron_emf.top.settings import TopSettings
from neuron_emf.top.watch import FleetWatch
from tests.neuron_emf.reading.lines import START_MS

MINUTE_MS = 60_000
PATIENCE = 900  # times 10 ms: the test's own timeout comes first


class Walk:
    """Somebody at a terminal."""

    def __init__(self, app, pilot):
        self.app = app
        self._pilot = pilot

    async def press(self, *keys):
        await self._pilot.press(*keys)
        await self._pilot.pause()

    async def resize(self, *size):
        await self._pilot.resize_terminal(*size)

    async def until(self, condition):
        for _ in range(PATIENCE):
            await self._pilot.pause(0.01)
            if condition():
                return
        raise AssertionError(self.lines)

    @property
    def lines(self):
        """What is on the terminal, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return [strip.text.rstrip() for strip in strips]

    @property
    def where(self):
        return self.lines[0].strip().split("   ")[0]

    @property
    def names(self):
        """The first cell of each row."""
        table = self.app._table
        return [table.get_row_at(row)[0].plain for row in range(table.row_count)]

    def has(self, words):
        return any(words in one for one in self.lines)


def walk(view, steps, size=(150, 44)):
    """Do *steps* at a terminal that shows *view*."""

    async def run():
        app = TopScreen(view)
        async with app.run_test(size=size) as pilot:
            there = Walk(app, pilot)
            await there.until(lambda: not there.has("Reading lines"))
            await steps(there)
        return app

    return asyncio.run(run())


def view_of(*paths, **settings):
    return FleetWatch(paths, TopSettings(**settings), now_ms=lambda: START_MS + 9 * MINUTE_MS)
