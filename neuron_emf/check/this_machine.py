"""
What `run` would use of this machine.

Owners that can be named, the kernel's messages, and where lines go when not to
CloudWatch Logs: standard output.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import INPUTS_OF_THIS_MACHINE
from emitter.kernel.kmsg import JOURNAL, NONE, choice_for, opener
from emitter.kernel.message import UnreadableLogError
from emitter.owners import Places, reach, sees_sluids
from emitter.owners.lookup import OFF
from emitter.settings.run import LOGS
from neuron_emf.check.result import CheckResult, failed, not_needed, ok, warning

if TYPE_CHECKING:
    from neuron_emf.check.settings import CheckSettings

ATTRIBUTION: Final = "attribution"
KERNEL_LOG: Final = "kernel log"
OUTPUT: Final = "output"
SLUID_ADVICE: Final = (
    "Slurm names control groups here by SLUID: CgroupJobIdPaths=yes in cgroup.conf (26.05.2 and "
    "later) restores the job's number"
)


def check_attribution(settings: CheckSettings) -> CheckResult:
    """What can be named and what cannot; never a failure, because every number is right without."""
    if settings.attribution == OFF:
        return not_needed(ATTRIBUTION, "--attribution none: owners are not named")
    if settings.input not in INPUTS_OF_THIS_MACHINE:
        return not_needed(ATTRIBUTION, "the pids in a file may be of another machine")
    places = Places.beside(settings.proc_dir)
    access = reach(places)
    if access.why_not:
        return warning(ATTRIBUTION, f"owners are not named: {access.why_not}", access.advice)
    if access.limits:
        advice = f"{access.advice}; {SLUID_ADVICE}" if sees_sluids(places) else access.advice
        return warning(
            ATTRIBUTION, f"owners are named, but for {' and '.join(access.limits)}", advice
        )
    return ok(ATTRIBUTION, f"owners are named from {settings.proc_dir}")


def check_kernel_log(settings: CheckSettings) -> CheckResult:
    """Where faults are read; never a failure, because every other number is right without."""
    open_log = opener(choice_for(settings.kernel_messages, settings.input))
    if open_log is None:
        if settings.kernel_messages == NONE:
            return not_needed(KERNEL_LOG, "--kernel-messages none: hardware faults are not counted")
        return not_needed(KERNEL_LOG, "the reports in a file may be of another machine")
    try:
        ring = open_log()
        ring.close()
    except UnreadableLogError as error:
        return warning(
            KERNEL_LOG, "hardware faults are not counted: no permission to read it", str(error)
        )
    counted = f"hardware faults are counted by what {ring.name} says"
    if settings.kernel_messages == JOURNAL:
        advice = "use --kernel-messages auto"
        return warning(KERNEL_LOG, f"{counted}: the journal is no longer read", advice)
    return ok(KERNEL_LOG, counted)


def check_output(settings: CheckSettings) -> CheckResult:
    """Whether the lines can go where `--output` says; nothing is written."""
    if settings.output == LOGS:
        return not_needed(OUTPUT, "lines go to CloudWatch Logs")
    if sys.stdout is None:
        return failed(OUTPUT, "standard output is closed", "open it")
    return ok(OUTPUT, "standard output")
