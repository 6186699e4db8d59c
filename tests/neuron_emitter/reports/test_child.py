"""
Child processes: reports are read whatever the child does, and no process is left.

Tests use real processes and real time, and wait for events, never for a period.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_emitter.reports.child import MAX_STDERR_CHARS, TAIL_BYTES, ErrorTail
from proof.emitter_process import environment
from tests.neuron_emitter.fake_monitor import LINE, alive, await_end, read_until, running

MONITOR_PARENT = """
import sys, threading
from neuron_emitter.reports.monitor import Monitor

def read():
    monitor = Monitor({path!r}, "{{}}", 5.0)
    while True:
        sys.stdout.buffer.write(monitor.read_chunk(300))
        sys.stdout.flush()

threading.Thread(target=read).start()
"""


def test_endless_errors_cost_no_report(script, clock):
    """Endless errors of the child cost no report and bounded memory."""
    path = script(f"""
        if os.fork() == 0:
            while True:
                os.write(2, b"complaint\\n" * 5000)
        for _ in range(100):
            os.write(1, {LINE!r})
        signal.pause()
    """)
    with running(path, clock) as monitor:
        assert 100 * LINE == read_until(monitor, lambda output: len(output) >= 100 * len(LINE))
        while not monitor._child.error_tail.text():
            monitor.read_chunk(1)
        assert len(monitor._child.error_tail._tail) <= 2048
        assert 0 == monitor.restarts


@pytest.mark.proof
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="PR_SET_PDEATHSIG is Linux's")
def test_a_child_started_from_a_thread_dies_with_the_process(script, tmp_path):
    """A child dies with the emitter after kill -9, whichever thread started it."""
    path = script("os.write(1, b'%d\\n' % os.getpid()); signal.pause()")
    with subprocess.Popen(
        [sys.executable, "-c", MONITOR_PARENT.format(path=path)],
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
    ) as parent:
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.kill()
    await_end(child)


def error_tail_of(*chunks):
    """Return the error text of these chunks."""
    words = ErrorTail()
    for chunk in chunks:
        words.add_output(chunk)
    return words


@given(st.lists(st.binary(max_size=3000), max_size=4), st.integers(1, 700))
@example([b"\x1b]0;title", b"\x1b[31mred\x9b1m\xc2\x9b2Jx\x1b", b"\x07\xe2\x80\xae"], 600)
def test_error_text_is_bounded_and_printable(chunks, max_chars):
    """Error text is printable and bounded, without escapes, line ends or bidirectional marks."""
    words = error_tail_of(*chunks)
    for text in (words.text(max_chars), words.last_line(max_chars)):
        assert text == "" or text.isprintable()
        assert len(text) <= max_chars
    assert len(words._tail) <= TAIL_BYTES
    assert words.text() == words.text(MAX_STDERR_CHARS)


# A container's first process inherits orphans. PR_SET_CHILD_SUBREAPER is 36.
INHERITS = """
import ctypes, os, sys, time
from neuron_emitter.children import reap_orphans, start_child

ctypes.CDLL(None).prctl(36, 1)
own = start_child([sys.executable, "-c", "raise SystemExit(7)"])
os.waitid(os.P_PID, own.pid, os.WEXITED | os.WNOWAIT)
reap_orphans()
print("own", own.wait())
parent = start_child(
    ["sh", "-c", "sleep 0 & echo $!"], stdout=-1
)
orphan = int(parent.communicate()[0])
while os.path.exists(f"/proc/{orphan}"):
    reap_orphans()
print("orphan gone")
reap_orphans()
"""


def test_orphans_are_reaped_and_own_children_keep_their_exit_code():
    """Orphans are reaped, but not own children, whose exit code belongs to their starter."""
    ended = subprocess.run(
        [sys.executable, "-c", INHERITS], capture_output=True, text=True, check=True, timeout=300
    )
    assert ["own 7", "orphan gone"] == ended.stdout.splitlines()
