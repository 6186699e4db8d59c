"""The current answer as text of at most 80 columns, printed once or refreshed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.constrain import Constrain
from rich.live import Live
from rich.table import Table
from rich.text import Text

from neuron_accounts.core_time import DEFAULT_IDLE_AFTER_MINUTES
from neuron_emf import command_output
from neuron_emf.command_output import shown_name
from neuron_emf.page.alarms import IN_ALARM, urgency_rank
from neuron_emf.page.view import UnknownClusterError
from neuron_emf.reading import periods
from neuron_emf.reading.now_reader import answer_of, now_of_files
from neuron_emitter.errors import EmitterError, SourceError
from neuron_words.name_words import printable
from neuron_words.quantity_words import amount, counted, coverage_words, dollars, duration, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from neuron_emf.page.view import PageView
    from neuron_wire.line_members import JsonObject

    Answer = JsonObject
    """The answer with the schema `schemas/now.json`."""

TERMINAL_COLUMNS: Final = 80
EACH_S: Final = 10.0
"""The interval of the page's requests. It reads rollups each minute, alarms each ten seconds."""

_CARDS: Final = {
    "Idle cores": "idle", "Cost": "cost", "Avoidable": "avoidable", "Utilization": "utilization",
}  # fmt: skip
_FIRST_OWNERS: Final = 10
_CLUSTER_WIDTH: Final = 20
_CLUSTER_NUMBERS: Final = {
    "idle_cores": amount,
    "known_cores": amount,
    "usd_per_hour": dollars,
    "avoidable_usd_per_hour": dollars,
    "coverage_percent": coverage_words,
    "silent": amount,
}
_LONGEST_NOTE: Final = 200


def answer_of_view(view: PageView, cluster: str) -> Answer:
    """
    Return the current answer of *view*; an empty *cluster* means all clusters.

    Raises:
        EmitterError: If the view does not answer, or there is no such cluster.
    """
    try:
        return {**view.now({"cluster": cluster}), "alarms": view.alarms({})["alarms"]}
    except UnknownClusterError as error:
        raise SourceError(str(error)) from error


def answer_of_files(files: Sequence[Path], cluster: str) -> Answer:
    """
    Return the answer from the newest lines of *files*, which have no alarms.

    Raises:
        EmitterError: If the files cannot be read, or there is no such cluster.
    """
    now = now_of_files(files)
    now_ms = periods.now_ms()
    if cluster and not now.of_cluster(cluster).clusters:
        msg = "The newest lines of FILES are of no cluster of that name. Choose another one."
        raise SourceError(msg)
    return {
        **answer_of(now, cluster, now_ms),
        "read_ms": now_ms, "region": None, "stack_name": None,
        "problem": None, "idle_after_minutes": DEFAULT_IDLE_AFTER_MINUTES,
        "differences": [], "close": None,
        "traffic": {"calls": 0, "bytes": 0}, "alarms": None,
    }  # fmt: skip


def parts_of(answer: Answer) -> list[RenderableType]:
    """Return the status, the three numbers, owners of idle cores, firing alarms and clusters."""
    firing = list(_firing(answer))
    parts: list[RenderableType] = [Text(_status(answer, len(firing))), _numbers(answer)]
    if answer["owners"]:
        parts += [Text("\nOwners of idle cores"), _owners(answer["owners"])]
        more = len(answer["owners"]) - _FIRST_OWNERS
        if more > 0:
            parts.append(Text(f"and {more:,} more: --json, or neuron-emf page"))
    if not answer["owners_known"]:
        parts.append(
            Text("\nThe owners of idle cores are unknown: the stack is older than this command.")
        )
    if firing:
        heads = ("Alarm", "Cluster", "Urgency", "Since")
        parts += [Text("\nFiring alarms"), _table(heads, firing, ())]
    clusters = [row for row in answer["clusters"] if answer["cluster"] in ("", row["cluster"])]
    if clusters:
        heads_of_clusters = ("Cluster", "Idle", "Known", "USD/h", "Avoidable", "Coverage", "Silent")
        rows = [_cluster(row) for row in clusters]
        numbers = range(1, len(heads_of_clusters))
        parts += [Text("\nClusters"), _table(heads_of_clusters, rows, numbers)]
    parts += [Text(f"\n{note}") for note in (*answer["notes"], *answer["differences"])]
    return [Constrain(part, TERMINAL_COLUMNS) for part in parts]


def watch(ask: Callable[[], Answer], is_stopped: Callable[[float], bool]) -> None:
    """
    Show the answers of *ask* until *is_stopped*, which waits the given seconds, returns True.

    If a later answer cannot be read, the reason is shown below the last answer. Without a terminal,
    answers are printed one after the other.

    Raises:
        EmitterError: If the first answer cannot be read.
    """
    parts = parts_of(ask())
    trouble = ""
    console = command_output.console()
    with Live(console=console, auto_refresh=False, screen=console.is_terminal) as live:
        while True:
            if console.is_terminal:
                live.update(Group(*parts, Text(trouble)), refresh=True)
            else:
                console.print(*parts, Text(trouble), sep="\n")
            if is_stopped(EACH_S):
                return
            try:
                parts = parts_of(ask())
                trouble = ""
            except EmitterError as error:
                trouble = f"\n{printable(str(error), 300)}"


def _status(answer: Answer, firing: int) -> str:
    where = "FILES"
    if answer["stack_name"] is not None:
        region = printable(answer["region"] or "no region")
        where = f"{printable(answer['stack_name'])} in {region}"
    if answer["cluster"]:
        where += f", cluster {shown_name(answer['cluster'])}"
    data = answer["words"]["data"]
    if not data:
        old = "OLD DATA: " if answer["is_old"] else ""
        data = f"{old}Data to {moment(answer['data_to_ms'])}, {duration(answer['age_minutes'])} old"
    alarms = f"{counted(firing, 'alarm')} firing" if firing else "No alarm firing"
    if answer["alarms"] is None:
        alarms = "alarms not read"
    words = answer["words"]
    return f"{where}: {alarms}\n{data}\n{words['coverage']}; {words['silent']}"


def _numbers(answer: Answer) -> Table:
    lines = Table.grid(padding=(0, 2))
    lines.add_row("", "")
    for title, name in _CARDS.items():
        words = [answer[name]["words"], *answer[name]["notes"]]
        lines.add_row(title, Text("; ".join(printable(text, _LONGEST_NOTE) for text in words)))
    if answer["cost"]["advice"]:
        lines.add_row("", Text(printable(answer["cost"]["advice"], _LONGEST_NOTE)))
    return lines


def _owners(owners: Sequence[Answer]) -> Table:
    rows = []
    for owner_row in owners[:_FIRST_OWNERS]:
        team = f" ({shown_name(owner_row['team'])})" if owner_row["team"] else ""
        owner = f"{shown_name(owner_row['name'])}{team}"
        words = owner_row["words"]
        numbers = (words["cores"], words["idle"], words["usd"])
        rows.append((owner, shown_name(owner_row["cluster"]), *numbers))
        if words["uses"]:
            rows.append((f"  {words['uses']}", "", "", "", ""))
    heads = ("Owner", "Cluster", "Idle", "Idle for", "USD/h")
    return _table(heads, rows, range(2, len(heads)))


def _firing(answer: Answer) -> Iterator[tuple[str, ...]]:
    """Yield a row for each cluster of an alarm, or one without clusters, most urgent first."""
    chosen = answer["cluster"]
    firing = [
        (alarm, row)
        for alarm in answer["alarms"] or ()
        if alarm["state"] == IN_ALARM
        for row in alarm["contributors"] or [{**alarm, "name": ""}]
    ]
    for alarm, row in sorted(firing, key=lambda pair: urgency_rank(pair[1])):
        name = row["name"]
        since_ms = row["since_ms"]
        if not chosen or name in ("", chosen) or alarm["is_pipeline"]:
            since = "unknown" if since_ms is None else moment(since_ms)
            cluster = shown_name(name) if name else "-"
            yield (shown_name(alarm["title"]), cluster, row["urgency"], since)


def _cluster(row: Answer) -> tuple[str, ...]:
    numbers = [(row[name], words_of) for name, words_of in _CLUSTER_NUMBERS.items()]
    words = ("unknown" if number is None else words_of(number) for number, words_of in numbers)
    return shown_name(row["cluster"]), *words


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Table:
    """Return a table. Its first column is cut to the remaining width; a number is never cut."""
    table = Table.grid(padding=(0, 2), pad_edge=False)
    widths = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
    widths[1:] = [
        width if place in numbers else min(width, _CLUSTER_WIDTH)
        for place, width in enumerate(widths[1:], 1)
    ]
    widths[0] = min(widths[0], TERMINAL_COLUMNS - sum(widths[1:]) - 2 * (len(widths) - 1))
    for place, width in enumerate(widths):
        is_number = place in numbers
        table.add_column(
            justify="right" if is_number else "left", no_wrap=True, overflow="ellipsis", width=width
        )
    for row in (heads, *rows):
        table.add_row(*map(Text, row))
    return table
