"""Kernel logs for tests: a machine's root folder with a ring that a test can write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from neuron_emitter.kernel.detector import FaultDetector, LogState
from neuron_emitter.kernel.kmsg import KernelMessage

if TYPE_CHECKING:
    from pathlib import Path

KERNEL_BOOT = "a7182b855fc847cf8c83b2b9740783cc"
KERNEL_BOOTED_S = 1_760_000_000.0
"""Boot time of the test's kernel, seconds since the Unix epoch."""

REAL = (
    "NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322"
    " hostname=ip-172-31-61-252 nd-id=0 nc-id=1 serial-num=19fcda00f5ff6eb9"
    " action=TERMINATE_INSTANCE"
)
"""
The message in AWS's documentation, with a core:

https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-troubleshoot.html
"""


def message(us, seq=None, text="", *, boot=KERNEL_BOOT):
    """Return a message *us* after the boot. Its number is *us* unless *seq* is given."""
    at_s = KERNEL_BOOTED_S + us / 1e6
    number = us if seq is None else seq
    return KernelMessage(boot_id=boot, at_s=at_s, seq=number, text=text)


def fault(us, seq=None, code="DMA_ERROR", device=0, *, boot=KERNEL_BOOT):
    """Return a message with a fault."""
    return message(us, seq, f"neuron: NEURON_HW_ERR={code} nd-id={device}", boot=boot)


def record(seq, us, text, priority=4):
    """Return a message in the format of /dev/kmsg."""
    escaped = "".join(
        letter if letter.isprintable() and letter != "\\" else f"\\x{ord(letter):02x}"
        for letter in text
    )
    return f"{priority},{seq},{us},-;{escaped}\n".encode()


class LoggingMachine:
    """A root folder with a boot ID and a ring, which is a growing file."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.ring = folder / "dev" / "kmsg"
        self.seq = 0
        place = folder / "proc" / "sys" / "kernel" / "random"
        place.mkdir(parents=True)
        self.ring.parent.mkdir()
        (place / "boot_id").write_text("a7182b85-5fc8-47cf-8c83-b2b9740783cc\n", "ascii")
        self.ring.write_bytes(b"")

    def write(self, us, text):
        """Append a message to the ring."""
        self.seq += 1
        with self.ring.open("ab") as ring:
            ring.write(record(self.seq, us, text))


def pipe(folder):
    """Return the path and the write end of a named pipe that is open for writing."""
    path = folder / "pipe"
    os.mkfifo(path)
    return path, os.open(path, os.O_RDWR | os.O_NONBLOCK)


class FakeWatch:
    """A watch without its thread, which reads the messages of `say`."""

    def __init__(self, state=None, *, is_reading=True, now_s=0.0):
        self.state = state or LogState()
        self.is_reading = is_reading
        self.detector = FaultDetector(self.state, now_s)

    def say(self, *messages):
        """Add *messages* to the kernel log."""
        self.detector.read_messages(messages)

    def take_detection(self):
        """Return the detection since the last call."""
        return self.detector.take_detection()
