"""
Records that the destination refuses whatever they are sent with, kept for people.

A file of JSON lines beside the spool, and the one before it: `quarantine.jsonl`
and `quarantine.1.jsonl`. Nothing reads them again.
"""

from __future__ import annotations

import errno
import json
import os
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from emitter.spool.records import SpooledRecord

FILE_NAME: Final = "quarantine.jsonl"
OLD_FILE_NAME: Final = "quarantine.1.jsonl"
MAX_BYTES: Final = 1 << 20  # of a file; a longer line has a file to itself


def keep(directory: Path, records: Iterable[SpooledRecord], why: str, now_s: float) -> None:
    """
    Write *records* down with the reason, in the words of whoever refused them.

    Raises:
        OSError:
            If they cannot be written.
    """
    at = datetime.fromtimestamp(now_s, timezone.utc)
    for record in records:
        entry = {
            "Time": f"{at:%Y-%m-%dT%H:%M:%S}Z",
            "Boot": record.boot,
            "Seq": record.seq,
            "Timestamp": record.timestamp_ms,
            "Why": why,
            "Line": record.line,
        }
        _append(directory, f"{json.dumps(entry)}\n".encode())


def _append(directory: Path, line: bytes) -> None:
    path = directory / FILE_NAME
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        size = 0
    if size and size + len(line) > MAX_BYTES:
        path.replace(directory / OLD_FILE_NAME)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.write(file, line) < len(line):
            os.ftruncate(file, size)  # half a line would spoil the next one too
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)
