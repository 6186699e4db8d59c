"""The current answer as text of at most 80 columns, printed once or refreshed."""

from __future__ import annotations

from collections import Counter
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
from neuron_emf.reading import periods
from neuron_emf.reading.now_reader import answer_of, now_of_files
from neuron_emitter.errors import EmitterError, SourceError
from neuron_wire.names import MINUTE_MS
from neuron_words.name_words import printable
from neuron_words.now_words import URGENCIES
from neuron_words.quantity_words import (
    amount,
    coverage_words,
    dollars,
    duration,
    joined,
    moment,
    share_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from neuron_emf.page.view import PageView
    from neuron_wire.line_members import JsonObject

    Firing = tuple[JsonObject, JsonObject]
    """A firing alarm, and the row of one of its clusters; the alarm's own row without clusters."""

    Answer = JsonObject
    """The answer with the schema `schemas/now.json`."""

TERMINAL_COLUMNS: Final = 80
EACH_S: Final = 10.0
"""The interval of the page's requests. It reads rollups each minute, alarms each ten seconds."""

_CARDS: Final = {
    "Idle cores": "idle",
    "Cost of idle cores": "cost",
    "Avoidable": "avoidable",
    "Utilization": "utilization",
}
_QUIET_STATES: Final = {
    "OK": "OK",
    "INSUFFICIENT_DATA": "without data",
    "not evaluated": "not evaluated",
}
_FIRST_OWNERS: Final = 10
_CLUSTER_WIDTH: Final = 20
_CLUSTER_NUMBERS: Final = {
    "Idle cores": ("idle_cores", amount),
    "Known": ("known_cores", amount),
    "USD/h": ("usd_per_hour", dollars),
    "Avoidable": ("avoidable_usd_per_hour", dollars),
    "Coverage": ("coverage_percent", coverage_words),
    "Silent": ("silent", amount),
}
_LONGEST_NOTE: Final = 200
_LONGEST_SENTENCE: Final = 300


def answer_of_view(view: PageView, cluster: str) -> Answer:
    """
    Return the current answer of *view*; an empty *cluster* means all clusters.

    Raises:
        EmitterError: If the view does not answer, or there is no such cluster.
    """
    return {**view.now({"cluster": cluster}), "alarms": view.alarms({})["alarms"]}


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
    """Return the status, the four numbers, owners of idle cores, firing alarms and clusters."""
    firing, elsewhere = _firing(answer)
    parts: list[RenderableType] = [Text(_status(answer, firing, elsewhere)), _numbers(answer)]
    if answer["owners"]:
        parts += [Text("\nIdle cores by owner"), _owners(answer["owners"])]
        more = len(answer["owners"]) - _FIRST_OWNERS
        if more > 0:
            parts.append(Text(f"and {more:,} more: --json, or neuron-emf page"))
    if not answer["owners_known"]:
        parts.append(
            Text("\nThe owners of idle cores are unknown: the stack is older than this command.")
        )
    if firing:
        parts += [Text("\nFiring alarms"), _alarms(firing, answer["now_ms"])]
    if answer["alarms"]:
        parts.append(Text(_quiet_words(answer["alarms"])))
    clusters = [row for row in answer["clusters"] if answer["cluster"] in ("", row["cluster"])]
    if clusters:
        rows = [_cluster(row) for row in clusters]
        heads = ("Cluster", *_CLUSTER_NUMBERS)
        numbers = range(1, len(heads))
        parts += [Text("\nIdle cores by cluster"), _table(heads, rows, numbers)]
    parts += [Text(f"\n{note}") for note in (*answer["notes"], *answer["differences"])]
    return [Constrain(part, TERMINAL_COLUMNS) for part in parts]


def watch(ask: Callable[[], Answer], is_stopped: Callable[[float], bool]) -> None:
    """
    Show the answers of *ask* until *is_stopped*, which waits the given seconds, returns True.

    If a later answer cannot be read, the reason is shown below the last answer.

    Raises:
        EmitterError: If the first answer cannot be read.
    """
    parts = parts_of(ask())
    trouble = ""
    console = command_output.console()
    with Live(console=console, auto_refresh=False, screen=True) as live:
        while True:
            live.update(Group(*parts, Text(trouble)), refresh=True)
            if is_stopped(EACH_S):
                return
            try:
                parts = parts_of(ask())
                trouble = ""
            except EmitterError as error:
                trouble = f"\n{printable(str(error), 300)}"


def _status(answer: Answer, firing: Sequence[Firing], elsewhere: Sequence[Firing]) -> str:
    where = "FILES"
    if answer["stack_name"] is not None:
        region = printable(answer["region"] or "no region")
        where = f"{printable(answer['stack_name'])} in {region}"
    if answer["cluster"]:
        where += f", cluster {shown_name(answer['cluster'])}"
    words = answer["words"]
    data = words["data"]
    if not data:
        old = "OLD DATA: " if answer["is_old"] else ""
        data = f"{old}Data to {moment(answer['data_to_ms'])}, {duration(answer['age_minutes'])} old"
    if answer["alarms"] is None:
        alarms = "Alarms not read"
    elif elsewhere:
        counts = f"{len(firing)} here, {len(elsewhere)} elsewhere"
        alarms = f"Alarms: {counts} ({_urgency_counts(elsewhere)})"
    else:
        alarms = f"Alarms: {_urgency_counts(firing)}" if firing else "No alarm firing"
    return f"{where}\n{alarms}\n{data}\n{words['coverage']}; {words['silent']}"


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
    rows: list[tuple[str, ...]] = []
    for row in owners[:_FIRST_OWNERS]:
        words = row["words"]
        share = "-"
        if row["allocated_cores"]:
            share = share_words(100 * row["cores"] / row["allocated_cores"])
        numbers = (words["cores"], share, words["idle"], words["usd"])
        rows.append((shown_name(row["name"]), shown_name(row["cluster"]), *numbers))
        team = f"team {shown_name(row['team'])}" if row["team"] else ""
        if remarks := ", ".join(filter(None, (team, words["uses"]))):
            rows.append((f"  {remarks}", "", *[""] * len(numbers)))
    heads = ("Owner", "Cluster", "Idle cores", "Share", "Idle for", "USD/h")
    return _table(heads, rows, range(2, len(heads)))


def _firing(answer: Answer) -> tuple[list[Firing], list[Firing]]:
    """
    Return the alarms that fire for the chosen cluster, and those elsewhere, most urgent first.

    An alarm has a row for each of its clusters, or one of its own. An alarm about the pipeline
    fires for every cluster.
    """
    chosen = answer["cluster"]
    here: list[Firing] = []
    elsewhere: list[Firing] = []
    for alarm in answer["alarms"] or ():
        if alarm["state"] != IN_ALARM:
            continue
        for row in alarm["contributors"] or [{**alarm, "name": ""}]:
            is_here = not chosen or row["name"] in ("", chosen) or alarm["is_pipeline"]
            (here if is_here else elsewhere).append((alarm, row))
    for firing in (here, elsewhere):
        firing.sort(key=lambda pair: urgency_rank(pair[1]))
    return here, elsewhere


def _urgency_counts(firing: Sequence[Firing]) -> str:
    """Return `1 now, 2 today`, without an urgency that has none."""
    counts = Counter(row["urgency"] for _, row in firing)
    return ", ".join(f"{counts[urgency]} {urgency}" for urgency in URGENCIES if counts[urgency])


def _alarms(firing: Sequence[Firing], now_ms: int) -> Table:
    table = Table.grid(padding=(0, 2))
    for alarm, row in firing:
        place = "Stack" if alarm["is_pipeline"] else "Clusters"
        age = "since unknown"
        if row["since_ms"] is not None:
            minutes = (now_ms - row["since_ms"]) // MINUTE_MS
            age = duration(minutes) if minutes >= 1 else "<1 min"
        head = f"{shown_name(row['name'] or place)}, {shown_name(alarm['title'])}, {age}"
        sentence = printable(_sentence(alarm, row), _LONGEST_SENTENCE)
        table.add_row(row["urgency"], Text(f"{head}\n{sentence}"))
    return table


def _sentence(alarm: Answer, row: Answer) -> str:
    """Return the first sentence of the message without its cluster, or the description."""
    message = row["message"]
    if message is None:
        return str(alarm["description"] or alarm["title"])
    first, *_ = message["text"].split("\n")
    return str(first.removeprefix(f"{message['cluster']}: "))


def _quiet_words(alarms: Sequence[Answer]) -> str:
    """Return `Other alarms: 12 OK and 1 without data.`, or an empty string."""
    states = Counter(alarm["state"] for alarm in alarms)
    parts = [f"{states[state]} {words}" for state, words in _QUIET_STATES.items() if states[state]]
    return f"Other alarms: {joined(parts)}." if parts else ""


def _cluster(row: Answer) -> tuple[str, ...]:
    numbers = [(row[name], words_of) for name, words_of in _CLUSTER_NUMBERS.values()]
    words = ("unknown" if number is None else words_of(number) for number, words_of in numbers)
    return shown_name(row["cluster"]), *words


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Table:
    """Return a table. Its first column is cut to the remaining width; a number is never cut."""
    table = Table.grid(padding=(0, 2))
    for place in range(len(heads)):
        is_number = place in numbers
        table.add_column(
            justify="right" if is_number else "left",
            no_wrap=place > 0,
            max_width=_CLUSTER_WIDTH if place and not is_number else None,
        )
    for row in (heads, *rows):
        table.add_row(*(Text(text, no_wrap=True, overflow="ellipsis") for text in row))
    return table
