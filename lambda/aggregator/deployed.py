"""What a function is given once and keeps while it is warm: its settings and the table."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from aggregator import environment
from aggregator.storage import store

if TYPE_CHECKING:
    from aggregator.storage.table import Table


@cache
def stack() -> tuple[environment.Environment, Table]:
    """
    The settings of this function, checked, and the table they name.

    Raises:
        SettingError: If a setting is missing or out of range.
    """
    found = environment.read(os.environ)
    return found, store.connect(found.table_name)


if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
    stack()  # while Lambda still gives the start of a function a whole processor
