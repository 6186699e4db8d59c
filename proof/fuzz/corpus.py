"""Inputs that once broke a promise: each is read again by every run of the tests."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent / "found"


def folder_of(name: str, root: Path = FOLDER) -> Path:
    """Where the inputs of the target called *name* are."""
    return root / re.sub(r"[^a-z]+", "-", name.lower())


def keep(name: str, content: bytes, root: Path = FOLDER) -> Path:
    """Keep *content* under a name made of it; the file."""
    folder = folder_of(name, root)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(content).hexdigest()[:12]
    path.write_bytes(content)
    return path


def kept(name: str, root: Path = FOLDER) -> list[Path]:
    """The files of the target called *name*."""
    folder = folder_of(name, root)
    return sorted(folder.iterdir()) if folder.exists() else []
