"""
The fleet as tables for people, on a terminal or on paper.

The one module here that knows Rich's tables. Names are shown as text: they are
other people's, and none of them is markup.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from neuron_emf.figures import PEAK_WORDS, prices_of, unpriced
from neuron_emf.top import texts
from neuron_emf.top.columns import layout, widths
from neuron_emf.top.holders import idle_owners, owner_line
from neuron_emf.top.order import clusters_in, instances_in
from neuron_emf.top.texts import BLOCKS, grouped, legend, strip_of
from neuron_wire.phrases import counted, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType

    from neuron_emf.reading import Records
    from neuron_emf.top.fleet import Cluster, Figures, FleetSnapshot, InstanceSnapshot

STYLES: Final = {"a": "yellow", "u": "magenta", "?": "bright_black"}
"""Colors beside the letters; a busy core is cyan."""

BUSY_STYLE: Final = "cyan"
COLUMNS: Final = (
    ("idle", "for", "USD/h", "avoidable", "cores", "util", "cover"),
    ("busy", "att", "unatt", "?", "core-h", "flops"),
)
"""Of every table: all are numbers; first what a narrow terminal has room for."""

_STRIP_CORES: Final = 64  # in one line
NAME_CELLS: Final = 24  # of a cluster; a longer name goes on below
_GAP: Final = 1  # between two columns


CLUSTER_TITLES: Final = ("cluster", *COLUMNS[0], "instances", *COLUMNS[1])
NEEDED: Final = 1 + COLUMNS[0].index("avoidable") + 1
"""Columns of clusters that every terminal shows: up to the money."""


def figure_cells(figures: Figures) -> tuple[list[str], list[str]]:
    """The cells of `COLUMNS`."""
    first = [
        texts.count(figures.idle_cores, figures),
        texts.idle_for(figures),
        texts.usd(figures),
        texts.avoidable(figures),
        texts.cores(figures),
        texts.percent(figures.utilization_percent),
        texts.coverage(figures),
    ]
    return first, [
        texts.count(figures.busy, figures),
        texts.count(figures.attached_idle, figures),
        texts.count(figures.unattached, figures),
        texts.unknown(figures),
        texts.core_hours(figures),
        texts.percent(figures.percent_of_peak),
    ]


def cluster_cells(cluster: Cluster) -> list[str]:
    """A cluster in one row, by `CLUSTER_TITLES`."""
    first, further = figure_cells(cluster.figures)
    return [cluster.name, *first, texts.instances(cluster.figures), *further]


def colored(strip: str) -> Text:
    """A strip of signs, with gaps and colors."""
    # Few pieces: a live view has hundreds of strips.
    runs = groupby(grouped(strip), key=_style)
    return Text.assemble(*(("".join(letters), style) for style, letters in runs))


def _style(letter: str) -> str:
    style = STYLES.get(letter.lower(), BUSY_STYLE)
    return f"bold {style}" if letter.isupper() else style


def page(
    fleet: FleetSnapshot, order: str, records: Records, *, most: int, signs: str = BLOCKS
) -> list[RenderableType]:
    """Clusters, and of each its first *most* instances with their cores."""
    if fleet.as_of_ms is None:
        # Lines of other clusters may have been read.
        return [Text(f"No minute line for the requested instances. {_lines(records)}")]
    parts: list[RenderableType] = [
        Text(f"Fleet at {moment(fleet.as_of_ms)}, sorted by {order}"),
        ClusterTable([cluster_cells(one) for one in clusters_in(order, fleet.clusters)]),
    ]
    for cluster in clusters_in(order, fleet.clusters):
        shown = instances_in(order, cluster.instances)[:most]
        if shown:
            parts += [Text(), Text(cluster.name, "bold"), *_instances(shown, fleet, signs)]
        if left_out := len(cluster.instances) - len(shown):
            parts.append(Text(f"{left_out:,} more instances of {cluster.name}: --rows N"))
    return [*parts, Text(), *(Text(one) for one in notes(fleet, signs)), Text(_lines(records))]


def notes(fleet: FleetSnapshot, signs: str) -> list[str]:
    """What the tables need to be understood, a sentence each."""
    basis = prices_of(fleet.basis())
    sentences = [
        f"Cores: {legend(signs, fleet.idle_after)}.",
        (
            f"idle: not busy for {fleet.idle_after} minutes or longer; for: the longest of them; "
            "core-h: the total of all; USD/h: their cost"
            f"{f' ({basis})' if basis else ''}; avoidable: the most that stopping "
            "instances saves; shared: on instances with cores not idle; sunk: paid even if stopped."
        ),
    ]
    if fleet.figures.percent_of_peak is not None:
        sentences.append(f"flops: {PEAK_WORDS}.")
    if any("gone" in facts for _, _, facts in _all_owners(fleet)):
        sentences.append(
            "gone: its pod or Slurm job has left the instance, but its process still runs."
        )
    for cluster in fleet.clusters:
        figures = cluster.figures
        if figures.unpriced_cores:
            sentences.append(
                f"{cluster.name}: {unpriced(fleet.basis(cluster.name), figures.unpriced_cores)}; "
                "set one with --price-overrides."
            )
        if figures.silent:
            instances = counted(figures.silent, "silent instance")
            sentences.append(f"{cluster.name}: unknown cores of {instances} are not counted.")
    return sentences


def _all_owners(fleet: FleetSnapshot) -> Iterator[tuple[str, str, list[str]]]:
    for cluster in fleet.clusters:
        for instance in cluster.instances:
            if instance.reports:
                yield from idle_owners(instance.record, fleet.idle_after)


def _lines(records: Records) -> str:
    text = f"{counted(records.read, 'minute line')} read"
    if records.repeated:
        text += f", {records.repeated:,} repeated, counted once"
    if records.unreadable:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in records.dropped.items())
        text += f", {records.unreadable:,} unreadable ({reasons})"
    return f"{text}."


class ClusterTable:
    """The clusters, with as many of the columns as the terminal has room for."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        """*rows* are by `CLUSTER_TITLES`."""
        self._rows = rows

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """As Rich asks for it."""
        natural = widths(CLUSTER_TITLES, self._rows)
        natural[0] = min(natural[0], NAME_CELLS)
        shown = layout(natural, options.max_width + _GAP, _GAP, needed=NEEDED, least={0: 8})
        table = Table(box=None, padding=(0, _GAP, 0, 0), show_edge=False, pad_edge=False)
        for number, (title, width) in enumerate(zip(CLUSTER_TITLES, shown, strict=False)):
            justify: JustifyMethod = "right" if number else "left"
            table.add_column(title, justify=justify, overflow="fold", width=width)
        for row in self._rows:
            table.add_row(*map(Text, row[: len(shown)]))
        yield table


def _instances(
    instances: Sequence[InstanceSnapshot], fleet: FleetSnapshot, signs: str
) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for instance in instances:
        figures = instance.figures
        head = f"  {instance.instance_id}  {instance.record.instance_type or 'type unknown'}"
        facts = [texts.status(instance)]
        if instance.reports:
            facts += [_utilization(figures), _idle(figures)]
        parts.append(Text("  ".join([head, *filter(None, facts)])))
        if instance.reports:
            strip = strip_of(instance.record, fleet.idle_after, signs)
            parts += [
                Text("    ") + colored(strip[start : start + _STRIP_CORES])
                for start in range(0, len(strip), _STRIP_CORES)
            ]
            parts += [
                Text("    " + owner_line(name, cores, facts))
                for name, cores, facts in idle_owners(instance.record, fleet.idle_after)
            ]
    return parts


def _utilization(figures: Figures) -> str:
    if figures.known:
        return texts.percent(figures.utilization_percent)
    return "no telemetry" if figures.cores else "number of cores unknown"


def _idle(figures: Figures) -> str:
    if not figures.idle_cores:
        return ""
    cores = counted(figures.idle_cores, "core")
    price = texts.usd(figures)
    cost = "no price" if price == texts.UNKNOWN else f"{price} USD/h {texts.saving(figures)}"
    return f"{cores} idle for up to {texts.idle_for(figures)}, {cost}"
