"""What the kernel and journald say, and how far an earlier run wrote that it had read."""

from __future__ import annotations

import contextlib
import json
import math
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.fold.state import FoldState, read_state
from emitter.kernel import KernelFaults
from emitter.kernel.fault import MAX_TEXT_CHARS, MAX_WORD_CHARS, read_fault
from emitter.kernel.journal import Journal
from emitter.kernel.kmsg import KernelRing
from emitter.kernel.message import MAX_TEXT_BYTES, KernelMessage
from emitter.kernel.position import (
    MAX_NEAR,
    LogState,
    Position,
    beginning,
    read_log_state,
    with_log_state,
)
from emitter.kernel.sight import Sight
from emitter.kernel.telling import MAX_EVENTS
from emitter.lines import Lines, LineSettings, Source
from neuron_wire.extraction import MAX_LINE_BYTES
from neuron_wire.line import OtherRecord, parse
from proof.factories.kernel_logs import BOOT, BOOTED_S, EARLIER_BOOT, REAL, entry, record
from proof.fuzz import broken_json
from proof.fuzz.target import Target, reworded

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from emitter.kernel.sight import Catch

_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
_RING: Final = Path(_FOLDER.name) / "kmsg"
_NOW_S: Final = BOOTED_S + 1000.0
_MOST: Final = (1 << 63) - 1
_CHUNK_BYTES: Final = 4096
_OF_OTHERS: Final = FoldState(instance_id="i-0123456789abcdef0", cores=2)
_SOURCE: Final = Source("blue", "i-0123456789abcdef0", False, "b")  # noqa: FBT003 - not guessed
_LINES: Final = Lines(LineSettings())
_LAST_SEQ: Final = 1 << 40
_LAST: Final = record(_LAST_SEQ, 10**15, REAL)
_LAST_ENTRY: Final = entry(10**15, REAL).encode()


class _Watch:
    """A watch that has seen one catch."""

    is_reading = True
    state = LogState()

    def __init__(self, catch: Catch) -> None:
        self._catch = catch

    def take(self) -> Catch:
        return self._catch


def _require_message(message: KernelMessage) -> None:
    assert re.fullmatch("[0-9a-f]{32}", message.boot_id)
    assert 0 <= message.since_boot_us <= _MOST
    assert message.seq is None or 0 <= message.seq <= _MOST
    assert math.isfinite(message.at_s)
    assert len(message.text) <= MAX_TEXT_BYTES


def _position_after(messages: Sequence[KernelMessage]) -> Position | None:
    """Where the log is after *messages*: each is covered from then on."""
    position = None
    for message in messages:
        if position is None or not position.covers(message):
            position = (position or beginning(message.boot_id, 0.0)).after(message)
            assert position.covers(message)
            assert 0 == position.missed(message)
            assert len(position.near) <= MAX_NEAR
    return position


def _counted(messages: Sequence[KernelMessage], state: LogState) -> set[KernelMessage]:
    """Those of *messages* that a run counts which begins with *state*."""
    sight, messages_counted = Sight(state, 0.0), set()
    for message in messages:
        before = sight.waiting
        sight.add([message])
        if sight.waiting > before:
            messages_counted.add(message)
    return messages_counted


def _is_in_order(messages: Sequence[KernelMessage]) -> bool:
    """
    Whether each boot begins after all that was before it, and none comes again.

    Of messages in another order it is known that one may count twice after a restart: it takes a
    clock that is set back between two boots, and stamps of the first that are out of order.
    """
    seen, boot, latest_s = set(), "", -math.inf
    for message in messages:
        if message.boot_id != boot and (message.boot_id in seen or message.at_s <= latest_s):
            return False
        boot, latest_s = message.boot_id, max(latest_s, message.at_s)
        seen.add(boot)
    return True


def _counts_each_once(messages: Sequence[KernelMessage]) -> None:
    """
    A restart reads what was written and counts nothing again; every event is a line of the stack.
    """
    for message in messages:
        _require_message(message)
    sight = Sight(LogState(), 0.0)
    sight.add(messages)
    catch = sight.take()
    if not messages:
        assert catch.position is None
        return
    assert _position_after(messages) == catch.position
    faults = KernelFaults(_Watch(catch))
    events = faults.events(_NOW_S, is_end=True)
    assert len(catch.seen) == faults.count
    assert len(events) <= MAX_EVENTS + 3
    for event in events:
        assert event.message.isprintable()
        assert len(event.message) < 500
        assert 0 <= event.at_s <= _NOW_S
        line = _LINES.event(event, _SOURCE, seq=2)
        assert len(line.encode()) < MAX_LINE_BYTES
        assert isinstance(parse(line), OtherRecord)
    told, counted = faults.told_state(_OF_OTHERS.encoded()), faults.counted_state(b"{}")
    if told is not None:
        assert _OF_OTHERS == read_state(told)
        assert catch.begin == read_log_state(told).counted
    kept = read_log_state(counted)
    assert LogState(catch.position) == kept
    if _is_in_order(messages) and (messages[0].seq is not None or len(catch.seen) <= MAX_NEAR):
        # What is out of order by more than a second may count late, but once.
        assert not _counted(messages, LogState()) & _counted(messages, kept)


def reads_kernel_records(content: bytes) -> None:
    """Records of the ring are in bounds, each fault counts once, and what follows them is read."""
    _RING.write_bytes(content + b"\n" + _LAST)
    ring = KernelRing(_RING, BOOT, clock=lambda: _NOW_S, since_boot_s=lambda: 1000.0)
    try:
        messages: list[KernelMessage] = []
        while new := ring.read(0.0):
            messages += new
        assert len(ring._rest) <= 2 * MAX_TEXT_BYTES
    finally:
        ring.close()
    assert (_LAST_SEQ, REAL) == (messages[-1].seq, messages[-1].text)
    _counts_each_once(messages[:-1])
    _counts_each_once(messages)


def reads_journal_entries(content: bytes) -> None:
    """The same of lines of journalctl, in pieces."""
    journal, messages = Journal(("journalctl",), 0.0), []
    whole = content + b"\n" + _LAST_ENTRY + b"\n"
    for start in range(0, len(whole), _CHUNK_BYTES):
        messages += journal._entries(whole[start : start + _CHUNK_BYTES])
    assert REAL == messages[-1].text
    _counts_each_once(messages[:-1])
    _counts_each_once(messages)


def reads_a_fault(content: bytes) -> None:
    """What a message says of a fault is printable and short, whoever wrote it."""
    text = content.decode(errors="replace")
    fault = read_fault(text, BOOTED_S)
    assert fault is None or "NEURON_HW_ERR=" in text
    if fault is None:
        return
    assert re.fullmatch(r"[A-Za-z0-9_.\-]{1,64}", fault.code)
    assert len(fault.text) <= MAX_TEXT_CHARS
    assert fault.text.isprintable()
    for index in (fault.device, fault.device_core):
        assert index is None or 0 <= index <= 9999
    for word in (fault.serial_number, fault.action):
        assert word is None or 1 <= len(word) <= MAX_WORD_CHARS
    assert fault.sentence().isprintable()
    assert len(fault.sentence()) < 250
    json.dumps(fault.details(), allow_nan=False).encode()


def reads_a_position(content: bytes) -> None:
    """
    What is read of a state is what is written of it, the fold's part is left alone, and the
    reading goes on from there.
    """
    kept = read_log_state(content)
    written = with_log_state(content, kept)
    assert kept == read_log_state(written)
    with contextlib.suppress(UnicodeDecodeError):  # half a letter in a name spoils them all
        content.decode()
        assert read_state(content) == read_state(written)
    following = [
        KernelMessage(boot, us, BOOTED_S, seq, REAL)
        for boot in (BOOT, EARLIER_BOOT)
        for us, seq in ((5, 5), (5, None), (_MOST, None), (_MOST, _MOST))
    ]
    for position in (kept.counted, kept.told):
        for message in following if position is not None else ():
            assert position is not None
            assert position.missed(message) >= 0
            if not position.covers(message):
                after = position.after(message)
                assert after.covers(message)
                assert LogState(after, position) == read_log_state(
                    with_log_state(written, LogState(after, position))
                )
    for message in following:
        sight = Sight(kept, _NOW_S)
        sight.add([message, message])
        assert len(sight.take().seen) <= 1


def _changed_record(content: bytes, chance: random.Random) -> bytes:
    """One number, or one word, of the records changed."""
    if chance.random() < 0.5:
        return reworded(content, chance)
    pieces = re.split(rb"([,;\n])", content)
    places = [place for place, piece in enumerate(pieces) if piece.isdigit()]
    pieces[chance.choice(places)] = chance.choice(_NUMBERS)
    return b"".join(pieces)


def _changed_entry(content: bytes, chance: random.Random) -> bytes:
    """One line changed as JSON, or the text that stands in one of its members as a number."""
    lines = content.splitlines()
    place = chance.randrange(len(lines))
    if chance.random() < 0.5:
        lines[place] = broken_json.broken(lines[place], chance).rstrip(b"\n")
        return b"\n".join(lines) + b"\n"
    members = json.loads(lines[place])
    members[chance.choice(sorted(members))] = chance.choice(_NUMBERS).decode()
    lines[place] = json.dumps(members).encode()
    return b"\n".join(lines) + b"\n"


_NUMBERS: Final = (
    b"", b"0", b"-1", b"-5", b"1_0", b" 7 ", b"5.5", b"1e9", b"x", b"9" * 18, b"9" * 19, b"9" * 20,
    b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"9" * 310,
    b"9" * 4300, b"9" * 5000, "٣".encode(),
)  # fmt: skip


def _records() -> list[bytes]:
    return [
        b"6,1,0,-;Linux version 6.1\n" + record(2, 5_000_000, REAL) + b" SUBSYSTEM=pci\n"
        b" DEVICE=+pci:0000:00:1e.0\n" + record(4, 5_000_000, REAL) + record(9, 6_000_000, "x"),
        b"4,7,8,c,caller=T1;NEURON_HW_ERR=DMA_ERROR \\x1b[2J\\x0aNEURON_HW_ERR=X nd-id=1\n",
        b"".join(record(seq, seq, f"NEURON_HW_ERR=E{seq} nd-id={seq}") for seq in range(40)),
    ]


def _entries() -> list[bytes]:
    some = [
        entry(1_000_000, "Linux version 6.1", boot=EARLIER_BOOT, __REALTIME_TIMESTAMP="5000000"),
        entry(5_000_000, REAL, __MONOTONIC_TIMESTAMP="95000000"),
        entry(5_000_000, list(b"\xff NEURON_HW_ERR=X"), _SOURCE_BOOTTIME_TIMESTAMP=None),
        entry(6_000_000, "more"),
    ]
    many = [entry(us, f"NEURON_HW_ERR=E nd-id={us}") for us in range(40)]
    return ["\n".join(lines).encode() + b"\n" for lines in (some, many)]


def _states() -> list[bytes]:
    counted = Position(BOOT, 5_000_000, BOOTED_S, 7, ("4000001:0a1b2c3d", "5000000:00000000"))
    told = Position(EARLIER_BOOT, 9_000_000, BOOTED_S + 4)
    states = (LogState(counted), LogState(counted, told), LogState())
    return [with_log_state(_OF_OTHERS.encoded(), one) for one in states]


_MESSAGES: Final = [
    REAL.encode(),
    f"audit: cmd=NEURON_HW_ERR=X {REAL} nd-id=99999 action={'y' * 80}".encode(),
    b"NEURON_HW_ERR= \x1b[31mnd-id=3 nc-id=0001 action=\xe2\x80\xae\n",
]

RECORDS: Final = Target("kernel records", reads_kernel_records, _records, _changed_record)
JOURNAL: Final = Target("journal entries", reads_journal_entries, _entries, _changed_entry)
FAULTS: Final = Target("hardware faults", reads_a_fault, lambda: _MESSAGES, reworded)
POSITIONS: Final = Target("kernel log positions", reads_a_position, _states, broken_json.broken)
