"""Minutes for line tests, and readers of their lines."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

from hypothesis import strategies as st

from neuron_emitter.fold import LineIdentity
from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from tests.neuron_wire.wire_records import everything


def lines_of(record, settings=None, **changes):
    """Return the lines of a minute with *settings*, or with *changes* to the defaults."""
    writer = LineWriter(settings or MinuteSettings(**changes))
    return [line_record.line for line_record in writer.minute_records(record)]


def full(cores):
    """Return a record of *cores* known cores with every member that stays in one line."""
    return dataclasses.replace(everything(("bau" * cores)[:cores]), details={}, health={})


LINE_SENDER = LineIdentity(
    "blue", "i-0123456789abcdef0", identity_guessed=False, boot="01a1fd4e75ef2470b16e"
)
WITH_CLUSTER = ("ClusterName",)
WITH_INSTANCE = ("ClusterName", "InstanceId")
WITH_CORE = ("ClusterName", "InstanceId", "NeuronCore")
ALL_TIERS = ("none", "cluster", "instance", "core", "legacy")
LINE_TAGS = {"team": "search", "Cost Center": "4711"}
TAG_SETTING = tuple(f"{name}={value}" for name, value in LINE_TAGS.items())

DRAWN_NUMBERS = st.none() | st.integers(0, 1 << 62)
LINE_PERCENTS = st.floats(0, 100)
UTILIZATIONS = st.lists(st.none() | LINE_PERCENTS, max_size=40) | st.builds(
    lambda cores, value: [value] * cores, st.integers(99, 260), st.none() | LINE_PERCENTS
)


ANY_LINE_SETTINGS = st.builds(
    MinuteSettings,
    metrics=st.sampled_from(ALL_TIERS),
    namespace=st.sampled_from(["Neuron", "neuron_monitor_test", "a/b"]),
    tag=st.just(TAG_SETTING),
    tag_dimension=st.lists(st.sampled_from(sorted(LINE_TAGS)), max_size=3).map(tuple),
    common_dims=st.lists(
        st.sampled_from(["instance_id", "instance_type", "ami_id", "neuron_runtime_tag"]),
        max_size=3,
    ).map(tuple),
    high_resolution_metrics=st.booleans(),
)


MINUTE_LINE = (
    "from neuron_emitter.lines import LineWriter\n"
    "from neuron_emitter.settings import MinuteSettings\n"
    "from neuron_wire import MinuteRecord\n"
    "record = MinuteRecord('blue', 'i-1', '0', 1, 60000, 60.0, 1, 'b', (50.0,), (0,))\n"
)
"""The beginning of a program that makes a minute's line."""


def printed(program, *folders, **environment):
    """Return the output of *program* in a new Python process, with *folders* first in its path."""
    path = ":".join([*map(str, folders), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def metadata(line):
    """Return the `_aws` of a line, or None if it defines no metric."""
    return json.loads(line).get("_aws")


def data(lines):
    """
    Return every value that CloudWatch would extract, by series.

    A series is a namespace, a name and the values of one set of dimensions.
    """
    values_by_series = {}
    for line in lines:
        document = json.loads(line)
        for directive in document.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                dimensions = tuple((name, document[name]) for name in sorted(names))
                for metric in directive["Metrics"]:
                    series = (directive["Namespace"], metric["Name"], dimensions)
                    value = document[metric["Name"]]
                    values_by_series.setdefault(series, []).extend(
                        value if isinstance(value, list) else [value]
                    )
    return values_by_series


def dimension_names(lines):
    """Return the number of series by dimension names."""
    counts = {}
    for _, _, dimensions in data(lines):
        names = tuple(name for name, _ in dimensions)
        counts[names] = counts.get(names, 0) + 1
    return counts
