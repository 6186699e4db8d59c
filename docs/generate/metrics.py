"""The lists of members from the catalogue, and of the series for Prometheus."""

from __future__ import annotations

import re
from collections import Counter

from neuron_emitter.prometheus.page_metrics import BUILD, OF_MINUTE, OF_REPORT, SCRIPT_METRICS
from neuron_wire.catalogue import CHOOSABLE, EMITTED, MEMBERS_BY_SUBJECT

TIER_TEXTS = {
    **{tier: f"metric `{tier}`" for tier in ("cluster", "instance", "core", "legacy")},
    "always": "metric",
    "": "",
}
RARE_SIGN = "\u2020"
CHOICE = "\u2021"
FOLDS_OF_FAMILY = (
    *("sum", "count", "since Boot", "last report with the group", "last known", "once per line"),
    *("at the close of the minute", "mean over the reports, weighted by their period", "letters"),
    *("greatest of all reports", "as in the minute line"),
)
"""Ways of folding that the page describes once for all gauges, tallies and totals."""
FOLDED_KINDS = {"minute", "more", "core", "runtime"}
"""Kinds of lines in which a member is computed from several reports."""


def read_as(member):
    """Return its unit, omitted for counts and money, and its statistic unless Average."""
    unit = "" if member.unit in ("Count", "None") else member.unit
    statistic = "" if member.statistic == "Average" else member.statistic
    return ", ".join(filter(None, (unit, statistic)))


def usual_of(values):
    """Return the value of at least half of the rows; empty if there is none."""
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count >= len(values) and (len(values) > 1 or not value) else ""


def members_list(subject, members):
    """Return the list of one subject's members; members with equal texts share an item."""
    rows = [
        {
            "metric": TIER_TEXTS[member.tier],
            "read as": read_as(member),
            "lines": lines_of(member),
            "folds": folds_of(member),
        }
        for member in members
    ]
    usual = {head: usual_of([row[head] for row in rows]) for head in rows[0]}
    said = told_before(subject)
    items = {}
    repeated = []
    for member, row in zip(members, rows, strict=True):
        if (member.name.rpartition(".")[2], member.meaning) in said and "." in member.name:
            repeated.append(f"`{member.name}`")
            continue
        values = [value for head, value in row.items() if value != usual[head]]
        words = "; ".join(filter(None, values))
        mark = RARE_SIGN * member.is_rare + CHOICE * (CHOOSABLE.get(member.name) is member)
        end = f" ({words})" if words else ""
        items.setdefault(f"{member.meaning}{end}", []).append(f"`{member.name}`{mark}")
    lines = [f"- {', '.join(names)}: {meaning}" for meaning, names in items.items()]
    if repeated:
        lines.append(f"- As in the lines of an instance: {', '.join(repeated)}.")
    common = "; ".join(filter(None, usual.values()))
    before = f"Unless stated: {common}.\n\n" if common else ""
    return before + "\n".join([*lines, ""])


def folds_of(member):
    """Return how the minute's value is computed, unless its family says it."""
    if member.family == "label" or not FOLDED_KINDS & set(member.kinds):
        return ""
    parts = [part for part in member.folds.split("; ") if not part.startswith(FOLDS_OF_FAMILY)]
    return "; ".join(parts)


def told_before(subject):
    """Return the last parts of names with their meanings in earlier subjects."""
    names = list(MEMBERS_BY_SUBJECT)
    return {
        (member.name.rpartition(".")[2], member.meaning)
        for name in names[: names.index(subject)]
        for member in MEMBERS_BY_SUBJECT[name]
    }


def lines_of(member):
    """Return the kinds of lines that have it."""
    kinds = list(member.kinds)
    if set(EMITTED) <= set(kinds):
        kinds = ["all", *(kind for kind in kinds if kind not in EMITTED)]
    return "/".join(kinds)


def subject_lists():
    """Return the members of each subject, by the name of its block."""
    return {
        re.sub(r"[^a-z]+", "-", subject.lower()).strip("-"): lambda name=subject, of=members: (
            members_list(name, of)
        )
        for subject, members in MEMBERS_BY_SUBJECT.items()
    }


SERIES = {"script-series": SCRIPT_METRICS, "own-series": (*OF_MINUTE, *OF_REPORT, *BUILD)}
"""The series on the Prometheus page, by the name of the markers."""


def families(listed):
    """Return one item for each series, with its labels."""
    items = []
    for series in listed:
        labels = ", ".join(f"`{label}`" for label in series.labels.split())
        items.append(f"- `{series.name}`{f' ({labels})' if labels else ''}: {series.meaning}")
    return "\n".join(items)
