"""What the kernel says, and how far an earlier run wrote that it had read."""

from __future__ import annotations

import json
import math
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from emitter.fold.state import FoldState, read_state, with_kernel
from emitter.kernel import KernelFaults
from emitter.kernel.detector import FaultDetector
from emitter.kernel.fault_events import MAX_EVENTS
from emitter.kernel.hardware_fault import MAX_TEXT_CHARS, MAX_WORD_CHARS, read_fault
from emitter.kernel.kmsg import KernelRing
from emitter.kernel.message import MAX_TEXT_BYTES, KernelMessage
from emitter.kernel.position import LogState, Position
from emitter.lines import LineIdentity, Lines, LineSettings
from neuron_wire.extraction import MAX_LINE_BYTES
from neuron_wire.line import OtherRecord, parse
from proof.factories.kernel_logs import BOOT, BOOTED_S, EARLIER_BOOT, REAL, PlayedWatch, record
from proof.fuzz import broken_json
from proof.fuzz.target import Target, reworded

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence


_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
_RING: Final = Path(_FOLDER.name) / "kmsg"
_NOW_S: Final = BOOTED_S + 1000.0
_MOST: Final = (1 << 63) - 1
_OF_OTHERS: Final = FoldState(instance_id="i-0123456789abcdef0", cores=2)
_IDENTITY: Final = LineIdentity("blue", "i-0123456789abcdef0", False, "b")  # noqa: FBT003 - not guessed
_LINES: Final = Lines(LineSettings())
_LAST_SEQ: Final = 1 << 40
_LAST: Final = record(_LAST_SEQ, 10**15, REAL)


def _require_message(message: KernelMessage) -> None:
    assert re.fullmatch("[0-9a-f]{32}", message.boot_id)
    assert 0 <= message.since_boot_us <= _MOST
    assert 0 <= message.seq <= _MOST
    assert math.isfinite(message.at_s)
    assert len(message.text) <= MAX_TEXT_BYTES


def _position_after(messages: Sequence[KernelMessage]) -> Position | None:
    """Where the log is after *messages*: each is covered from then on."""
    position = None
    for message in messages:
        if position is None or not position.covers(message):
            position = Position.of(message)
            assert position.covers(message)
            assert 0 == position.missed(message)
    return position


def _counted(messages: Sequence[KernelMessage], state: LogState) -> set[KernelMessage]:
    """Those of *messages* that a run counts which begins with *state*."""
    detector, messages_counted = FaultDetector(state, 0.0), set()
    for message in messages:
        before = detector.waiting
        detector.add([message])
        if detector.waiting > before:
            messages_counted.add(message)
    return messages_counted


def _counts_each_once(messages: Sequence[KernelMessage]) -> None:
    """
    A restart reads what was written and counts nothing again; every event is a line of the stack.
    """
    for message in messages:
        _require_message(message)
    watch: Any = PlayedWatch()
    watch.say(*messages)
    faults = KernelFaults(watch)
    events = faults.events(_NOW_S, is_end=True)
    if not messages:
        assert faults.told is None
        return
    assert LogState(_position_after(messages)) == faults.counted
    assert len(_counted(messages, LogState())) == faults.count
    assert len(events) <= MAX_EVENTS + 3
    for event in events:
        assert event.message.isprintable()
        assert len(event.message) < 500
        assert 0 <= event.at_s <= _NOW_S
        line = _LINES.event(event, _IDENTITY, seq=2)
        assert len(line.encode()) < MAX_LINE_BYTES
        assert isinstance(parse(line), OtherRecord)
    for log in (faults.told or LogState(), faults.counted):
        assert replace(_OF_OTHERS, kernel=log) == read_state(with_kernel(_OF_OTHERS.encoded(), log))
    assert not _counted(messages, LogState()) & _counted(messages, faults.counted)


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
    """What is read of a state is written and read again, and the reading goes on from there."""
    kept = read_state(content)
    assert kept == read_state(kept.encoded())
    following = [
        KernelMessage(boot, us, BOOTED_S, seq, REAL)
        for boot in (BOOT, EARLIER_BOOT)
        for us, seq in ((5, 5), (_MOST, 5), (5, _MOST), (_MOST, _MOST))
    ]
    for position in (kept.kernel.counted, kept.kernel.told):
        for message in following if position is not None else ():
            assert position is not None
            assert position.missed(message) >= 0
            log = LogState(Position.of(message), position)
            assert replace(kept, kernel=log) == read_state(with_kernel(content, log))
    for message in following:
        detector = FaultDetector(kept.kernel, _NOW_S)
        detector.add([message, message])
        assert len(detector.take().faults) <= 1


def _changed_record(content: bytes, chance: random.Random) -> bytes:
    """One number, or one word, of the records changed."""
    if chance.random() < 0.5:
        return reworded(content, chance)
    pieces = re.split(rb"([,;\n])", content)
    places = [place for place, piece in enumerate(pieces) if piece.isdigit()]
    pieces[chance.choice(places)] = chance.choice(_NUMBERS)
    return b"".join(pieces)


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


def _states() -> list[bytes]:
    counted, told = Position(BOOT, 7), Position(EARLIER_BOOT, None, 9_000_000)
    states = (LogState(counted), LogState(counted, told), LogState())
    return [replace(_OF_OTHERS, kernel=log).encoded() for log in states]


_MESSAGES: Final = [
    REAL.encode(),
    f"audit: cmd=NEURON_HW_ERR=X {REAL} nd-id=99999 action={'y' * 80}".encode(),
    b"NEURON_HW_ERR= \x1b[31mnd-id=3 nc-id=0001 action=\xe2\x80\xae\n",
]

RECORDS: Final = Target("kernel records", reads_kernel_records, _records, _changed_record)
FAULTS: Final = Target("hardware faults", reads_a_fault, lambda: _MESSAGES, reworded)
POSITIONS: Final = Target("kernel log positions", reads_a_position, _states, broken_json.broken)
