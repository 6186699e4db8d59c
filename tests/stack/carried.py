"""The script deploy/wheel/carried.py, which is no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_PATH = Path(__file__).parents[2] / "deploy" / "wheel" / "carried.py"
_SPEC = importlib.util.spec_from_file_location("carried", _PATH)
assert _SPEC
assert _SPEC.loader
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)

release_template = _MODULE.release_template
write_zip = _MODULE.write_zip
