"""The scripts of deploy/release, which are no package."""

from __future__ import annotations

from pathlib import Path

import archive
import artefacts
import price_list
import versions

ROOT = Path(__file__).resolve().parents[3]

__all__ = ["ROOT", "archive", "artefacts", "price_list", "versions"]
