"""Reports have the shape of captured ones, and say what the scenario is."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from local.monitor.configuration import parse_configuration
from local.monitor.hosts import HOST_NAMES
from local.monitor.instance import SimulatedInstance
from local.monitor.scenarios import SCENARIOS
from neuron_wire.instance_types import INSTANCE_TYPES
from tests.local.report_shape import ECC, ENDINGS, misfits, shape_of
from tests.local.simulated_reports import groups, held, percents, play, reports_of


@pytest.mark.timeout(60)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_report_has_the_shape_of_a_captured_one(scenario):
    """Newest member names: effective_flops, no generic error; of every instance type."""
    for instance_type in HOST_NAMES:
        for line, _ in play(instance_type, scenario, reports=2):
            assert [] == misfits(shape_of(instance_type), json.loads(line)), instance_type


def test_devices_and_cores_are_those_of_the_type():
    """In the hardware block, in the ECC table and in what a runtime lists."""
    assert set(INSTANCE_TYPES) == set(HOST_NAMES)
    for instance_type, row in INSTANCE_TYPES.items():
        report = reports_of(instance_type, reports=1)[0]
        hardware = report["neuron_hardware_info"]
        assert row.devices == hardware["neuron_device_count"], instance_type
        assert row.cores_per_device == hardware["neuroncore_per_device_count"], instance_type
        devices = report["system_data"]["neuron_hw_counters"]["neuron_devices"]
        assert list(range(row.devices)) == [device["neuron_device_index"] for device in devices]
        assert row.cores == len(percents(report)), instance_type
        assert instance_type == report["instance_info"]["instance_type"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_same_arguments_give_the_same_bytes(scenario):
    """And another seed gives another instance with other numbers."""
    assert play(scenario=scenario) == play(scenario=scenario)
    assert play(scenario=scenario) != play(scenario=scenario, seed=2)


def test_the_first_report_covers_milliseconds():
    """In every group; all later ones cover their period, give or take a millisecond."""
    first, *later = reports_of("inf2.8xlarge", "multi-runtime")

    def periods(report):
        parts = [*report["system_data"].values()]
        for one in report["neuron_runtime_data"]:
            parts += one["report"].values()
        return [part["period"] for part in parts]

    assert all(0 < period < 0.08 for period in periods(first))
    for report in later:
        assert all(abs(period - 5) < 0.001 for period in periods(report))


def test_the_percentages_of_the_first_report_are_noise():
    """Far from what the cores do."""
    first, second, *_ = reports_of("trn1.32xlarge")
    assert 30 < max(percents(first)) - min(percents(first))
    assert 30 > max(percents(second)) - min(percents(second))


def test_utilization_wanders_within_the_bounds_of_its_scenario():
    """From report to report a little, over forty minutes a lot."""
    low, high = 55, 92
    rows = [percents(report) for report in reports_of(scenario="busy", reports=481)[1:]]
    assert all(low <= percent <= high for row in rows for percent in row)
    means = [sum(row) / len(row) for row in rows]
    swing = high - low
    assert max(abs(after - before) for before, after in pairwise(means)) < 0.3 * swing
    assert max(means) - min(means) > 0.4 * swing


@pytest.mark.parametrize(
    ("instance_type", "scenario", "busy", "held_cores"),
    [
        ("trn1.32xlarge", "busy", 32, 32),
        ("trn1.32xlarge", "idle", 0, 32),
        ("trn1.32xlarge", "half-idle", 16, 24),
        ("trn1.32xlarge", "empty", 0, 0),
        ("trn1.32xlarge", "multi-runtime", 24, 32),
        ("inf1.xlarge", "half-idle", 2, 3),
        ("inf2.xlarge", "multi-runtime", 1, 2),
        ("trn2.48xlarge", "half-idle", 32, 48),
        ("trn2.3xlarge", "multi-runtime", 3, 4),
    ],
)
def test_who_is_busy_and_who_is_held(instance_type, scenario, busy, held_cores):
    """The busy cores come first, and every busy core is held."""
    line, truth = play(instance_type, scenario, reports=2)[1]
    report = json.loads(line)
    assert set(range(busy)) == {core for core, one in enumerate(percents(report)) if one >= 1}
    assert set(range(held_cores)) == held(report)
    assert [core in held(report) for core in range(len(truth.held))] == list(truth.held)
    if scenario != "empty":
        assert percents(report) == list(truth.percents)


@pytest.mark.parametrize("instance_type", ["inf2.24xlarge", "trn2.3xlarge", "inf1.xlarge"])
def test_the_memory_of_a_runtime_adds_up(instance_type):
    """The device's total is the sum over its cores and fits; the host's is that of its parts."""
    report = reports_of(instance_type, "multi-runtime", reports=1)[0]
    total = INSTANCE_TYPES[instance_type].device_memory_bytes
    used = [one["neuron_runtime_used_bytes"] for one in groups(report, "memory_used")]
    for one in used:
        table = one["usage_breakdown"]["neuroncore_memory_usage"].values()
        assert one["neuron_device"] == sum(sum(uses.values()) for uses in table)
        assert one["host"] == sum(one["usage_breakdown"]["host"].values())
    sums = sum(one["neuron_device"] for one in used)
    assert sums == 0 if instance_type == "inf1.xlarge" else 0.2 * total < sums < total


def test_a_runtime_lists_memory_for_the_devices_it_is_on():
    """Zeros for the neighbour on its device, nothing for other devices."""
    report = reports_of("trn1.32xlarge", "many-runtimes", reports=1)[0]
    memory = groups(report, "memory_used")[3]["neuron_runtime_used_bytes"]["usage_breakdown"]
    table = memory["neuroncore_memory_usage"]
    assert ["2", "3"] == list(table)
    assert not any(table["2"].values())
    assert all(table["3"].values())


def test_a_logical_core_is_the_mean_of_its_physical_ones():
    """Core i of trn2 stands for the physical cores 2i and 2i + 1, both within 0 to 100."""
    for report in reports_of("trn2.48xlarge", "half-idle", reports=3):
        for key, core in groups(report, "neuroncore_counters")[0]["neuroncores_in_use"].items():
            assert [f"nc_v3.{2 * int(key)}", f"nc_v3.{2 * int(key) + 1}"] == sorted(
                core["v3d"], key=lambda name: int(name[6:])
            )
            parts = [one["neuroncore_utilization"] for one in core["v3d"].values()]
            assert all(0 <= part <= 100 for part in parts)
            assert abs(sum(parts) / 2 - core["neuroncore_utilization"]) < 1e-9


def test_nothing_ran_and_there_is_no_latency():
    """Null, not zero; and where something ran, percentiles rise and the host adds to the device."""
    for report in reports_of(scenario="idle"):
        (stats,) = groups(report, "execution_stats")
        assert {"total_latency": None, "device_latency": None} == stats["latency_stats"]
        assert not any(stats["execution_summary"].values())
        assert [0, 0] == percents(report)
    for report in reports_of(scenario="busy"):
        (stats,) = groups(report, "execution_stats")
        device = stats["latency_stats"]["device_latency"]
        total = stats["latency_stats"]["total_latency"]
        order = [device[f"p{rank}"] for rank in (0, 1, 25, 50, 75, 99, 100)]
        assert sorted(order) == order
        assert all(0 < device[name] < total[name] < 0.1 for name in device)
        assert stats["execution_summary"]["completed"] > 0


def test_several_runtimes_with_one_tag():
    """Four, all tagged 1, each listing all cores, 0 for those it does not use; CPU in error."""
    report = reports_of("trn1.32xlarge", "multi-runtime", reports=2)[1]
    runtimes = report["neuron_runtime_data"]
    assert ["1"] * 4 == [one["neuron_runtime_tag"] for one in runtimes]
    assert 4 == len({one["pid"] for one in runtimes})
    for index, counters in enumerate(groups(report, "neuroncore_counters")):
        used = counters["neuroncores_in_use"]
        assert 32 == len(used)
        mine = set(range(8 * index, 8 * index + 8)) if index < 3 else set()
        assert mine == {int(key) for key, one in used.items() if one["neuroncore_utilization"]}
    for one, vcpu in zip(runtimes, groups(report, "neuron_runtime_vcpu_usage"), strict=True):
        assert f"/proc/{one['pid']}/stat" in vcpu["error"]
        assert {"user": 0, "system": 0} == vcpu["vcpu_usage"]


def test_a_runtime_per_core_makes_a_line_of_hundreds_of_kilobytes():
    """Beyond any reader that stops at 64 or 256 KiB; 20 models each."""
    line, _ = play("trn1n.32xlarge", "many-runtimes", reports=1)[0]
    assert 350_000 < len(line) < 450_000
    models = [len(one["loaded_models"]) for one in groups(json.loads(line), "memory_used")]
    assert [20] * 32 == models


def test_executions_fail_in_every_way():
    """Tallies of the period, told alike in the report and in the truth."""
    sums = dict.fromkeys(ENDINGS, 0)
    for line, truth in play("trn1.2xlarge", "errors", reports=60):
        (stats,) = groups(json.loads(line), "execution_stats")
        assert stats["execution_summary"] == truth.executions
        sums = {name: sums[name] + truth.executions[name] for name in ENDINGS}
    assert all(sums.values())
    assert sums["completed"] > 10 * sum(sums[name] for name in ENDINGS[1:])


@pytest.mark.parametrize("instance_type", ["trn1.32xlarge", "inf2.xlarge"])
def test_ecc_counters_are_totals_that_rise(instance_type):
    """From 0, never falling; the truth names the rise of each report."""
    before = None
    sums = dict.fromkeys(ECC, 0)
    for line, truth in play(instance_type, "ecc", reports=90):
        devices = json.loads(line)["system_data"]["neuron_hw_counters"]["neuron_devices"]
        now = {name: sum(one[name] for one in devices) for name in ECC}
        rise = {name: now[name] - (before or now)[name] for name in ECC}
        assert rise == truth.ecc_rises
        assert min(rise.values()) >= 0
        before = now
        sums = {name: sums[name] + rise[name] for name in ECC}
    assert all(sums.values())


def test_failing_counters_show_zeros_and_an_error_beside_them():
    """In every fifth report the second runtime's; the truth then knows nothing about its cores."""
    rows = play("inf2.24xlarge", "faulty", reports=11)
    for number, (line, truth) in enumerate(rows):
        good, bad = groups(json.loads(line), "neuroncore_counters")
        failed = number in {5, 10}
        assert failed is (bad["error"] != "")
        assert "" == good["error"]
        assert None not in truth.percents[:6]
        assert [failed] * 6 == [one is None for one in truth.percents[6:]]
        if failed:
            used = bad["neuroncores_in_use"].values()
            assert not any(one["neuroncore_utilization"] for one in used)
            assert good["period"] == truth.period_s


def configured(*runtime_groups, tag_filter=".*", **system_groups):
    """A configuration of (name, period) pairs."""
    metrics = [{"type": name, "period": period} for name, period in runtime_groups]
    system = [{"type": name, "period": period} for name, period in system_groups.items()]
    runtimes = [{"tag_filter": tag_filter, "metrics": metrics}]
    return parse_configuration({"neuron_runtimes": runtimes, "system_metrics": system})


def test_groups_appear_only_in_the_lines_where_they_are_due():
    """Counters each 5 s, memory each 10 s, the host each 3 s."""
    configuration = configured(
        ("neuroncore_counters", "5s"), ("memory_used", "10s"), memory_info="3s"
    )
    rows = play(configuration=configuration, reports=6)
    shown = [
        (
            [sorted(one["report"]) for one in report["neuron_runtime_data"]],
            sorted(report["system_data"] or ()),
        )
        for report in (json.loads(line) for line, _ in rows)
    ]
    both = ["memory_used", "neuroncore_counters"]
    assert [
        ([both], ["memory_info"]),  # 0 s
        ([], ["memory_info"]),  # 3 s: runtimes are not due, and the list is empty
        ([["neuroncore_counters"]], []),  # 5 s
        ([], ["memory_info"]),  # 6 s
        ([], ["memory_info"]),  # 9 s
        ([both], []),  # 10 s
    ] == shown
    assert [False, True, False, True, True, False] == [one.percents is None for _, one in rows]
    assert [False, True, True, True, True, False] == [one.held is None for _, one in rows]
    assert {None} == {one.executions for _, one in rows}
    assert json.loads(rows[2][0])["system_data"] is None


def test_a_group_that_is_due_seldom_covers_its_own_time():
    """Its executions are those of all that time."""
    configuration = configured(("neuroncore_counters", "1s"), ("execution_stats", "15s"))
    rows = play(configuration=configuration, reports=31)
    told = [truth.executions["completed"] for _, truth in rows if truth.executions]
    configuration = configured(("neuroncore_counters", "1s"), ("execution_stats", "1s"))
    each_second = play(configuration=configuration, reports=16)
    fifteen = [truth.executions["completed"] for _, truth in each_second[1:16]]
    assert 3 == len(told)
    assert abs(told[1] - sum(fifteen)) < 0.3 * told[1]


def test_what_nobody_asked_for_is_null():
    """No runtime groups: the list is null, not empty, and the truth says nothing about cores."""
    configuration = parse_configuration({"system_metrics": [{"type": "memory_info"}]})
    line, truth = play(configuration=configuration, reports=1)[0]
    assert json.loads(line)["neuron_runtime_data"] is None
    assert (None, None, None) == (truth.runtimes, truth.percents, truth.held)
    configuration = configured(("neuroncore_counters", "5s"))
    assert reports_of(configuration=configuration, reports=1)[0]["system_data"] is None


def test_a_tag_filter_hides_runtimes():
    """With none left the list is empty, but nobody says that the cores are idle."""
    configuration = configured(("neuroncore_counters", "5s"), tag_filter="^2$")
    line, truth = play("inf2.24xlarge", "multi-runtime", configuration=configuration)[1]
    assert [] == json.loads(line)["neuron_runtime_data"]
    assert truth.percents is None


def test_the_id_is_made_up_unless_given():
    """It looks like one, differs by seed, and can be empty as where no metadata is in reach."""
    made = [SimulatedInstance("inf2.xlarge", "busy", seed).instance_id for seed in (1, 2)]
    assert made[0] != made[1]
    assert all(re.fullmatch(r"i-0[0-9a-f]{16}", one) for one in made)
    for given in ("i-0123", ""):
        block = SimulatedInstance("inf2.xlarge", "busy", 1, given).identity_block()
        assert given == block["instance_id"]
