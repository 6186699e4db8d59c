"""Which instance the lines of a run are of, and what is known of it beside its reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.fold import RuntimeOwner
from emitter.instance.facts import InstanceFacts
from emitter.instance.machine import guessed_instance_id
from emitter.kernel import KernelFaults
from emitter.lines import LineIdentity
from emitter.settings.run import MONITOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.fold import Fold
    from emitter.owners import OwnerLookup, Reservations
    from emitter.owners.given import Given
    from emitter.settings import RunSettings

PATIENCE_S: Final = 300.0
"""How long to wait for a report to name the instance before a guess does.

A guess that is corrected later leaves an instance behind that never existed,
and that the stack would call silent.
"""

_NO_FACTS: Final = InstanceFacts()


@dataclass(frozen=True, slots=True)
class LocalSources:
    """
    What is known of this machine beside the reports.

    Attributes:
        facts: Waits so many seconds for the metadata service; what is known by then.

        owners: Finds the owner of a process; None where owners are not named.

        reservations: What the scheduler has given to jobs; None where there is none.

        faults: Hardware faults in the kernel's messages.
    """

    facts: Callable[[float], InstanceFacts] = lambda _timeout_s: _NO_FACTS
    owners: OwnerLookup | None = None
    reservations: Reservations | None = None
    faults: KernelFaults = field(default_factory=KernelFaults)


class Identification:
    """
    What was given, what the reports and the metadata service say, else a guess.

    Owners and reservations of this machine count only for reports that are of it.

    Attributes:
        fallback_id: The instance id where nothing names one.

        is_guessed: Whether that id is our own guess.
    """

    def __init__(
        self,
        settings: RunSettings,
        fold: Fold,
        sources: LocalSources,
        clock: Callable[[], float],
    ) -> None:
        self._fold = fold
        self._sources = sources
        self._facts: InstanceFacts | None = None
        self._clock = clock
        self._started_s = clock()
        self._is_given = settings.instance_id is not None
        self.is_guessed = not self._is_given
        self.fallback_id = settings.instance_id or guessed_instance_id()
        # Reports from a pipe may be of another instance than this one.
        self._is_named = fold.instance.instance_id is not None or settings.input == MONITOR

    @property
    def instance_id(self) -> str:
        """The best name there is now."""
        return self._fold.instance.instance_id or self.fallback_id

    def is_settled(self) -> bool:
        """Whether lines may be written under that name."""
        return (
            (self._is_named and self._fold.instance.instance_id is not None)
            or self._is_given
            or self._fold.reports_read > 0
            or self._clock() - self._started_s > PATIENCE_S
        )

    def learn_facts(self, timeout_s: float) -> None:
        """Give the fold what the metadata service has answered, waiting *timeout_s* for it."""
        facts = self._sources.facts(timeout_s)
        if facts is not self._facts:  # nearly always they are as before
            self._facts = facts
            self._fold.learn_facts(facts)

    def owner_of(self, pid: int) -> RuntimeOwner | None:
        """Whose process *pid* is, None where that is not known."""
        if self._sources.owners is None or not self._is_local():
            return None
        owner = self._sources.owners.owner_of(pid)
        if owner is None:
            return None
        return RuntimeOwner(owner.name, owner.team, owner.gone, owner.is_placed)

    def given(self) -> Given | None:
        """What the scheduler has given to jobs by now."""
        if self._sources.reservations is None or not self._is_local():
            return None
        return self._sources.reservations.current_given()

    def _is_local(self) -> bool:
        """Whether the reports are not known to be of another instance than this one."""
        here = self._facts and self._facts.instance_id
        return not here or here == (self._fold.instance.instance_id or here)

    def line_identity(self, cluster: str, boot: str) -> LineIdentity:
        """What every line says of where it comes from."""
        instance = self._fold.instance
        return LineIdentity(
            cluster=cluster,
            instance_id=instance.instance_id or self.fallback_id,
            identity_guessed=instance.instance_id is None and self.is_guessed,
            boot=boot,
            instance_type=instance.instance_type,
            ami_id=instance.ami_id,
        )
