"""
EMF documents: a small valid document, and the documents on both sides of each rule's limit.

Also the members of any line that the catalogue does not have.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from neuron_wire.catalogue import members_of
from neuron_wire.extraction import violations
from tests.neuron_wire.wire_records import WIRE_MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

LIMIT = 2.0**360
TOO_MUCH = math.nextafter(LIMIT, math.inf)


def document(**root):
    """Return a small valid document. *root* replaces members; None removes a member."""
    whole = {
        "_aws": {
            "Timestamp": WIRE_MINUTE_MS,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Neuron",
                    "Dimensions": [["ClusterName"]],
                    "Metrics": [{"Name": "BusyCores", "Unit": "Count"}],
                }
            ],
        },
        "ClusterName": "blue",
        "BusyCores": 3,
    }
    whole.update(root)
    return {name: value for name, value in whole.items() if value is not None}


def directive(**changes):
    """Return the small document with changes to its directive; None removes a member."""
    whole = copy.deepcopy(document())
    metadata = whole["_aws"]
    members = {**metadata["CloudWatchMetrics"][0], **changes}
    metadata["CloudWatchMetrics"] = [{k: v for k, v in members.items() if v is not None}]
    return whole


def metric(**changes):
    """Return the small document with changes to its metric definition; None removes a member."""
    definition = {"Name": "BusyCores", "Unit": "Count", **changes}
    return directive(Metrics=[{k: v for k, v in definition.items() if v is not None}])


def named(name):
    """Return the small document with its metric renamed to *name*."""
    return {**metric(Name=name), name: 3}


def dimension(name, value="blue"):
    """Return the small document with the single dimension *name*."""
    return {**directive(Dimensions=[[name]]), name: value}


def rules(line, **now):
    """Return the rules that a line breaks. A document is encoded as JSON first."""
    text = line if isinstance(line, str) else json.dumps(line)
    return [violation.rule for violation in violations(text, **now)]


def many_metrics(count):
    """Return a document with *count* metrics."""
    names = [f"M{index}" for index in range(count)]
    whole = directive(Metrics=[{"Name": name} for name in names])
    return {**whole, **dict.fromkeys(names, 1)}


def many_dimensions(count):
    """Return a document whose dimension set has *count* dimensions."""
    names = [f"D{index}" for index in range(count)]
    return {**directive(Dimensions=[names]), **dict.fromkeys(names, "x")}


def distribution(buckets, **changes):
    """Return a document whose metric is a distribution of *buckets* values."""
    value: dict[str, Any] = {"Values": [*range(buckets)], "Counts": [1] * buckets}
    value |= {"Max": 9, "Min": 0, "Count": buckets, "Sum": 9.5, **changes}
    return document(BusyCores={name: part for name, part in value.items() if part is not None})


BOUNDARIES = [
    ("values", distribution(100), distribution(101)),
    ("values", distribution(1), distribution(0)),
    ("values", distribution(2), distribution(2, Counts=[2])),
    ("values", distribution(2), distribution(2, Counts=2)),
    ("value", distribution(2), distribution(2, Counts=[1, "1"])),
    ("value", distribution(2), distribution(2, Max=[9])),
    ("value", distribution(2, Values=None, Counts=None), distribution(2, Values=None)),
    ("value", distribution(2), distribution(2, Min=None)),
    ("value", distribution(2), distribution(2, Mean=1)),
    ("metrics", many_metrics(100), many_metrics(101)),
    ("metrics", many_metrics(1), directive(Metrics=[])),
    ("values", document(BusyCores=[1] * 100), document(BusyCores=[1] * 101)),
    ("values", document(BusyCores=[1]), document(BusyCores=[])),
    ("dimensions", many_dimensions(30), many_dimensions(31)),
    ("no_dimensions", directive(Dimensions=[[]]), directive(Dimensions=[])),
    ("namespace", directive(Namespace="n" * 255), directive(Namespace="n" * 256)),
    ("namespace", directive(Namespace="n"), directive(Namespace="")),
    ("namespace", directive(Namespace="a:b"), directive(Namespace=":ab")),
    ("namespace", directive(Namespace="aZ09._#:/-"), directive(Namespace="a(b")),
    ("namespace", directive(Namespace="a b"), directive(Namespace="a\tb")),
    ("namespace", directive(Namespace=" a"), directive(Namespace="  ")),
    ("namespace", directive(Namespace="AWS-of-mine/x"), directive(Namespace="AWS/x")),
    ("namespace", directive(Namespace="Neuron"), directive(Namespace="Neuron\n")),
    ("namespace", directive(Namespace="Neuron"), directive(Namespace="Neur\u00f3n")),
    ("metric_name", named("m" * 255), named("m" * 256)),
    ("metric_name", named("m"), named("")),
    ("metric_name", named("a b"), named(" ")),
    ("dimension_name", dimension("d" * 250), dimension("d" * 251)),
    ("dimension_name", dimension("d"), dimension("")),
    ("dimension_name", dimension("a b"), dimension(" ")),
    ("dimension_name", dimension("d:"), dimension(":d")),
    ("dimension_name", dimension("d"), dimension("d\u00e9")),
    ("dimension_name", dimension("~"), dimension("\x7f")),
    ("dimension_name", dimension("a b"), dimension("a\tb")),
    ("dimension_value", dimension("d", "v" * 1024), dimension("d", "v" * 1025)),
    ("dimension_blank", dimension("d", "v"), dimension("d", "")),
    ("dimension_blank", dimension("d", " v"), dimension("d", "  ")),
    ("dimension_value", dimension("d", "v"), dimension("d", "caf\u00e9")),
    ("dimension_value", dimension("d", "~ "), dimension("d", "a\nb")),
    ("dimension_value", dimension("d", "5"), dimension("d", 5)),
    ("dimension_value", dimension("d", "true"), dimension("d", value=True)),
    ("dimension_value", dimension("d", "v"), dimension("d", ["v"])),
    ("dimension_value", document(), document(ClusterName=None)),
    ("unit", metric(Unit=None), metric(Unit="count")),
    ("unit", metric(Unit="None"), metric(Unit="")),
    ("unit", metric(Unit="Bytes/Second"), metric(Unit="Seconds/Second")),
    ("unit", metric(Unit="Count"), metric(Unit=1)),
    ("resolution", metric(StorageResolution=1), metric(StorageResolution=0)),
    ("resolution", metric(StorageResolution=1), metric(StorageResolution=2)),
    ("resolution", metric(StorageResolution=60), metric(StorageResolution=59)),
    ("resolution", metric(StorageResolution=60), metric(StorageResolution=61)),
    ("resolution", metric(StorageResolution=1), metric(StorageResolution=True)),
    ("resolution", metric(StorageResolution=60), metric(StorageResolution="60")),
    ("resolution", metric(StorageResolution=None), metric(StorageResolution=[60])),
    ("value", document(BusyCores=LIMIT), document(BusyCores=TOO_MUCH)),
    ("value", document(BusyCores=-LIMIT), document(BusyCores=-TOO_MUCH)),
    ("value", document(BusyCores=2**360), document(BusyCores=2**360 + 1)),
    ("value", document(BusyCores=0), document(BusyCores=True)),
    ("value", document(BusyCores=1), document(BusyCores="1")),
    ("value", document(BusyCores=[1, 2]), document(BusyCores=[1, False])),
    ("value", document(BusyCores=[1, 2]), document(BusyCores=[1, [2]])),
    ("value", document(BusyCores=[1, 2]), document(BusyCores={"Values": [1, 2]})),
    ("value", document(), document(BusyCores=None)),
]


def json_values(**floats):
    """Generate JSON values, a few levels deep; *floats* are arguments of `st.floats`."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(**floats) | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=4,
    )


ANY_JSON = json_values()
FINITE = json_values(allow_nan=False, allow_infinity=False)


_NUMBERED: Final = re.compile(r"(NeuronCoreUtilizationNC)[0-9]+")


def undocumented(line: Mapping[str, object], tags: Collection[str] = ()) -> list[str]:
    """
    Return members of *line* that the catalogue does not have for its Kind, in order.

    *tags* are the operator's. Members of objects in an array are named like `Holders.Pid`, at any
    depth.
    """
    known = members_of(str(line.get("Kind"))).keys() | set(tags) | {"_aws"}
    return [name for name in _paths(line) if _NUMBERED.sub(r"\g<1>0", name) not in known]


def _paths(line: Mapping[str, object]) -> Iterator[str]:
    for name, value in line.items():
        yield name
        if isinstance(value, list):
            rows = [row for row in value if isinstance(row, Mapping)]
            yield from dict.fromkeys(f"{name}.{path}" for row in rows for path in _paths(row))
