"""The live view, walked through by keys."""

from __future__ import annotations

import threading

import pytest

from emitter.errors import SourceError
from neuron_emf.top.texts import KEYS
from neuron_wire.holders import Holder
from neuron_wire.owners import Owner
from tests.neuron_emf.reading.lines import START_MS, line
from tests.neuron_emf.top.walking import MINUTE_MS, view_of, walk

pytestmark = pytest.mark.timeout(60)  # a terminal is drawn again and again: a second each, alone


class PlayedFeed:
    """Readings that a test decides."""

    is_live = False
    traffic = "played"

    def __init__(self, view, *readings):
        self.records = view.feed.records
        self.readings = list(readings)

    def read(self, window, _now_ms, _advance=None):
        reading = self.readings.pop(0) if self.readings else []
        if isinstance(reading, Exception):
            raise reading
        if isinstance(reading, threading.Event):
            reading.wait()
            return
        window.add(self.records.of(reading))


@pytest.fixture
def played(tmp_path):
    """A view of readings that a test decides, one each time `r` is pressed."""

    def make(*readings, **settings):
        view = view_of(tmp_path / "none", refresh=3600.0, **settings)
        view.feed = PlayedFeed(view, *readings)
        return view

    return make


def test_from_clusters_to_instances_to_cores_and_back(hour):
    """
    Enter and the right arrow go in, Escape and the left arrow out; the cursor is where it was.
    """

    async def steps(there):
        assert "fleet" == there.where
        assert ["research", "serving"] == there.names
        await there.press("down", "enter")
        assert "fleet > serving" == there.where
        assert 4 == len(there.names)
        assert there.has("▇▇█▇▇▇▆▆ ▆▆▆▆▆▆▆▆ ▆▆AAAAAA")
        await there.press("right")
        assert "fleet > serving > i-0cfad8422b8a09f9c" == there.where
        assert [str(core) for core in [*range(18, 24), *range(18)]] == there.names
        assert there.has("a attached idle")
        await there.press("enter")
        assert "fleet > serving > i-0cfad8422b8a09f9c" == there.where, "cores have nothing inside"
        await there.press("escape")
        assert "fleet > serving" == there.where
        await there.press("left", "left")
        assert "fleet" == there.where
        assert "serving" == there.app._key

    walk(view_of(hour.records_file), steps)


def test_s_goes_through_the_orders(hour):
    """Of clusters, instances and cores alike."""

    async def steps(there):
        await there.press("enter")
        orders = {}
        for order in ("idle", "cost", "name", "utilization", "idle"):
            assert there.lines[0].endswith(f"sorted by {order}")
            orders[order] = there.names
            await there.press("s")
        assert sorted(orders["name"]) == orders["name"] != orders["idle"]
        assert "i-08b57901f1b2f8fae" == orders["utilization"][-1]

    walk(view_of(hour.records_file), steps)


def test_a_new_reading_keeps_the_cursor_on_its_row(played):
    """Though it is idle for longer than all others by now, and stands before them."""

    def minute(number, *idle_minutes):
        at_ms = START_MS + number * MINUTE_MS
        return [
            line(
                instance_id=f"i-{n}", minute_ms=at_ms, seq=number + 1, idle_minutes=(0, 0, idle, 0)
            )
            for n, idle in enumerate(idle_minutes)
        ]

    async def steps(there):
        await there.press("enter", "down", "down")
        assert (["i-0", "i-1", "i-2"], "i-2") == (there.names, there.app._key)
        await there.press("r")
        await there.until(lambda: there.names == ["i-2", "i-1", "i-0"])
        assert "i-2" == there.app._key
        await there.press("r")
        await there.until(lambda: there.has("80 min") or there.has("1 h 20 min"))
        assert (["i-2", "i-1", "i-0"], "i-2") == (there.names, there.app._key)

    walk(played(minute(0, 50, 40, 30), minute(1, 0, 41, 60), minute(2, 0, 42, 80)), steps)


def test_what_cannot_be_read_is_said_and_what_was_known_stays(played):
    """Credentials expire while somebody looks."""
    trouble = SourceError("logs:FilterLogEvents failed; renew [b]it")

    async def steps(there):
        await there.press("r")
        await there.until(lambda: there.has("renew [b]it"))
        assert ["research"] == there.names
        await there.press("r")
        await there.until(lambda: not there.has("renew [b]it"))

    walk(played([line()], trouble, []), steps)


def test_a_first_reading_that_fails_is_said(played):
    """And tried again."""

    async def steps(there):
        assert there.has("no credentials")
        assert [] == there.names
        await there.press("enter", "escape", "s", "down")
        await there.press("r")
        await there.until(lambda: there.names == ["research"])

    walk(played(SourceError("no credentials"), [line()]), steps)


def test_who_is_gone_is_left_for_what_is_above(played):
    """An instance is forgotten while somebody looks at its cores."""

    async def steps(there):
        await there.press("enter", "enter")
        assert "fleet > research > i-0" == there.where
        there.app._watch._window.forget(START_MS + 1)
        await there.press("r")
        await there.until(lambda: there.where == "fleet > research")
        assert ["i-1"] == there.names

    later = {"minute_ms": START_MS + MINUTE_MS, "idle_minutes": (0, 0, 0, 0)}
    walk(played([line(), line(instance_id="i-1", **later)], []), steps)


def test_a_silent_instance_has_no_cores_to_look_at(played):
    """What they do is unknown, and said so."""

    async def steps(there):
        assert there.has("1 +1 silent")
        await there.press("enter", "down")
        assert there.has("silent 6 min")
        await there.press("enter")
        assert [] == there.names
        assert there.has("silent 6 min: what its cores do is unknown")

    late = {"instance_id": "i-1", "minute_ms": START_MS + 6 * MINUTE_MS}
    walk(played([line(), line(**late)]), steps)


def test_names_are_text_on_the_screen_too(played):
    """No cluster, instance or holder is markup."""
    text = line(cluster="[bold red]x[/]", instance_id="[@click=app.quit]y")

    async def steps(there):
        assert there.has("[bold red]x[/]")
        await there.press("enter")
        assert ["[@click=app.quit]y"] == there.names
        await there.press("enter")
        assert there.where.endswith("[bold red]x[/] > [@click=app.quit]y")

    walk(played([text]), steps)


def test_it_fits_a_small_terminal(hour):
    """Eighty columns: the strip of the instance under the cursor stands below the table."""

    async def steps(there):
        await there.press("enter", "down")
        assert there.has("i-0fb9f00b0d1b3be5e  ▆▇▆▇▇▆▆▆ ▆▆▆▆▆▆▇▆ AAAAAAAA UUUUUUUU")
        assert all(len(one) <= 80 for one in there.lines)

    walk(view_of(hour.records_file), steps, size=(80, 24))


@pytest.mark.parametrize("keys", [(), ("enter",)])
def test_a_narrow_terminal_shows_the_money(hour, keys):
    """
    At eighty columns up to USD/h, of clusters and of instances; and no column that does not fit
    as a whole, for half of a number is another number.
    """

    async def steps(there):
        await there.press(*keys)
        titles = there.lines[1].split()
        assert "USD/h" in titles
        assert "core-h" not in titles
        assert there.has("21.50" if keys else "33.59")
        for shown, column in zip(titles, there.app._table.ordered_columns, strict=True):
            assert column.label.plain == shown
            cells = [cell.plain for cell in there.app._table.get_column(column.key)]
            assert column.width >= max(map(len, [shown, *cells]))

    walk(view_of(hour.records_file), steps, size=(80, 24))


def test_who_holds_idle_cores_is_a_column_of_instances(played):
    """As much of the name as fits; the whole stands below the table and beside each core."""
    owners = (Owner("2", "slurm:4711 " + "m" * 30), Owner("0-1,3", "ml/llama"))
    facts = {"last_execution": "2025-11-20T06:10Z", "gone": True}
    holders = (Holder("2", owners[0].name, 42, "7", **facts),)

    async def steps(there):
        await there.press("enter")
        assert there.has("slurm:4711 mmm")
        assert there.has("mm… ")
        assert there.has("[unallocated] +1")
        assert there.has(f"cores 2: {owners[0].name}, no execution since 06:10 UTC,")
        await there.press("enter")
        await there.until(lambda: there.has("b busy"))
        assert there.has("slurm:4711 mmm")

    lines = [
        line(owners=owners, holders=holders, core_state="bbab", idle_minutes=(0, 0, 20, 0)),
        line(instance_id="i-1", owners=owners, holders=holders, idle_minutes=(0, 0, 15, 16)),
    ]
    walk(played(lines), steps, size=(84, 24))


def test_a_wider_terminal_shows_more_columns(hour):
    """As soon as it is wider."""

    async def steps(there):
        assert not there.has("core-h")
        await there.resize(120, 24)
        await there.until(lambda: there.has("core-h"))

    walk(view_of(hour.records_file), steps, size=(80, 24))


def test_columns_are_as_wide_as_their_cells_in_the_first_frame(played):
    """
    A frame between new cells and Textual's own measuring is kept until a cell changes: columns
    measured by Textual stood at the width of their titles for as long as that.
    """

    async def steps(there):
        app = there.app
        app._watch._window.add(app._watch.feed.records.of([line(cluster="c" * 20)]))
        app._fleet = app._watch.refresh()
        app._draw()
        frame = app._table.render_line(1).text
        assert "c" * 20 in frame
        assert "10.75" in frame

    walk(played([]), steps)


def test_a_question_mark_shows_the_keys(played):
    """Each of them; again, or Escape, and the table is back."""

    async def steps(there):
        for back in ("question_mark", "escape"):
            await there.press("question_mark")
            assert there.has("up, down        choose a row")
            assert not there.has("research")
            await there.press("enter", back)
            assert ["fleet", True] == [there.where, there.has("research")]
        for binding in there.app.BINDINGS:
            names = {"enter": "Enter", "escape": "Escape", "question_mark": "?"}
            key = binding.key.split(",")[0]
            assert any(one.startswith(names.get(key, key)) for one in KEYS.splitlines()), key

    walk(played([line()]), steps)


def test_q_ends_it_while_a_reading_goes_on(played):
    """Nobody waits for an answer from far away; when it comes at last, it harms nobody."""
    answer = threading.Event()

    async def steps(there):
        await there.press("r", "q")

    walk(played([line()], answer), steps)
    (reading,) = (one for one in threading.enumerate() if one.name == "reading")
    answer.set()
    reading.join()
    assert reading.daemon, "the process would have waited for it"
