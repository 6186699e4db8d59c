"""
Who this instance is when no report says so.
"""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path
from typing import Final

MACHINE_ID_FILE: Final = Path("/etc/machine-id")
NO_MACHINE_ID: Final = "uninitialized"  # what an image has before its first boot


def guessed_instance_id(machine_id_file: Path = MACHINE_ID_FILE) -> str:
    """
    A name that stays the same over restarts, such as `host-3f2a9c0d1e4b5a67`.

    It is a hash: the machine id itself is not to be published (machine-id(5)).
    """
    try:
        seed = machine_id_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        seed = ""
    if seed == NO_MACHINE_ID:
        seed = ""
    digest = hashlib.sha256(f"neuron-emf {seed or socket.gethostname()}".encode())
    return f"host-{digest.hexdigest()[:16]}"
