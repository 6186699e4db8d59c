"""Whether owners are looked up in this run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from emitter.owners.lookup import OwnerLookup
from emitter.owners.places import Places
from emitter.owners.reach import reach

if TYPE_CHECKING:
    from pathlib import Path

OFF: Final = "none"
OF_THIS_MACHINE: Final = frozenset({"monitor", "-"})
"""Inputs whose pids are processes of this machine; a file may be of any."""

_log = logging.getLogger(__name__)


def owners_of(attribution: str, source: str, proc: Path) -> OwnerLookup | None:
    """
    Who names the owners of pids in reports from *source*; None where their numbers mean nothing.

    The caller closes it.
    """
    if attribution == OFF or source not in OF_THIS_MACHINE:
        return None
    places = Places.beside(proc)
    here = reach(places)
    if here.why_not:
        _log.warning("no owner is named by its pid: %s; %s", here.why_not, here.advice)
        return None
    return OwnerLookup(places)
