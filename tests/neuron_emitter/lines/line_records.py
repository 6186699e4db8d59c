"""Minutes for line tests, and readers of their lines."""

from __future__ import annotations

import json
import subprocess
import sys

from hypothesis import strategies as st

from neuron_emitter.fold import LineIdentity
from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from neuron_wire import MinuteRecord
from tests.longest_members import LONGEST_RECORD

# The longest numbers: a month of uptime, a trn2.48xlarge, a burst of every failure.
LONG_HEALTH = {
    "ReportsRead": 2_678_400, "ReportsMalformed": 12_345, "PartsMalformed": 12_345,
    "MonitorRestarts": 1_234, "MinutesDropped": 123, "RecordsProduced": 44_640,
    "RecordsDelivered": 43_200, "RecordsDropped": 1_440, "SpoolRecords": 20_160,
    "SpoolBytes": 268_435_456, "SpoolRecordsOlder": 20_160, "DroppedSpoolFull": 1_200,
    "DroppedTooOld": 240, "EmitterCpuSeconds": 12_345.67, "EmitterMemory": 62_914_560,
}  # fmt: skip
LONG_DETAILS = {
    "ExecutionsCompletedWithErr": 12_345,
    "ExecutionsTimedOut": 12_345,
    "ErrorsNumerical": 12_345,
}


def lines_of(record, settings=None, **changes):
    """Return the lines of a minute with *settings*, or with *changes* to the defaults."""
    writer = LineWriter(settings or MinuteSettings(**changes))
    return [line_record.line for line_record in writer.minute_records(record)]


def full(cores, known=None):
    """Return a record with every member and *cores* cores; the first *known* are known."""
    known = cores if known is None else known
    letters = ("bau" * cores)[:known] + "?" * (cores - known)
    return MinuteRecord(
        **LONGEST_RECORD,
        minute_ms=1_800_000_000_000,
        core_state=letters,
        utilization_percent=tuple(
            None if letter == "?" else 10.01 + core * 0.63 % 89
            for core, letter in enumerate(letters)
        ),
        idle_minutes=(1_440,) * cores,
        ecc_uncorrected=1_234,
        ecc_corrected_rise=12_345,
        ecc_uncorrected_rise=123,
        details=LONG_DETAILS,
        health=LONG_HEALTH,
    )


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


@st.composite
def records(draw):
    """Generate any minute that a fold can close."""
    utilization = tuple(draw(UTILIZATIONS))
    letters = st.sampled_from("bau")
    return MinuteRecord(
        cluster=draw(st.sampled_from(["blue", "a b", "c" * 255])),
        instance_id="i-0123456789abcdef0",
        boot="01a1fd4e75ef2470b16e",
        seq=draw(st.integers(1, 1 << 40)),
        minute_ms=60_000 * draw(st.integers(0, 1 << 25)),
        covered_seconds=draw(st.floats(0, 60)),
        reports=draw(st.integers(0, 60)),
        core_state="".join("?" if percent is None else draw(letters) for percent in utilization[:1])
        + "".join("?" if percent is None else "b" for percent in utilization[1:]),
        utilization_percent=utilization,
        idle_minutes=(0,) * len(utilization),
        identity_guessed=draw(st.booleans()),
        is_clean_shutdown=draw(st.booleans()),
        instance_type=draw(st.none() | st.just("trn1.32xlarge")),
        execution_errors=draw(DRAWN_NUMBERS),
        ecc_uncorrected_rise=draw(DRAWN_NUMBERS),
        tera_flops=draw(st.none() | st.floats(0, 1e6)),
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
