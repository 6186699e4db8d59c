"""The tables of members, of the catalogue."""

from __future__ import annotations

import re
from collections import Counter

from neuron_wire.catalogue import CHOOSABLE, EMITTED, SUBJECTS
from tests.docs.reference.markdown import table

TIERS = {
    **{tier: f"`{tier}`" for tier in ("cluster", "instance", "core", "legacy")},
    "always": "yes",
    "": "",
}
RARE = " \u2020"
OFTEN_SAME = ("read as", "metric", "lines", "over the minute", "comes from")
SOURCES_OF = {"Identity", "Profiles"}
"""Subjects whose sources no other page has: those of a report are in how-to/migrating.md."""
FOLDED = {"minute", "more", "core", "runtime"}
"""Kinds of lines of which a member is made of several reports."""


def read_as(member):
    """Unit and statistic."""
    return ", ".join(filter(None, (member.unit, member.statistic))) or "label"


def usual_of(values):
    """What at least half of the rows say, when no row has nothing to say."""
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count >= len(values) > 4 and "" not in values else None


def members_table(subject, members):
    """All there is to say of members of one subject."""
    without = set() if subject in SOURCES_OF else {"comes from"}
    if subject == "Identity" or not FOLDED & {kind for member in members for kind in member.kinds}:
        without.add("over the minute")
    rows = [
        {
            "name": f"`{member.name}`" + RARE * member.is_rare,
            "meaning": member.meaning,
            "read as": read_as(member),
            "metric": TIERS[member.tier] or "by choice" * (CHOOSABLE.get(member.name) is member),
            "lines": lines_of(member),
            "over the minute": member.folds,
            "comes from": member.source.replace("*", "\\*"),
        }
        for member in members
    ]
    # A column that says the same in each row says nothing, unless there is but one.
    heads = [
        head
        for head in rows[0]
        if head not in without and (len({row[head] for row in rows}) > 1 or len(rows) == 1)
    ]
    usual = {head: usual_of([row[head] for row in rows]) for head in heads if head in OFTEN_SAME}
    usual = {head: value for head, value in usual.items() if value}
    cells = [["" if row[head] == usual.get(head) else row[head] for head in heads] for row in rows]
    text = table(heads, cells)
    if not usual:
        return text
    said = "; ".join(f"{head}: {value}" for head, value in usual.items())
    return f"Where a cell is empty, {said}.\n\n{text}"


def lines_of(member):
    """The kinds of lines that have it."""
    kinds = list(member.kinds)
    if set(EMITTED) <= set(kinds):
        kinds = ["all", *(kind for kind in kinds if kind not in EMITTED)]
    return ", ".join(kinds)


def subject_tables():
    """The members of each subject, by the name of its block."""
    return {
        re.sub(r"[^a-z]+", "-", subject.lower()).strip("-"): lambda name=subject, of=members: (
            members_table(name, of)
        )
        for subject, members in SUBJECTS.items()
    }
