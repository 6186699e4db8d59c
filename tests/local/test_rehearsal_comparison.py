"""The comparison finds any wrong or missing rollup."""

from __future__ import annotations

import pytest

from local.pump import extract
from local.rehearsal.comparison import (
    add_rollups,
    against_metrics,
    against_owners,
    against_truth,
    core_owners,
    read_metrics,
)
from neuron_wire.catalogue import DEFAULT_ROLLUP_METRICS
from neuron_wire.line import emf_line
from tests.recorded_history import RecordedHistory

ROLLUP_MINUTE_S = 1_799_999_940
PUMP_NOW_MS = 1_800_000_000_000
RIGHT_ROLLUP = {
    "Instances": 4,
    "NeuronCores": 98,
    "BusyCores": 34,
    "AttachedIdleCores": 32,
    "UnattachedCores": 32,
    "UnknownCores": 0,
    "NeuronCoreUtilization": 21.34,
    "Executions": 1200,
    "ExecutionErrors": 3,
    "HardwareErrors": 0,
}
ROLLUP_KEY = ("research", ROLLUP_MINUTE_S)


def line(publication=1, minute_s=ROLLUP_MINUTE_S, idle=(), **changes):
    """Return a rollup line as close prints it; a member set to None is omitted."""
    members = {
        name: value for name, value in {**RIGHT_ROLLUP, **changes}.items() if value is not None
    }
    return emf_line(
        "Neuron/Cluster",
        dimension_sets=[["ClusterName"]],
        metrics=members,
        units={name: metric.unit for name, metric in DEFAULT_ROLLUP_METRICS.items()},
        properties={
            "Schema": 1,
            "Kind": "rollup",
            "ClusterName": "research",
            "RollupId": f"research@{minute_s}#{publication}",
            "Publication": publication,
            "TopIdleInstances": list(idle),
        },
        timestamp_ms=minute_s * 1000,
    )


def rollups(*lines):
    """Return the figures of rollup lines in a function's output."""
    minutes = {}
    texts = ["START RequestId: 1", *lines, '{"level":"INFO"}', "{half", "END RequestId: 1"]
    assert len(lines) == add_rollups(minutes, texts)
    return minutes


def test_a_right_rollup_has_no_problem():
    """A right rollup has no problem; without a runtime, 0 executions and none are both right."""
    assert [] == against_truth({ROLLUP_KEY: RIGHT_ROLLUP}, rollups(line()))
    without = {**RIGHT_ROLLUP, "Executions": None}
    for executions in (None, 0):
        assert [] == against_truth({ROLLUP_KEY: without}, rollups(line(Executions=executions)))


@pytest.mark.parametrize("name", RIGHT_ROLLUP)
@pytest.mark.parametrize("wrong", [-30, 30, None])
def test_each_wrong_or_missing_number_is_found(name, wrong):
    """The comparison finds each number that is too low, too high or missing."""
    value = None if wrong is None else RIGHT_ROLLUP[name] + wrong
    problems = against_truth({ROLLUP_KEY: RIGHT_ROLLUP}, rollups(line(**{name: value})))
    assert [name] == [problem.member for problem in problems]


def extracted(lines):
    """Return the metrics that the pump extracts from *lines*, in memory."""
    history = RecordedHistory()
    for text in lines:
        for datum in extract(text, PUMP_NOW_MS).data:
            values = [value for value, count in datum.counts.items() for _ in range(count)]
            at_s = datum.timestamp_ms / 1000
            history.put(datum.namespace, datum.name, dict(datum.dimensions), at_s, values)
    return read_metrics(history, ROLLUP_MINUTE_S, ROLLUP_MINUTE_S + 60)


@pytest.mark.parametrize(
    ("lines", "made_of", "member"),
    [
        ([line()], [line(BusyCores=35)], "metric BusyCores"),
        ([line()], [line(Executions=1201)], "metric Executions"),
        ([line()], [line(NeuronCoreUtilization=21.35)], "metric NeuronCoreUtilization"),
        ([line()], [line(Instances=None)], "metric Instances"),
        ([line(1), line(2, Executions=5)], [line(1)], "metric Executions"),
    ],
)
def test_a_metric_that_disagrees_with_its_lines_is_found(lines, made_of, member):
    """A metric with a wrong value, a missing metric and a line without metrics are found."""
    problems = against_metrics(rollups(*lines), extracted(made_of))
    assert member in [problem.member for problem in problems]


def idle_instance(*holders):
    """Return three idle cores of an instance, two of them held."""
    listed = [
        {"Cores": cores, "Name": name} if name else {"Cores": cores} for cores, name in holders
    ]
    return {"InstanceId": "i-1", "Cores": "0-2", "AttachedCores": "0-1", "Holders": listed}


@pytest.mark.parametrize(
    ("holders", "expected"),
    [
        ((("0-1", "unit:a"),), []),
        ((("0", "unit:a"), ("1", "unit:a")), []),
        ((("0-1", "unit:b"),), ["i-1 0-1: expected unit:a, found unit:b"]),
        ((("0", "unit:a"), ("1", None)), ["i-1 1: expected unit:a, found no owner"]),
        ((("0", "unit:a"),), ["i-1 1: expected unit:a, found no owner"]),
    ],
)
def test_an_owner_that_is_not_the_one_played_is_found(holders, expected):
    """A wrong owner, an unnamed owner and a held core without an owner are found."""
    minutes = rollups(line(idle=[idle_instance(*holders)]))
    problems = against_owners({"i-1": {0: "unit:a", 1: "unit:a"}}, minutes)
    assert [f"research, 07:59 UTC, {problem}" for problem in expected] == list(map(str, problems))


def test_the_rollups_of_the_hour_name_the_owners_that_were_played(hour):
    """The rollups of the hour name the played owners, also the job on the idle instance."""
    minutes = {}
    add_rollups(minutes, hour.rollups)
    assert [] == against_owners(core_owners(), minutes)
    (last, *_) = minutes["research", max(at_s for _, at_s in minutes)].publications
    (worst, *_) = last["TopIdleInstances"]
    (holder,) = worst["Holders"]
    assert "0-31" == worst["AttachedCores"]
    assert "slurm:4711 ml-user" == holder["Name"]
    assert 60 == worst["IdleMinutes"]
    assert 21.5 == worst["UsdPerHour"]
