"""
Resolve the instance ID, and hide personal names with `--attribution team`.

With `--attribution team`, no text names a person. Names of pods, jobs, units and processes, tags of
runtimes, the instance's tag Name and texts of other programs come from other people, and often
contain their names. A namespace, a Slurm account and the tag `team` of an ECS task name a team.
Values that the operator set, such as `--tag`, stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from msgspec import structs

from neuron_emitter.fold import LineIdentity
from neuron_emitter.instance.instance_facts import InstanceFacts
from neuron_emitter.instance.machine import guessed_instance_id
from neuron_emitter.kernel import KernelFaults
from neuron_emitter.logs import EventQueue

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emitter.fold import Fold
    from neuron_emitter.logs import Clock, Event
    from neuron_emitter.owners.assignments import Assignments, RuntimeOwner
    from neuron_emitter.owners.lookup import OwnerLookup
    from neuron_emitter.owners.reservations import Reservations
    from neuron_emitter.reports.report import Report
    from neuron_emitter.settings import MinuteSettings

GUESS_AFTER_S: Final = 300.0
"""
Seconds to wait for a report that names the instance before an ID is generated.

A generated ID that is corrected later leaves an instance behind that never existed, and that the
stack would report as silent.
"""

_NO_INSTANCE_FACTS: Final = InstanceFacts()

_ERROR: Final = "Error"
_TEXT_DETAILS: Final = frozenset({_ERROR, "KernelMessage", "Stderr"})
"""Details of events that contain other programs' texts."""


@dataclass(frozen=True, slots=True)
class LocalSources:
    """
    Sources of facts about this machine, apart from the reports.

    Attributes:
        facts: Waits for the metadata service for a number of seconds; returns the known facts.

        owners: Finds the owner of a process; None if owners are not named.

        reservations: The scheduler's assignments; None if no scheduler is read.

        faults: Hardware faults in the kernel's messages.

        events: Events of the monitor, the fold and the spool.

        guessed_id: Makes the instance ID to use until a source names the instance.
    """

    facts: Callable[[float], InstanceFacts] = lambda _timeout_s: _NO_INSTANCE_FACTS
    owners: OwnerLookup | None = None
    reservations: Reservations | None = None
    faults: KernelFaults = field(default_factory=KernelFaults)
    events: EventQueue = field(default_factory=EventQueue)
    guessed_id: Callable[[], str] = guessed_instance_id

    def owner_of(self, pid: int) -> RuntimeOwner | None:
        """Return the owner of process *pid*, None if unknown."""
        return None if self.owners is None else self.owners.owner_of(pid)

    def current_assignments(self) -> Assignments | None:
        """Return the scheduler's assignments as last read, None if no scheduler is read."""
        return None if self.reservations is None else self.reservations.current_assignments()


class Identification:
    """The instance ID: from reports or the metadata service, as set, or generated."""

    def __init__(
        self,
        settings: MinuteSettings,
        fold: Fold,
        sources: LocalSources,
        clock: Clock,
        *,
        is_monitor: bool,
    ) -> None:
        self._fold = fold
        self._sources = sources
        self._facts: InstanceFacts | None = None
        self._set_facts = InstanceFacts(instance_type=settings.instance_type)
        self._clock = clock
        self._started_s = clock()
        self._is_guessed = settings.instance_id is None
        self._fallback_id = settings.instance_id or sources.guessed_id()
        # Reports from a pipe may be of another instance.
        self._is_named = fold.instance.instance_id is not None or is_monitor

    @property
    def instance_id(self) -> str:
        """The best known instance ID."""
        return self._fold.instance.instance_id or self._fallback_id

    def is_settled(self) -> bool:
        """Return True if lines may be written with this instance ID."""
        return (
            (self._is_named and self._fold.instance.instance_id is not None)
            or not self._is_guessed
            or self._fold.reports_read > 0
            or self._clock() - self._started_s > GUESS_AFTER_S
        )

    def learn_facts(self, timeout_s: float) -> None:
        """Add the metadata service's facts to the fold, waiting *timeout_s* for them."""
        facts = self._sources.facts(timeout_s)
        if facts is not self._facts:  # they rarely change
            self._facts = facts
            self._fold.learn_facts(facts.with_fallback(self._set_facts))

    def is_local(self) -> bool:
        """Return True if the reports may be of this machine: then its owners count."""
        here = self._facts and self._facts.instance_id
        return not here or here == (self._fold.instance.instance_id or here)

    def line_identity(self, cluster: str, boot: str) -> LineIdentity:
        """Return the members of every line that identify its sender."""
        instance = self._fold.instance
        return LineIdentity(
            cluster=cluster,
            instance_id=self.instance_id,
            identity_guessed=instance.instance_id is None and self._is_guessed,
            boot=boot,
            instance_type=instance.instance_type,
            ami_id=instance.ami_id,
        )


def without_names(report: Report) -> Report:
    """Remove tags of runtimes and the instance's name; pods stay, because the fold needs them."""
    runtimes = report.neuron_runtime_data
    info = report.instance_info
    if runtimes is not None:
        runtimes = [structs.replace(runtime, neuron_runtime_tag=None) for runtime in runtimes]
    if info is not None:
        info = structs.replace(info, instance_name=None)
    return structs.replace(report, neuron_runtime_data=runtimes, instance_info=info)


def without_texts(event: Event) -> Event:
    """Remove texts that other programs wrote; the log on the instance has them."""
    details = {name: detail for name, detail in event.details.items() if name not in _TEXT_DETAILS}
    message = event.message
    if error := event.details.get(_ERROR):
        message = message.removesuffix(f": {error}")
    return replace(event, message=message, details=details)
