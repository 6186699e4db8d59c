"""
Bytes the runtimes hold, as of the last report that had the memory group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.fold.amounts import amount
from emitter.fold.held import usable_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emitter.reports.groups import Runtime


def used_bytes(runtimes: Sequence[Runtime] | None) -> tuple[int | None, int | None]:
    """
    Device and host memory that *runtimes* use, or None where it was not read.

    Without a runtime nobody holds a byte; None instead of runtimes says that
    nothing was collected.
    """
    if runtimes is None:
        return None, None
    if not runtimes:
        return 0, 0
    groups = [memory for one in runtimes if (memory := usable_memory(one)) is not None]
    used = [one.neuron_runtime_used_bytes for one in groups]
    device = _sum(amount(one.neuron_device) for one in used if one is not None)
    host = _sum(amount(one.host) for one in used if one is not None)
    if device == 0 and any(one.loaded_models for one in groups):
        # inf1 says 0 while models are loaded: it does not measure this.
        device = None
    return device, host


def _sum(sizes: Iterable[int | None]) -> int | None:
    read = [size for size in sizes if size is not None]
    return sum(read) if read else None
