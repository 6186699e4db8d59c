"""What the page answers for this moment: its first screen and its alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.errors import SourceError
from neuron_emf.account import account
from neuron_emf.page.alarms import AccountAlarms, RehearsalAlarms
from neuron_emf.page.settings import PageSettings
from neuron_emf.page.view import PageView, UnknownClusterError
from neuron_emf.reading.periods import now_ms as clock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_emf.account import AccountSettings


@dataclass(frozen=True, slots=True)
class TopAnswer:
    """
    One answer.

    Attributes:
        overview: Of the chosen cluster, or of all together, as `/overview.json` of the page.

        alarms: Of the stack, as `/alarms.json` of the page.

        clusters: The overview of each cluster that is shown.
    """

    overview: Mapping[str, Any]
    alarms: Mapping[str, Any]
    clusters: Sequence[Mapping[str, Any]]

    @property
    def members(self) -> dict[str, Any]:
        """What the page answers, for a program."""
        return {"overview": self.overview, "alarms": self.alarms}


class AnswerReader:
    """Asks the page's view, again and again; it reads rollups once a minute at most."""

    def __init__(self, settings: AccountSettings, cluster: str) -> None:
        """
        Nothing is read yet; without a *cluster* all are shown.

        Raises:
            SettingsError: If no client can be made.
            SourceError: If a rehearsal is asked for and none runs.
        """
        looked_at = account(settings)
        alarms = RehearsalAlarms() if looked_at.is_rehearsal else AccountAlarms(looked_at)
        self._view = PageView(looked_at, PageSettings(), alarms, now_ms=clock)
        self._cluster = cluster

    def read(self) -> TopAnswer:
        """
        The answer for now.

        Raises:
            EmitterError: If nobody answers, or there is no such cluster.
        """
        try:
            overview = self._view.overview({"cluster": self._cluster})
            names = [self._cluster] if self._cluster else overview["clusters"]
            clusters = [self._view.overview({"cluster": name}) for name in names]
        except UnknownClusterError as error:
            raise SourceError(str(error)) from error
        return TopAnswer(overview, self._view.alarms({}), clusters)
