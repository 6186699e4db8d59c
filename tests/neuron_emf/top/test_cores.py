"""A strip of cores says the same with colors and without, with blocks and without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.top.page import STYLES, colored
from neuron_emf.top.texts import BLOCKS, DIGITS, grouped, heights, legend, strip_of
from tests.neuron_emf.reading.lines import record

CORES = st.lists(
    st.one_of(
        st.tuples(st.just("b"), st.floats(1, 100), st.just(0)),
        st.tuples(st.sampled_from("au"), st.just(0.0), st.integers(0, 30)),
        st.tuples(st.just("?"), st.none(), st.integers(0, 30)),
    ),
    max_size=40,
)


def of(cores):
    return record(
        core_state="".join(letter for letter, _, _ in cores),
        utilization_percent=tuple(percent for _, percent, _ in cores),
        idle_minutes=tuple(minutes for _, _, minutes in cores),
    )


@given(CORES, st.sampled_from([BLOCKS, DIGITS]))
def test_each_core_has_a_sign_that_tells_its_state(cores, signs):
    """
    A height for a busy one, the letter of any other, a capital from fifteen minutes on; an
    unknown core is never idle.
    """
    strip = strip_of(of(cores), 15, signs)
    assert len(cores) == len(strip)
    for (letter, _, minutes), sign in zip(cores, strip, strict=True):
        if letter == "b":
            assert sign in signs
        else:
            is_idle = letter in "au" and minutes >= 15
            assert sign == (letter.upper() if is_idle else letter)


@given(st.floats(1, 100), st.floats(1, 100), st.sampled_from([BLOCKS, DIGITS]))
def test_a_core_that_is_busier_is_no_lower(one, other, signs):
    """The lowest block from 1 %, the full one at 100 %."""
    strip = strip_of(of([("b", min(one, other), 0), ("b", max(one, other), 0)]), 15, signs)
    assert signs.index(strip[0]) <= signs.index(strip[1])
    ends = strip_of(of([("b", 1.0, 0), ("b", 100.0, 0)]), 15, signs)
    assert signs[0] + signs[-1] == ends


def test_every_eight_cores_there_is_a_gap():
    """It helps to count, and adds no sign."""
    assert "" == grouped("")
    assert "aaaaaaaa" == grouped("a" * 8)
    assert "aaaaaaaa a" == grouped("a" * 9)


def test_the_signs_stand_beside_colors_and_do_not_need_them():
    """Each state has a color of its own, and the text is the strip."""
    text = colored("a?U" + BLOCKS[3])
    assert grouped("a?U" + BLOCKS[3]) == text.plain
    colors = [str(span.style) for span in text.spans]
    assert [STYLES["a"], STYLES["?"], f"bold {STYLES['u']}", "cyan"] == colors
    assert 4 == len({*STYLES.values(), "cyan"})


@pytest.mark.parametrize(
    ("encoding", "signs"),
    [("utf-8", BLOCKS), *((name, DIGITS) for name in ("ascii", "latin-1", None, "no such"))],
)
def test_where_an_encoding_has_no_blocks_digits_stand_for_tenths(encoding, signs):
    """A terminal that cannot show a block must not make the command fail."""
    assert signs == heights(encoding)
    assert legend(signs, 15).startswith(f"{signs[0]} to {signs[-1]} busy")
