"""Which instance the lines of a run are of, and whether that is known well enough to write one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.instance.machine import guessed_instance_id
from emitter.lines import LineIdentity
from emitter.settings.run import MONITOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.fold import Fold
    from emitter.instance.facts import InstanceFacts
    from emitter.settings import RunSettings

PATIENCE_S: Final = 300.0
"""How long to wait for a report to name the instance before a guess does.

A guess that is corrected later leaves an instance behind that never existed,
and that the stack would call silent.
"""


class Identification:
    """
    What was given, what the reports and the metadata service say, else a guess.

    Attributes:
        fallback_id: The instance id where nothing names one.

        is_guessed: Whether that id is nobody's word but ours.
    """

    def __init__(self, settings: RunSettings, fold: Fold, clock: Callable[[], float]) -> None:
        self._fold = fold
        self._clock = clock
        self._started_s = clock()
        self._is_given = settings.instance_id is not None
        self.is_guessed = not self._is_given
        self.fallback_id = settings.instance_id or guessed_instance_id()
        # Reports that somebody pipes to us may be of another instance than this one.
        self._is_named = fold.instance_id is not None or settings.input == MONITOR

    @property
    def instance_id(self) -> str:
        """The best name there is now."""
        return self._fold.instance_id or self.fallback_id

    def is_settled(self) -> bool:
        """Whether lines may be written under that name."""
        return (
            (self._is_named and self._fold.instance_id is not None)
            or self._is_given
            or self._fold.reports_read > 0
            or self._clock() - self._started_s > PATIENCE_S
        )

    def is_of_here(self, facts: InstanceFacts | None) -> bool:
        """Whether the reports are not known to be of another instance than *facts* are of."""
        here = facts and facts.instance_id
        return not here or here == (self._fold.instance_id or here)

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
