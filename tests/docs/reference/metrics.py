"""The tables of metrics, members and settings, of the catalogue and the settings' declarations."""

from __future__ import annotations

import dataclasses
import re

from emitter.settings import RunSettings
from neuron_wire.catalogue import EMITTED, EVENT_NAMES, SUBJECTS, members_of
from tests.docs.reference.markdown import table

MOST_USED = (
    *("CoveredSeconds", "Executions", "LatencyP50Mean", "LatencyP99Max", "LatencyGapP50"),
    *("TeraFlops", "DeviceMemoryUsed", "DeviceMemoryTotal", "HostCpuPercent", "HostMemoryUsed"),
    *("EccCorrected", "RecordsDropped", "SpoolRecords", "CoreState", "CoreIdleMinutes", "Holders"),
)
TIERS = {
    **{tier: f"`{tier}`" for tier in ("cluster", "instance", "core", "legacy")},
    "always": "yes",
    "": "",
}
RARE = " \u2020"


def settings_table():
    """Every setting of `run` with its default."""
    rows = []
    for one in dataclasses.fields(RunSettings):
        default = "" if one.default in (None, "", False, ()) else f"`{one.default}`"
        rows.append([f"`--{one.name.replace('_', '-')}`", default, one.metadata["help"]])
    return table(["setting", "default", "what it is for"], rows)


def metrics_table(metrics):
    """Each metric with its unit, family, statistic and meaning."""
    rows = [
        [f"`{one.name}`", one.unit, f"{one.family}, {one.statistic}", one.meaning]
        for one in metrics
    ]
    return table(["metric", "unit", "read with", "meaning"], rows)


def properties_table():
    """The properties of a minute line that people look at most."""
    members = members_of("minute")
    rows = [
        [f"`{name}`", members[name].unit, read_with(members[name]), members[name].meaning]
        for name in MOST_USED
    ]
    return table(["property", "unit", "read with", "meaning"], rows)


def read_with(member):
    """Family and statistic."""
    return ", ".join(filter(None, (member.family, member.statistic)))


def members_table(members):
    """All there is to say of members of one subject."""
    rows = [
        {
            "name": f"`{one.name}`" + RARE * one.is_rare,
            "meaning": one.meaning,
            "unit": one.unit,
            "read with": read_with(one),
            "metric": TIERS[one.tier],
            "lines": lines_of(one),
            "over the minute": one.folds,
            "comes from": one.source.replace("*", "\\*"),
        }
        for one in members
    ]
    # A column that says the same in each row says nothing, unless there is but one.
    heads = [head for head in rows[0] if len({row[head] for row in rows}) > 1 or len(rows) == 1]
    return table(heads, [[row[head] for head in heads] for row in rows])


def lines_of(member):
    """The kinds of lines that have it."""
    kinds = list(member.kinds)
    if set(EMITTED) <= set(kinds):
        kinds = ["all", *(kind for kind in kinds if kind not in EMITTED)]
    return ", ".join(kinds)


def events_table():
    """Names of events and what each means."""
    return table(["Event", "meaning"], [[f"`{name}`", text] for name, text in EVENT_NAMES.items()])


def subject_tables():
    """The members of each subject, by the name of its block."""
    return {
        re.sub(r"[^a-z]+", "-", subject.lower()).strip("-"): lambda of=members: members_table(of)
        for subject, members in SUBJECTS.items()
    }
