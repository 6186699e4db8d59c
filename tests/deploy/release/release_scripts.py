"""The scripts of deploy/release, which are no package."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "deploy/release"))

import archive  # noqa: E402
import artefacts  # noqa: E402
import price_list  # noqa: E402
import versions  # noqa: E402

__all__ = ["ROOT", "archive", "artefacts", "price_list", "versions"]
