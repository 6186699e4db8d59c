"""
Which instance the lines of a run are of, what is known of it beside its reports, and whom to name.

With `--attribution team` nothing names a person. Names of pods, jobs, units and processes, tags
of runtimes, the instance's tag Name and texts of other programs are other people's words, and
often their names. A namespace, a Slurm account and the tag `team` of an ECS task name a team.
What the operator gave, such as `--tag`, stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from msgspec import structs

from neuron_emitter.fold import LineIdentity
from neuron_emitter.instance.facts import InstanceFacts
from neuron_emitter.instance.machine import guessed_instance_id
from neuron_emitter.kernel import KernelFaults
from neuron_emitter.logs import EventQueue
from neuron_emitter.settings.run import MONITOR_INPUT

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emitter.fold import Fold
    from neuron_emitter.logs import Clock, Event
    from neuron_emitter.owners.assignments import Assignments, RuntimeOwner
    from neuron_emitter.owners.lookup import OwnerLookup
    from neuron_emitter.owners.reservations import Reservations
    from neuron_emitter.reports.report import Report
    from neuron_emitter.settings import RunSettings

GUESS_AFTER_S: Final = 300.0
"""How long to wait for a report to name the instance before a guess does.

A guess that is corrected later leaves an instance behind that never existed,
and that the stack would call silent.
"""

_NO_FACTS: Final = InstanceFacts()

_ERROR: Final = "Error"
_TEXT_MEMBERS: Final = frozenset({_ERROR, "KernelMessage", "Stderr"})
"""Details of events that other programs wrote."""


@dataclass(frozen=True, slots=True)
class LocalSources:
    """
    Sources of facts about this machine, apart from the reports.

    Attributes:
        facts: Waits so many seconds for the metadata service; returns what is known by then.

        owners: Finds the owner of a process; None where owners are not named.

        reservations: Assignments of the scheduler; None without attribution.

        faults: Hardware faults in the kernel's messages.

        events: Those of the monitor and of the spool.
    """

    facts: Callable[[float], InstanceFacts] = lambda _timeout_s: _NO_FACTS
    owners: OwnerLookup | None = None
    reservations: Reservations | None = None
    faults: KernelFaults = field(default_factory=KernelFaults)
    events: EventQueue = field(default_factory=EventQueue)


class Identification:
    """
    The instance ID: as given, else from reports or the metadata service, else a guess.

    Owners and reservations of this machine are used only for its own reports.

    Attributes:
        fallback_id: The instance ID to use until a report or the metadata service names one.

        is_guessed: Whether that ID is a guess.
    """

    def __init__(
        self,
        settings: RunSettings,
        fold: Fold,
        sources: LocalSources,
        clock: Clock,
    ) -> None:
        self._fold = fold
        self._sources = sources
        self._facts: InstanceFacts | None = None
        self._configured_facts = InstanceFacts(instance_type=settings.instance_type)
        self._clock = clock
        self._started_s = clock()
        self.is_guessed = settings.instance_id is None
        self.fallback_id = settings.instance_id or guessed_instance_id()
        # Reports from a pipe may be of another instance than this one.
        self._is_named = fold.instance.instance_id is not None or settings.input == MONITOR_INPUT

    @property
    def instance_id(self) -> str:
        """The best instance ID so far."""
        return self._fold.instance.instance_id or self.fallback_id

    def is_settled(self) -> bool:
        """Whether lines may be written under that name."""
        return (
            (self._is_named and self._fold.instance.instance_id is not None)
            or not self.is_guessed
            or self._fold.reports_read > 0
            or self._clock() - self._started_s > GUESS_AFTER_S
        )

    def learn_facts(self, timeout_s: float) -> None:
        """Give the fold what the metadata service has answered, waiting *timeout_s* for it."""
        facts = self._sources.facts(timeout_s)
        if facts is not self._facts:  # nearly always they are as before
            self._facts = facts
            self._fold.learn_facts(facts.with_fallback(self._configured_facts))

    def owner_of(self, pid: int) -> RuntimeOwner | None:
        """The owner of process *pid*, None when it is not known."""
        if self._sources.owners is None or not self._is_local():
            return None
        return self._sources.owners.owner_of(pid)

    def current_assignments(self) -> Assignments | None:
        """Return the assignments of the scheduler, as last read."""
        if self._sources.reservations is None or not self._is_local():
            return None
        return self._sources.reservations.current_assignments()

    def _is_local(self) -> bool:
        """Whether the reports may be of this machine."""
        here = self._facts and self._facts.instance_id
        return not here or here == (self._fold.instance.instance_id or here)

    def line_identity(self, cluster: str, boot: str) -> LineIdentity:
        """The members of every line that identify its sender."""
        who = LineIdentity(cluster, self.fallback_id, self.is_guessed, boot)
        return self._fold.identify(who)


def without_names(report: Report) -> Report:
    """Remove tags of runtimes and the instance's name; pods stay, because the fold needs them."""
    runtimes, info = report.neuron_runtime_data, report.instance_info
    if runtimes is not None:
        runtimes = [structs.replace(runtime, neuron_runtime_tag=None) for runtime in runtimes]
    if info is not None:
        info = structs.replace(info, instance_name=None)
    return structs.replace(report, neuron_runtime_data=runtimes, instance_info=info)


def without_texts(event: Event) -> Event:
    """Remove texts that other programs wrote; the log on the instance has them."""
    details = {name: detail for name, detail in event.details.items() if name not in _TEXT_MEMBERS}
    message = event.message
    if error := event.details.get(_ERROR):
        message = message.removesuffix(f": {error}")
    return replace(event, message=message, details=details)
