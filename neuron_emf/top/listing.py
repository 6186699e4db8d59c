"""What the page answers for this moment, as text of at most 80 columns; once or refreshed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rich.console import Group
from rich.constrain import Constrain
from rich.live import Live
from rich.table import Table
from rich.text import Text

from emitter.errors import EmitterError, SourceError
from neuron_emf import figures, printing
from neuron_emf.page.alarms import ALARM
from neuron_emf.page.view import UnknownClusterError
from neuron_wire.phrases import amount, counted, dollars, duration, joined, moment, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from neuron_emf.page.view import PageView

COLUMNS: Final = 80
EACH_S: Final = 10.0
"""As the page asks: it reads rollups each minute, and alarms each ten seconds."""

_FIRST_OWNERS: Final = 10
_CLUSTER_WIDTH: Final = 20
_WORDS: Final = {
    "[unallocated]": "Unallocated",
    "[others]": "Others",
    "[unnamed]": "Unnamed process",
    "[not told]": "Not told",
    "": "Unnamed process",
}
"""What the page says for an owner that is none."""


class TopAnswer(NamedTuple):
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


def answer_of(view: PageView, cluster: str) -> TopAnswer:
    """
    What *view* answers for now; without a *cluster* all are shown.

    Raises:
        EmitterError: If nobody answers, or there is no such cluster.
    """
    try:
        overview = view.overview({"cluster": cluster})
        names = [cluster] if cluster else overview["clusters"]
        clusters = [view.overview({"cluster": name}) for name in names]
    except UnknownClusterError as error:
        raise SourceError(str(error)) from error
    return TopAnswer(overview, view.alarms({}), clusters)


def parts_of(answer: TopAnswer) -> list[RenderableType]:
    """Status, the three numbers, who holds idle cores, firing alarms, clusters."""
    page = answer.overview
    none = "no rollup in the last 15 minutes" if page["minute_ms"] is None else "not told"
    firing = list(_firing(answer))
    parts: list[RenderableType] = [Text(_status(page, len(firing))), _numbers(page, none)]
    if page["owners"]:
        parts += [Text("\nWho holds idle cores"), _owners(page["owners"])]
        more = len(page["owners"]) - _FIRST_OWNERS
        if more > 0:
            parts.append(Text(f"and {more:,} more: --json, or neuron-emf page"))
    if not page["owners_told"]:
        parts.append(Text("\nWho holds idle cores is not told: the stack is older than this."))
    if firing:
        parts += [Text("\nFiring alarms"), _table(("Alarm", "Cluster", "Since"), firing, ())]
    if answer.clusters:
        heads = ("Cluster", "Idle", "Known", "USD/h", "Avoidable", "Coverage", "Silent")
        rows = [_cluster(one) for one in answer.clusters]
        parts += [Text("\nClusters"), _table(heads, rows, range(1, len(heads)))]
    parts += [Text(f"\n{one}") for one in page["differences"]]
    return [Constrain(part, COLUMNS) for part in parts]


def watch(ask: Callable[[], TopAnswer], is_stopped: Callable[[float], bool]) -> None:
    """
    Show what *ask* says until *is_stopped*, which waits so many seconds.

    What cannot be read later on is said below the last answer, which stays.

    Raises:
        EmitterError: If the first answer cannot be read.
    """
    parts, trouble = parts_of(ask()), ""
    with Live(console=printing.console(), auto_refresh=False, screen=True) as live:
        while True:
            live.update(Group(*parts, Text(trouble)), refresh=True)
            if is_stopped(EACH_S):
                return
            try:
                parts, trouble = parts_of(ask()), ""
            except EmitterError as error:
                trouble = f"\n{printable(str(error), 300)}"


def _status(page: Mapping[str, Any], firing: int) -> str:
    where = f"{printable(page['stack_name'])} in {printable(page['region'] or 'no region')}"
    if page["cluster"]:
        where += f", cluster {figures.name(page['cluster'])}"
    data = "No rollup in the last 15 minutes"
    if page["data_to_ms"] is not None:
        old = "OLD DATA: " if page["is_old"] else ""
        data = f"{old}Data to {moment(page['data_to_ms'])}, {duration(page['age_minutes'])} old"
    silent = "silent instances unknown"
    if page["silent"] is not None:
        all_instances = counted(page["silent"] + (page["instances"] or 0), "instance")
        silent = f"{amount(page['silent'])} of {all_instances} silent"
    alarms = f"{counted(firing, 'alarm')} firing" if firing else "No alarm firing"
    coverage = _percent(page["coverage_percent"], "unknown")
    return f"{where}: {alarms}\n{data}\nCoverage {coverage}; {silent}"


def _numbers(page: Mapping[str, Any], none: str) -> Table:
    idle, cost, avoidable = page["idle"], page["cost"], page["avoidable"]
    lines = Table.grid(padding=(0, 2))
    lines.add_row("", "")
    cores = none
    if idle["cores"] is not None:
        share = "" if idle["percent"] is None else f" ({_percent(idle['percent'])})"
        cores = f"{amount(idle['cores'])} of {amount(idle['known_cores'] or 0)} known{share}"
    held = None
    if idle["held_cores"] is not None:
        held = f"{amount(idle['held_cores'])} held, {amount(idle['unheld_cores'])} unheld"
    unknown = idle["unknown_cores"]
    unknown = f"{counted(unknown, 'core')} unknown, not counted" if unknown else None
    _add(lines, "Idle cores", cores, held, unknown)
    kinds = [("shared", cost["shared_usd_per_hour"]), ("sunk", cost["sunk_usd_per_hour"])]
    parts = ", ".join(f"{dollars(usd)} {name}" for name, usd in kinds if usd)
    unpriced = None
    if cost["unpriced_cores"]:
        names = cost["unpriced_types"]
        verb = "has" if cost["unpriced_cores"] == 1 else "have"
        unpriced = f"{counted(cost['unpriced_cores'], 'core')} {verb} no price"
        unpriced += f" ({joined(names[:5], len(names) - 5)})" if names else ""
    usd = _usd(cost["usd_per_hour"], none)
    _add(lines, "Cost", usd, printable(cost["basis"], 200), parts and f"of which {parts}", unpriced)
    held = None
    if avoidable["held_usd_per_hour"] is not None and avoidable["unheld_usd_per_hour"] is not None:
        held = f"{dollars(avoidable['held_usd_per_hour'])} held, "
        held += f"{dollars(avoidable['unheld_usd_per_hour'])} unheld"
    whole = avoidable["instances"]
    whole = None if whole is None else counted(whole, "wholly idle instance")
    _add(lines, "Avoidable", _usd(avoidable["usd_per_hour"], none), whole, held)
    return lines


def _add(lines: Table, name: str, number: str, *notes: str | None) -> None:
    lines.add_row(name, Text("; ".join([number, *filter(None, notes)])))


def _owners(owners: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for one in owners[:_FIRST_OWNERS]:
        name = _WORDS.get(one["owner"]) or figures.name(one["owner"])
        team = f" ({figures.name(one['team'])})" if one["team"] else ""
        idle_for = "not told" if one["idle_minutes"] is None else duration(one["idle_minutes"])
        usd = figures.dollars(one["usd_per_hour"])
        usd += " +?" if one["unpriced_cores"] and one["usd_per_hour"] is not None else ""
        cluster = figures.name(one["cluster"])
        use = (one["busy_cores"], one["held_cores"])
        busy = "" if None in use else " of ".join(map(amount, use))
        rows.append((f"{name}{team}", cluster, amount(one["cores"]), idle_for, busy, usd))
    heads = ("Owner", "Cluster", "Idle", "Idle for", "Busy", "USD/h")
    return _table(heads, rows, range(2, len(heads)))


def _firing(answer: TopAnswer) -> Iterator[tuple[str, str, str]]:
    """A row for each cluster of an alarm, or one for an alarm without clusters."""
    chosen = answer.overview["cluster"]
    for alarm in answer.alarms["alarms"]:
        if alarm["state"] != ALARM:
            continue
        rows = [(one["name"], one["since_ms"]) for one in alarm["contributors"]]
        for name, since_ms in rows or [("", alarm["since_ms"])]:
            if not chosen or name in ("", chosen) or alarm["is_pipeline"]:
                since = "not told" if since_ms is None else moment(since_ms)
                yield figures.name(alarm["title"]), figures.name(name) if name else "-", since


def _cluster(page: Mapping[str, Any]) -> tuple[str, ...]:
    idle = page["idle"]
    values = (idle["cores"], idle["known_cores"], page["silent"])
    cores, known, silent = ("unknown" if one is None else amount(one) for one in values)
    amounts = (page["cost"]["usd_per_hour"], page["avoidable"]["usd_per_hour"])
    usd, avoidable = ("unknown" if one is None else dollars(one) for one in amounts)
    coverage = _percent(page["coverage_percent"], "unknown")
    return figures.name(page["cluster"]), cores, known, usd, avoidable, coverage, silent


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Table:
    """The first column is cut to the room that the others leave; a number never is."""
    table = Table.grid(padding=(0, 2), pad_edge=False)
    widths = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
    widths[1:] = [
        width if place in numbers else min(width, _CLUSTER_WIDTH)
        for place, width in enumerate(widths[1:], 1)
    ]
    widths[0] = min(widths[0], COLUMNS - sum(widths[1:]) - 2 * (len(widths) - 1))
    for place, width in enumerate(widths):
        is_number = place in numbers
        table.add_column(
            justify="right" if is_number else "left", no_wrap=True, overflow="ellipsis", width=width
        )
    for row in (heads, *rows):
        table.add_row(*map(Text, row))
    return table


def _usd(value: float | None, none: str) -> str:
    return none if value is None else f"{dollars(value)} USD/h"


def _percent(value: float | None, none: str = "") -> str:
    """A hundred only when nothing is missing."""
    return none if value is None else f"{math.floor(value + 1e-9)} %"
