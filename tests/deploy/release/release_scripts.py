"""The scripts of deploy/release, which are no package."""

from __future__ import annotations

import archive
import artefacts
import price_list
import versions

__all__ = ["archive", "artefacts", "price_list", "versions"]
