"""
Import modules of a package without running the package's own `__init__`.

For a library whose `__init__` imports, for everybody's convenience, what only
some need. Knows no library; `importlib` and `sys.modules` as documented.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_init(package: str) -> Iterator[None]:
    """
    While this is open, `from package.module import name` does not run `package/__init__.py`.

    Afterwards the package counts as not imported, so whoever imports it next
    gets it whole, with the very modules that were loaded here. A package that
    is already imported, or not installed, is left as it is.
    """
    spec = None if package in sys.modules else importlib.util.find_spec(package)
    if spec is None:
        yield
        return
    sys.modules[package] = importlib.util.module_from_spec(spec)  # its folder, not its code
    try:
        yield
    finally:
        del sys.modules[package]
