"""Whether the owners of runtimes can be named, as `run` would name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.instance.machine import INPUTS_OF_THIS_MACHINE
from emitter.owners import Places, reach
from emitter.owners.lookup import OFF
from neuron_emf.check.finding import Finding, not_needed, ok, warning

if TYPE_CHECKING:
    from neuron_emf.check.settings import CheckSettings

CHECK: Final = "attribution"


def check_attribution(settings: CheckSettings) -> Finding:
    """What can be named and what cannot; never a failure, because every number is right without."""
    if settings.attribution == OFF:
        return not_needed(CHECK, "--attribution none names nobody by the pid")
    if settings.input not in INPUTS_OF_THIS_MACHINE:
        return not_needed(CHECK, "the pids in a file may be of another machine")
    found = reach(Places.beside(settings.proc_dir))
    if found.why_not:
        return warning(CHECK, f"nobody is named by the pid: {found.why_not}", found.advice)
    if found.limits:
        return warning(
            CHECK, f"owners are named, but for {' and '.join(found.limits)}", found.advice
        )
    return ok(CHECK, f"owners are named by what {settings.proc_dir} says of their processes")
