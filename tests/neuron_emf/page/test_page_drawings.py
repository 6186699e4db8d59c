"""The drawings of the page: the heat map's geometry, an instance's hour, and charts' series."""

from __future__ import annotations

from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from neuron_wire.names import MINUTE_MS
from tests.neuron_emf.page.test_page_state import evaluate

WITHOUT_SHRINKING = (Phase.explicit, Phase.generate)  # each example starts Node
NOW_MS = 1_795_165_350_000
HOUR_MINUTES = 60
LATE_MINUTES = 4
ARROWS = ([1, 0], [-1, 0], [0, 1], [0, -1], [0, 8], [0, -8])
SIZES = st.lists(st.integers(min_value=1, max_value=130), min_size=1, max_size=12)
MAPS = st.builds(
    lambda sizes, **others: {**others, "sizes": sizes, "most": max(sizes)},
    sizes=SIZES,
    width=st.integers(min_value=300, max_value=1600),
    count=st.sampled_from([1, 41, 300, 1000]),
    isRows=st.booleans(),
)
VALUES = st.none() | st.integers(min_value=0, max_value=9)


@settings(max_examples=6, phases=WITHOUT_SHRINKING)
@given(st.lists(MAPS, min_size=8, max_size=12))
def test_the_pointer_finds_each_core_where_it_is_drawn(maps):
    """The middle of a core's box leads to this core and no other, and every box is on the map."""
    expression = """(() => {
        const layout = page.layoutOf(one);
        const end = page.topOf(layout, one.sizes.length);
        return one.sizes.flatMap((size, instance) => Array.from({ length: size }, (_, core) => {
            const { left, top, width, height } = page.coreBox(layout, { instance, core });
            const found = page.placeAt(layout, left + width / 2, top + height / 2);
            const isOnMap = left >= 0 && left + width <= one.width && top + height <= end;
            return isOnMap && found?.instance === instance && found?.core === core;
        })).every(Boolean);
    })()"""
    assert [True] * len(maps) == evaluate(expression, maps, "tiles.js")


@settings(max_examples=6, phases=WITHOUT_SHRINKING)
@given(st.lists(st.tuples(MAPS, st.integers(min_value=0)), min_size=8, max_size=12))
def test_arrow_keys_stay_on_cores_and_the_right_arrow_visits_all(pairs):
    """No key leaves the map; steps to the right from the first core pass through every instance."""
    expression = f"""(() => {{
        const [map, seed] = one;
        const layout = page.layoutOf(map);
        const isCore = (place) => place.core >= 0 && place.core < map.sizes[place.instance];
        const start = {{ instance: seed % map.sizes.length, core: 0 }};
        start.core = seed % map.sizes[start.instance];
        const steps = {list(ARROWS)!r}.map((step) => page.placeAfter(layout, start, step));
        let place = {{ instance: 0, core: 0 }};
        for (let at = 0; at < 2000; at += 1) place = page.placeAfter(layout, place, [1, 0]);
        return [steps.every(isCore), place.instance];
    }})()"""
    expected = [[True, len(one["sizes"]) - 1] for one, _ in pairs]
    assert expected == evaluate(expression, pairs, "tiles.js")


@settings(max_examples=8, phases=WITHOUT_SHRINKING)
@given(
    st.lists(st.booleans(), min_size=0, max_size=70), st.integers(min_value=1, max_value=100),
    st.integers(min_value=1, max_value=3),
)  # fmt: skip
def test_an_hour_ends_now_and_not_with_the_newest_line(has_line, age_minutes, cores):
    """Each minute with a line has its letter. All others, also after the newest, have none."""
    newest_ms = NOW_MS // MINUTE_MS * MINUTE_MS - age_minutes * MINUTE_MS
    minutes = [newest_ms - at * MINUTE_MS for at, has in enumerate(has_line) if has][::-1]
    assume(not has_line or has_line[0])
    letters = "".join("ab"[at % 2] for at in range(len(minutes)))
    answer = {
        "minutes": minutes,
        "states": [letter * cores for letter in letters],
        "utilization": [[7] * cores] * len(minutes),
    }
    (hour,) = evaluate(f"page.hourOf(one, {NOW_MS})", [answer], "hour.js")
    due_ms = NOW_MS // MINUTE_MS * MINUTE_MS - LATE_MINUTES * MINUTE_MS
    last_ms = max([due_ms, *minutes])
    assert [last_ms - at * MINUTE_MS for at in range(HOUR_MINUTES)][::-1] == hour["minutes"]
    drawn = dict(zip(minutes, letters, strict=True))
    expected = "".join(drawn.get(minute_ms, "-") for minute_ms in hour["minutes"])
    cores = cores if minutes else 0
    assert [expected] * cores == hour["states"]
    known = [[None if letter == "-" else 7 for letter in expected]] * cores
    assert known == hour["utilization"]


@settings(max_examples=8, phases=WITHOUT_SHRINKING)
@given(
    st.lists(st.lists(VALUES, min_size=5, max_size=5), min_size=1, max_size=9),
    st.integers(min_value=0), st.booleans(),
)  # fmt: skip
def test_a_gap_stays_a_gap_and_parts_add_up(rows, hidden, is_stacked):
    """
    A missing value is not drawn.

    A part is stacked on the shown parts before it if all of them are known.
    """
    series = [
        {"label": str(slot), "values": values, "slot": slot, "isHidden": bool(hidden >> slot & 1)}
        for slot, values in enumerate(rows)
    ]
    expression = f"page.drawnValues(one, 5, {str(is_stacked).lower()})"
    (drawn,) = evaluate(expression, [series], "series.js")
    slots = drawn[::-1] if is_stacked else drawn
    below: list[int | None] = [0] * 5
    for one in series:
        expected: list[int | None] = [None] * 5
        if is_stacked and not one["isHidden"]:
            below = expected = [
                None if part is None or under is None else under + part
                for under, part in zip(below, one["values"], strict=True)
            ]
        elif not one["isHidden"]:
            expected = one["values"]
        assert expected == slots[one["slot"]]


@settings(max_examples=8, phases=WITHOUT_SHRINKING)
@given(st.lists(st.lists(st.sampled_from("abcdefghijkl"), max_size=8, unique=True), max_size=6))
def test_two_series_of_a_chart_never_look_the_same(charts):
    """Labels of one chart have slots of their own; a label keeps its slot in another order."""
    expression = """(() => {
        const preferred = new Map();
        const slotsOf = (labels) => {
            const slots = page.slotsOf(labels, preferred);
            return Object.fromEntries(labels.map((label, at) => [label, slots[at]]));
        };
        const orders = (labels) => [[...labels, "[others]"], ["[others]", ...labels].reverse()];
        return one.map((labels) => orders(labels).map(slotsOf));
    })()"""
    (results,) = evaluate(expression, [charts], "series.js")
    names = {label for labels in charts for label in labels}
    for labels, (slots, reverse) in zip(charts, results, strict=True):
        assert len(labels) + 1 == len(set(slots.values()))
        if len(names) <= 8:
            assert slots == reverse


@settings(max_examples=8, phases=WITHOUT_SHRINKING)
@given(st.lists(st.lists(VALUES, max_size=12), min_size=20, max_size=20))
def test_a_value_between_gaps_is_a_point(rows):
    """Every known value is an end of a line, or a point if both of its neighbors are missing."""
    expected = [
        [
            at
            for at, value in enumerate(values)
            if value is not None
            and {None} == {None, *values[max(0, at - 1) : at], *values[at + 1 : at + 2]}
        ]
        for values in rows
    ]
    assert expected == evaluate("page.lonePlaces(one)", rows, "series.js")
