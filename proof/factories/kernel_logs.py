"""Kernel logs of a test: a machine's root folder, a ring that can be written to, a journalctl."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from emitter.kernel.message import KernelMessage

if TYPE_CHECKING:
    from pathlib import Path

BOOT = "a7182b855fc847cf8c83b2b9740783cc"
EARLIER_BOOT = "0123456789abcdef0123456789abcdef"
BOOTED_S = 1_760_000_000.0
"""When the kernel of a test began, seconds since the Unix epoch."""

REAL = (
    "NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322"
    " hostname=ip-172-31-61-252 nd-id=0 nc-id=1 serial-num=19fcda00f5ff6eb9"
    " action=TERMINATE_INSTANCE"
)
"""As https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-troubleshoot.html
has it, but for the core."""


def message(us, seq=None, text="", *, boot=BOOT):
    """A message as it was read, *us* after the boot."""
    at_s = BOOTED_S + us / 1e6
    return KernelMessage(boot_id=boot, since_boot_us=us, at_s=at_s, seq=seq, text=text)


def fault(us, seq=None, code="DMA_ERROR", device=0, *, boot=BOOT):
    """A message that tells of a fault."""
    return message(us, seq, f"neuron: NEURON_HW_ERR={code} nd-id={device}", boot=boot)


def record(seq, us, text, priority=4):
    """The same as /dev/kmsg gives it."""
    escaped = "".join(
        letter if letter.isprintable() and letter != "\\" else f"\\x{ord(letter):02x}"
        for letter in text
    )
    return f"{priority},{seq},{us},-;{escaped}\n".encode()


def entry(us, text, *, boot=BOOT, **members):
    """The same as journalctl writes it."""
    found = {
        "_BOOT_ID": boot,
        "_SOURCE_BOOTTIME_TIMESTAMP": str(us),
        "_SOURCE_MONOTONIC_TIMESTAMP": str(us),
        "__REALTIME_TIMESTAMP": str(int((BOOTED_S * 1e6) + us)),
        "MESSAGE": text,
        "__CURSOR": f"s={us}",
        **members,
    }
    return json.dumps({name: value for name, value in found.items() if value is not None})


class Machine:
    """A root folder with the id of a boot and a ring, which is a file that grows."""

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
        """Have the kernel say something."""
        self.seq += 1
        with self.ring.open("ab") as ring:
            ring.write(record(self.seq, us, text))

    def overwrite(self, records):
        """Forget the oldest *records*, as a ring does."""
        lines = self.ring.read_bytes().splitlines(keepends=True)
        self.ring.write_bytes(b"".join(lines[records:]))


class JournalCommand:
    """A journalctl that says what a file says, and then waits; its calls are written down."""

    def __init__(self, folder: Path) -> None:
        self.entries = folder / "journal.jsonl"
        self.calls = folder / "journal.calls"
        self.program = folder / "journalctl"
        self.entries.write_text("", "utf-8")
        self.program.write_text(
            "#!/bin/sh\n"
            f'echo "$@" >>"{self.calls}"\n'
            'case "$*" in\n'
            f'*--follow*) exec tail -n +1 -f "{self.entries}" ;;\n'
            f'*) tail -n 1 "{self.entries}" ;;\n'
            "esac\n",
            "utf-8",
        )
        self.program.chmod(0o755)

    @property
    def command(self):
        """How it is called."""
        return (str(self.program),)

    def write(self, us, text, **members):
        """Have journald keep something."""
        with self.entries.open("a", encoding="utf-8") as entries:
            entries.write(entry(us, text, **members) + "\n")


def pipe(folder):
    """A named pipe that somebody has open for writing: its path, and the writer's end."""
    path = folder / "pipe"
    os.mkfifo(path)
    return path, os.open(path, os.O_RDWR | os.O_NONBLOCK)
