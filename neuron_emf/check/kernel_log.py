"""Whether hardware faults are counted, as `run` would read the kernel's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.kernel.kmsg import JOURNAL, NONE, choice_for, opener
from emitter.kernel.message import UnreadableLogError
from neuron_emf.check.finding import Finding, not_needed, ok, warning

if TYPE_CHECKING:
    from neuron_emf.check.settings import CheckSettings

CHECK: Final = "kernel log"


def check_kernel_log(settings: CheckSettings) -> Finding:
    """Where faults are read; never a failure, because every other number is right without."""
    open_log = opener(choice_for(settings.kernel_messages, settings.input))
    if open_log is None:
        if settings.kernel_messages == NONE:
            return not_needed(CHECK, "--kernel-messages none counts no hardware fault")
        return not_needed(CHECK, "the reports in a file may be of another machine")
    try:
        ring = open_log()
        ring.close()
    except UnreadableLogError as error:
        return warning(CHECK, "hardware faults are not counted: nobody may read it", str(error))
    counted = f"hardware faults are counted by what {ring.name} says"
    if settings.kernel_messages == JOURNAL:
        advice = "use --kernel-messages auto"
        return warning(CHECK, f"{counted}: the journal is no longer read", advice)
    return ok(CHECK, counted)
