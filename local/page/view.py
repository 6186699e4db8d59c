"""
Everything that the page shows, as JSON values.

What was made for one tab is kept for a moment for the others, and one thread
makes it while they wait.
"""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from local.page.alarms import AlarmBoard
from local.page.cores import cores
from local.page.dashboard import Dashboard, Widget
from local.page.graph import graph
from local.page.log_table import log_table
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from local.alarms import MetricHistory, Template
    from local.page.log_lines import LogLines

FRESH_S: Final = 5.0
"""How old what a tab gets may be."""


class UnknownClusterError(ValueError):
    """There is no such cluster."""


@dataclass(frozen=True, slots=True)
class AccountEndpoint:
    """
    Where the rehearsal's account is, for commands that look at it.

    Attributes:
        endpoint_url: Of the embedded AWS, `http://127.0.0.1:PORT`.

        log_group: Of the emitters' lines.

        rollups_log_group: Of the rollups.
    """

    endpoint_url: str
    region: str
    log_group: str
    rollups_log_group: str
    stack_name: str

    def members(self) -> dict[str, str]:
        """As commands read it."""
        return asdict(self)


class DashboardView:
    """
    One dashboard on the metrics and lines of one account.

    Attributes:
        place: Where that account is.
    """

    def __init__(
        self,
        template: Template,
        history: MetricHistory,
        lines: LogLines,
        place: AccountEndpoint,
        limits: Sequence[str] = (),
        *,
        now_s: Callable[[], float] = time.time,
        fresh_s: float = FRESH_S,
    ) -> None:
        """
        Show the dashboard of *template*; with *fresh_s* 0 it is made anew each time.

        Raises:
            DashboardError: If the page does not know what the dashboard uses.
        """
        self.place = place
        self._dashboard = Dashboard.of(template)
        self._lines = lines
        self._limits = list(limits)
        self._now_s = now_s
        self._fresh_s = fresh_s
        self._history = history
        self._alarms = AlarmBoard(template, history, now_s)
        self._made: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def page(self, cluster: str = "") -> dict[str, Any]:
        """
        The dashboard with *cluster* chosen, or with the one it opens with.

        Raises:
            UnknownClusterError: If there is no such cluster.
        """
        return self._fresh("page", cluster, self._page)

    def cores(self, cluster: str = "") -> dict[str, Any]:
        """
        Instances by cores over time of *cluster*, or of the one the page opens with.

        Raises:
            UnknownClusterError: If there is no such cluster.
        """
        return self._fresh("cores", cluster, self._cores)

    def _fresh(
        self, what: str, cluster: str, make: Callable[[str], dict[str, Any]]
    ) -> dict[str, Any]:
        with self._lock:
            made_s, answer = self._made.get((what, cluster), (0.0, {}))
            if not answer or not 0 <= self._now_s() - made_s < self._fresh_s:
                answer = make(cluster)
                self._made[what, cluster] = self._now_s(), answer
            return answer

    def _page(self, cluster: str) -> dict[str, Any]:
        now_s = self._now_s()
        end_s = int(now_s) // MINUTE_S * MINUTE_S + MINUTE_S
        start_s = end_s - self._dashboard.range_s
        clusters = self._clusters(start_s, end_s)
        chosen = self._chosen(cluster, clusters)
        widgets = self._dashboard.widgets(chosen)
        return {
            "now_ms": int(now_s * 1000),
            "title": self._dashboard.name,
            "stack_name": self.place.stack_name,
            "region": self.place.region,
            "clusters": clusters,
            "cluster": chosen,
            "limits": self._limits,
            "start_ms": start_s * 1000,
            "end_ms": end_s * 1000,
            "widgets": [self._widget(widget, start_s, end_s) for widget in widgets],
        }

    def _cores(self, cluster: str) -> dict[str, Any]:
        end_s = int(self._now_s()) // MINUTE_S * MINUTE_S + MINUTE_S
        start_s = end_s - self._dashboard.range_s
        chosen = self._chosen(cluster, self._clusters(start_s, end_s))
        lines = self._lines.of(self.place.log_group)
        return cores(chosen, lines, start_s * 1000, end_s * 1000)

    def _widget(self, widget: Widget, start_s: int, end_s: int) -> dict[str, Any]:
        properties = widget.properties
        if widget.type == "metric":
            drawn = graph(properties, self._history, start_s, end_s)
        elif widget.type == "alarm":
            drawn = self._alarms.widget(properties)
        elif widget.type == "log":
            drawn = log_table(properties, self._lines, start_s * 1000, end_s * 1000)
        else:
            drawn = {"markdown": properties["markdown"]}
        if widget.refused:
            drawn["missing"] = [widget.refused]
        return {"type": widget.type, **widget.place, **drawn}

    def _clusters(self, start_s: int, end_s: int) -> list[str]:
        wanted = self._dashboard.clusters
        series = self._history.read(
            wanted.namespace, wanted.metric, wanted.period_s, start_s, end_s
        )
        return sorted(
            {
                dict(dimensions)[self._dashboard.populates]
                for dimensions in series
                if wanted.finds(dimensions)
            }
        )

    def _chosen(self, cluster: str, clusters: Sequence[str]) -> str:
        if cluster and cluster not in clusters:
            known = ", ".join(clusters) or "none yet"
            msg = f"there is no cluster of that name; there are: {known}"
            raise UnknownClusterError(msg)
        return cluster or self._dashboard.default or (clusters[0] if clusters else "")
