"""The output of commands for people and for programs."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from rich.table import Table
from rich.text import Text

from neuron_emf import command_output
from neuron_wire.holders import Holder
from proof.factories.records import message, record


class Terminal(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self):
        return True


def a_table() -> Table:
    table = Table("cluster", "idle cores")
    table.add_row(Text("training", style="red"), "7")
    return table


def test_piped_there_is_no_color_and_one_width(capsys):
    """A table in a pipe is plain text with lines of at most 100 characters."""
    command_output.show(a_table(), Text("x" * 250, style="bold green"))
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "training" in printed
    assert command_output.PIPED_COLUMNS == max(map(len, printed.splitlines()))


def test_json_keeps_order_and_is_ascii(capsys):
    """
    JSON is one value in the given order and ASCII, so that any terminal accepts it.

    A NaN is refused, because few programs read it.
    """
    command_output.show_json({"b": 1, "a": "é"})
    assert '{\n  "b": 1,\n  "a": "\\u00e9"\n}\n' == capsys.readouterr().out
    with pytest.raises(ValueError, match="JSON"):
        command_output.show_json({"share": float("nan")})


def test_a_closed_pipe_is_not_an_error():
    """`neuron-emf ... | head` ends without a traceback."""
    program = (
        "from neuron_emf import command_output\n"
        "for _ in range(2000): command_output.show_json(list(range(100)))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()
    child.stdout.close()
    traceback = child.stderr.read()
    child.stderr.close()
    child.wait()
    assert b"" == traceback


def test_progress_waits_before_it_shows_itself(monkeypatch):
    """
    Progress is shown only on a terminal and only for long work.

    It has the name of the work and its share.
    """
    monkeypatch.setenv("TERM", "xterm")
    shown = []
    for patience_s, screen in ((3600.0, Terminal()), (0.0, io.StringIO()), (0.0, Terminal())):
        monkeypatch.setattr(command_output, "PROGRESS_DELAY_S", patience_s)
        monkeypatch.setattr(sys, "stderr", screen)
        with command_output.progress("Reading lines") as advance:
            advance(1, 4)
            advance(2, 4)
        shown.append(screen.getvalue())
    assert ["", ""] == shown[:2]
    assert "Reading lines" in shown[2]
    assert "50 %" in shown[2]


def test_a_terminal_without_the_letters_of_a_name_gets_the_rest(tmp_path):
    """A terminal without the letters of a name gets `?` for each of them."""
    lines = tmp_path / "lines"
    held = message(record(holders=(Holder("1", "ml/\u65e5\u672c", 41, None),)))
    lines.write_text(held, encoding="utf-8")
    command = [sys.executable, "-m", "neuron_emf", "report", lines]
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    ended = subprocess.run(command, capture_output=True, check=False, env=latin)
    assert 0 == ended.returncode
    assert b"" == ended.stderr
    assert "ml/??" in ended.stdout.decode("latin-1")
