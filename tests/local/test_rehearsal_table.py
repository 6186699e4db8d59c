"""The table shows what is known, fits its place and says how old it is."""

from __future__ import annotations

import io
import os
import re

import pytest

from local.rehearsal import table as table_module
from local.rehearsal.table import ClusterRow, Screen, render

NOW_S = 1_800_000_000.0
RESEARCH = ClusterRow(
    cluster="research",
    minute_s=1_799_999_820,
    figures={
        "Instances": 4, "SilentInstances": 1, "NeuronCores": 98, "BusyCores": 34,
        "AttachedIdleCores": 32, "UnattachedCores": 30, "UnknownCores": 2, "IdleCores": 64,
        "NeuronCoreUtilization": 21.34, "IdleCostPerHour": 43.1, "UnpricedCores": 4,
    },
    alarm="IdleCores, IdleCost",
    notes=("IdleCoresAlarm rings, it saw 13 of 13 data points at or above 20", "another"),
)  # fmt: skip
EMPTY = ClusterRow(cluster="serving", minute_s=None)


def test_every_figure_is_shown():
    """In the words of the metrics, with its unit in the title."""
    text = render([RESEARCH], NOW_S)
    for shown in ("4 +1 silent", "98", "34", "32", "30", " 2 ", "21.3 %", "64", "43.10"):
        assert shown in text
    assert "07:57, 120 s ago" in text
    assert "IdleCores, IdleCost" in text
    assert "research: IdleCoresAlarm rings, it saw 13 of 13 data points at or above 20" in text
    assert "research: another" in text
    assert "research: 4 cores have no list price" in text


def test_what_is_not_known_is_a_dash():
    """Never a zero."""
    row = render([EMPTY], NOW_S).splitlines()[-1]
    assert "0" not in row
    assert 10 == row.count(" -")
    assert row.endswith("none yet")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160])
def test_it_fits_any_width_and_loses_no_column(width):
    """What does not fit goes on below, under the cluster's name."""
    text = render([RESEARCH, EMPTY], NOW_S, width)
    assert max(len(line) for line in text.splitlines()) <= width
    for shown in ("zation", "USD/hour", "minute, UTC", "43.10", "07:57, 120 s ago"):
        assert shown in text


def test_a_pipe_gets_a_block_when_something_new_is_to_say():
    """And no control character."""
    stream = io.StringIO()
    screen = Screen(stream)
    assert not screen.live
    screen.show("one", key="a")
    screen.show("two", key="a")
    screen.show("three", key="b")
    screen.show("four")
    assert "one\n\nthree\n\nfour\n\n" == stream.getvalue()


class Terminal(io.StringIO):
    """A stream that is one."""

    def isatty(self):
        """Always."""
        return True


def test_a_terminal_is_redrawn_in_place(monkeypatch):
    """The next frame starts where the last one did, and clears what is left of it."""
    size = os.terminal_size((20, 10))
    monkeypatch.setattr(table_module.shutil, "get_terminal_size", lambda: size)
    stream = Terminal()
    screen = Screen(stream)
    screen.show("one\ntwo")
    screen.show("three")
    screen.release()
    screen.show("four")
    assert "one\x1b[K\ntwo\x1b[K\n\x1b[J\x1b[2Fthree\x1b[K\n\x1b[J" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[Jfour\x1b[K\n\x1b[J")


def test_a_frame_never_scrolls(monkeypatch):
    """A terminal that is too small shows the top of it."""
    monkeypatch.setattr(table_module.shutil, "get_terminal_size", lambda: os.terminal_size((10, 4)))
    stream = Terminal()
    Screen(stream).show("\n".join("x" * 30 for _ in range(30)))
    plain = re.sub(r"\x1b\[[0-9]*[A-Za-z]", "", stream.getvalue())
    assert ["x" * 9] * 3 == plain.splitlines()
