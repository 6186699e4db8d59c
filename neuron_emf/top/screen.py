"""
The fleet on a terminal, refreshed, to walk through by keys.

The one module that knows Textual, which is an extra: `neuron-emf[top]`. Reading
happens in a thread of its own, one reading at a time, so that keys answer at
once; what could not be read is said, and what was known stays. All text is
given as Rich's Text, so that a name is never markup.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual.app import App
from textual.binding import Binding
from textual.coordinate import Coordinate
from textual.message import Message
from textual.widgets import DataTable, Footer, Static

from emitter.errors import EmitterError
from neuron_emf.figures import prices_of, unpriced
from neuron_emf.top import texts
from neuron_emf.top.columns import layout, widths
from neuron_emf.top.holders import idle_owners, owner_line
from neuron_emf.top.order import ORDERS
from neuron_emf.top.page import colored
from neuron_emf.top.rows import FleetPath, Rows, cluster_at, instance_at, rows_at
from neuron_emf.top.texts import BLOCKS, KEYS, legend, strip_of
from neuron_wire.phrases import counted, moment

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

    from neuron_emf.top.fleet import FleetSnapshot
    from neuron_emf.top.watch import FleetWatch

_LONGEST_PAUSE_S: Final = 3600.0
_OWNERS: Final = 3  # below the strip of an instance; its cores name all


class TopScreen(App[None]):
    """A view, shown until somebody ends it."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #where, #strip, #legend, #status { height: auto; padding: 0 1; }
    #where { text-style: bold; }
    #keys { padding: 1 2; display: none; }
    DataTable, #keys { height: 1fr; }
    .keys #keys { display: block; }
    .keys DataTable, .keys #strip { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("enter,right", "inside", "Into", priority=True),
        Binding("escape,backspace,left", "outside", "Back", priority=True),
        Binding("s", "sort", "Sort"),
        Binding("r", "read", "Read now"),
        Binding("question_mark", "keys", "Keys", key_display="?"),
        Binding("q", "quit", "Quit"),
    ]

    class Read(Message):
        """A reading has ended: with a fleet, or with why there is none."""

        def __init__(self, fleet: FleetSnapshot | None, trouble: str) -> None:
            super().__init__()
            self.fleet = fleet
            self.trouble = trouble

    class HowFar(Message):
        """A reading goes on."""

        def __init__(self, percent: float) -> None:
            super().__init__()
            self.percent = percent

    def __init__(self, watch: FleetWatch) -> None:
        super().__init__()
        self._watch = watch
        self._order = watch.settings.sort
        self._fleet: FleetSnapshot | None = None
        self._path = FleetPath()
        self._columns: tuple[tuple[str, int], ...] = ()
        self._keys: list[str] = []
        self._is_reading = False
        self._began_s = 0.0
        self._next: Timer | None = None
        self._trouble = ""
        self._left_out = 0

    def compose(self) -> ComposeResult:
        """What stands above each other."""
        yield Static(id="where")
        yield DataTable[Text](cursor_type="row", zebra_stripes=True)
        yield Static(id="keys")
        yield Static(id="strip")
        yield Static(id="legend")
        yield Static(id="status")
        yield Footer()

    def on_mount(self) -> None:
        """Begin to read."""
        self.title = "neuron-emf top"
        idle_after = self._watch.settings.idle_after
        self.query_one("#legend", Static).update(Text(legend(BLOCKS, idle_after), "dim"))
        self.query_one("#keys", Static).update(Text(KEYS))
        self._say("Reading lines")
        self.action_read()

    def on_resize(self) -> None:
        """Show as many columns as fit now."""
        self._draw()

    def action_read(self) -> None:
        """Read what is new, unless a reading goes on."""
        if self._is_reading:
            return
        if self._next is not None:
            self._next.stop()
        self._is_reading = True
        self._began_s = time.monotonic()
        # A daemon: whoever quits does not wait for an answer from far away.
        threading.Thread(target=self._read, name="reading", daemon=True).start()

    def _read(self) -> None:
        try:
            reading = self.Read(self._watch.refresh(self._advance), "")
        except EmitterError as error:
            reading = self.Read(None, str(error))
        self.post_message(reading)

    def _advance(self, done: float, total: float | None = None) -> None:
        if total:
            self.post_message(self.HowFar(100 * done / total))

    def on_top_screen_how_far(self, message: HowFar) -> None:
        """Say how far the first reading is."""
        if self._fleet is None:
            self._say(f"Reading lines: {message.percent:.0f} %")

    def on_top_screen_read(self, message: Read) -> None:
        """Draw what was read, and arrange the next reading."""
        self._is_reading = False
        self._trouble = message.trouble
        if message.fleet is not None:
            self._fleet = message.fleet
        self._draw()
        took_s = time.monotonic() - self._began_s
        # At most half of the time is spent reading, however large the fleet.
        pause_s = max(self._watch.settings.refresh, took_s)
        self._next = self.set_timer(min(pause_s, _LONGEST_PAUSE_S), self.action_read)

    def on_data_table_row_highlighted(self) -> None:
        """Show the cores of the instance under the cursor, whatever the width of the table."""
        self._show_strip()

    def action_sort(self) -> None:
        """The next order."""
        self._order = ORDERS[(ORDERS.index(self._order) + 1) % len(ORDERS)]
        self._draw()

    def action_keys(self) -> None:
        """What each key does and each column means, until it is pressed again."""
        self.screen.toggle_class("keys")

    def action_inside(self) -> None:
        """Into the cluster or instance of the row."""
        key = self._key
        if key is not None and not self.screen.has_class("keys"):
            self._go(self._path.inside(key), None)

    def action_outside(self) -> None:
        """Back to where this one is a row, or from the keys."""
        if self.screen.has_class("keys"):
            self.action_keys()
            return
        self._go(self._path.above, self._path.key)

    def _go(self, path: FleetPath, key: str | None) -> None:
        if path != self._path:
            self._path, self._keys = path, []
            self._draw(key)

    @property
    def _key(self) -> str | None:
        row = self._table.cursor_row
        return self._keys[row] if 0 <= row < len(self._keys) else None

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one(DataTable)

    def _draw(self, key: str | None = None) -> None:
        """Show the rows of the path, with the cursor on *key* or where it was."""
        if self._fleet is not None:
            rows = rows_at(self._fleet, self._path, self._order)
            while rows is None:  # it is gone
                key, self._path, self._keys = self._path.key, self._path.above, []
                rows = rows_at(self._fleet, self._path, self._order)
            self._left_out = rows.left_out
            self._fill(rows, key)
            self.query_one("#where", Static).update(Text(self._where(self._fleet)))
            self._show_strip()
        self._say(self._status())

    def _show_strip(self) -> None:
        strip = Text()
        if self._fleet is not None:
            path = self._path.inside(self._key) if self._key is not None else self._path
            instance = instance_at(self._fleet, path)
            if instance is not None:
                strip = Text(f"{instance.instance_id}  ")
                if instance.reports:
                    idle_after = self._fleet.idle_after
                    strip += colored(strip_of(instance.record, idle_after))
                    for name, cores, facts in idle_owners(instance.record, idle_after)[:_OWNERS]:
                        strip.append("\n" + owner_line(name, cores, facts))
                else:  # its row says so only where the terminal is wide
                    strip.append(texts.status(instance))
        self.query_one("#strip", Static).update(strip)

    def _fill(self, rows: Rows, key: str | None) -> None:
        table, keys = self._table, list(rows.cells)
        columns = self._layout(rows)
        shown = {name: cells[: len(columns)] for name, cells in rows.cells.items()}
        if columns == self._columns and keys == self._keys:
            for row, cells in enumerate(shown.values()):
                for column, cell in enumerate(cells):
                    if table.get_cell_at(Coordinate(row, column)) != cell:
                        table.update_cell_at(Coordinate(row, column), cell)
            return
        is_new = not self._keys
        key, top, row = key or self._key, table.scroll_y, table.cursor_row
        table.clear(columns=columns != self._columns)
        if columns != self._columns:
            for title, width in columns:
                table.add_column(Text(title), width=width)
        for name, cells in shown.items():
            table.add_row(*cells, key=name)
        self._columns, self._keys = columns, keys
        if keys:
            row = 0 if is_new else min(max(0, row), len(keys) - 1)
            table.scroll_to(y=0 if is_new else top, animate=False)
            table.move_cursor(row=keys.index(key) if key in keys else row)

    def _layout(self, rows: Rows) -> tuple[tuple[str, int], ...]:
        """Titles and widths of the columns that fit; none is left to Textual, see `columns`."""
        table = self._table
        natural = widths(rows.titles, ([cell.plain for cell in row] for row in rows.cells.values()))
        room = self.size.width - table.styles.scrollbar_size_vertical
        gap = 2 * table.cell_padding
        shown = layout(natural, room, gap, needed=rows.needed, least=rows.least)
        return tuple(zip(rows.titles, shown, strict=False))

    def _where(self, fleet: FleetSnapshot) -> str:
        path = self._path
        at = "no data yet" if fleet.as_of_ms is None else moment(fleet.as_of_ms)
        parts = ["fleet", path.cluster or "", path.instance_id or ""]
        trail = " > ".join(filter(None, parts))
        return f"{trail}   {at}   sorted by {self._order}"

    def _status(self) -> str:
        if self._trouble:
            return self._trouble
        fleet, parts = self._fleet, [self._watch.feed.traffic]
        if fleet is not None:
            cluster = cluster_at(fleet, self._path)
            figures = (cluster or fleet).figures
            basis = fleet.basis(cluster.name if cluster else None)
            instance = instance_at(fleet, self._path)
            if instance is not None and not instance.reports:
                parts = [f"{texts.status(instance)}: what its cores do is unknown"]
            if self._left_out:
                parts.append(f"{self._left_out:,} more rows; --json shows all")
            if figures.silent:
                parts.append(f"{figures.silent:,} silent, not counted")
            if figures.unpriced_cores:
                parts.append(unpriced(basis, figures.unpriced_cores))
            parts.append(
                f"idle: {counted(figures.idle_cores, 'core')}, {texts.usd(figures)} USD/h, "
                f"{texts.avoidable(figures)} avoidable"
            )
            if words := prices_of(basis):
                parts.append(words)
        if unreadable := self._watch.feed.records.unreadable:
            parts.append(f"unreadable: {counted(unreadable, 'line')}")
        return "; ".join(parts)

    def _say(self, text: str) -> None:
        self.query_one("#status", Static).update(Text(text))
