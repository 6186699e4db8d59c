"""Sources: bytes as they come, bounded waits, and the end of the input."""

from __future__ import annotations

import errno
import os
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from neuron_emitter.errors import SourceError
from neuron_emitter.reports.source import (
    DescriptorSource,
    open_file,
    standard_input,
)


@pytest.fixture
def pipe():
    """Yield the two ends of a pipe, and close both after the test."""
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):  # already closed by the test
            os.close(end)


def whole(source):
    """Return all bytes until the end."""
    content = b""
    while (chunk := source.read_chunk(1.0)) is not None:
        content += chunk
    return content


def test_a_file_is_read_to_its_end(tmp_path):
    """A file is read to its end in chunks. Then each read returns None."""
    content = bytes(range(256)) * 1000
    (tmp_path / "a").write_bytes(content)
    source = open_file(tmp_path / "a")
    assert content == whole(source)
    assert None is source.read_chunk(0)
    assert 0 == source.restarts
    assert str(tmp_path / "a") == source.name
    source.close()
    source.close()


def test_a_pipe_returns_its_data_or_nothing_in_time(pipe):
    """A pipe without data returns empty bytes in time. Its end is None."""
    read_end, write_end = pipe
    source = DescriptorSource(read_end, "a pipe", owned=True)
    assert b"" == source.read_chunk(0)
    os.write(write_end, b"abc")
    assert b"abc" == source.read_chunk(5)
    assert b"" == source.read_chunk(0.01)
    os.close(write_end)
    assert None is source.read_chunk(5)
    source.close()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(read_end)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("file", False),
        ("pipe", True),
        ("named pipe", True),
        ("socket", True),
        ("terminal", False),
        ("/dev/null", False),
    ],
)
def test_only_the_end_of_a_pipe_or_socket_is_a_failure(kind, expected, tmp_path):
    """Only the end of a pipe or socket is a failure, because its writer should have continued."""
    path = tmp_path / "input"
    with ExitStack() as stack:
        if kind == "socket":
            descriptor, _ = (stack.enter_context(end).fileno() for end in socket.socketpair())
        elif kind in {"pipe", "terminal"}:
            ends = os.pipe() if kind == "pipe" else os.openpty()
            for end in ends:
                stack.callback(os.close, end)
            descriptor = ends[0 if kind == "pipe" else 1]
        else:
            os.mkfifo(path) if kind == "named pipe" else path.touch()
            opened = open_file(Path(os.devnull) if kind == "/dev/null" else path)
            stack.callback(opened.close)
            descriptor = opened._file.fileno()
        source = DescriptorSource(descriptor, kind, owned=False)
        stack.callback(source.close)
        assert expected == source.is_stream


def test_a_read_error_is_a_source_error(pipe, monkeypatch):
    """A read error, such as of a failing disk, is a SourceError with the system's words."""
    source = DescriptorSource(pipe[0], "a pipe", owned=False)
    os.write(pipe[1], b"x")
    broken = Mock(side_effect=OSError(errno.EIO, "Input/output error"))
    monkeypatch.setattr("os.read", broken)
    with pytest.raises(SourceError, match=r"Cannot read a pipe: Input/output error"):
        source.read_chunk(1)
    source.close()


def test_a_closed_standard_input_is_refused(monkeypatch):
    """A closed standard input is refused; Python has no sys.stdin then."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match=r"is closed. Pipe neuron-monitor into it"):
        standard_input()
