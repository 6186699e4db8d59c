"""The simulator takes neuron-monitor's own configuration file, with its peculiarities."""

from __future__ import annotations

import pytest

from local.monitor.configuration import (
    Configuration,
    ConfigurationError,
    GroupKey,
    default_configuration,
    parse_configuration,
    read_configuration,
)

RUNTIME_GROUPS = (
    "execution_stats", "memory_used", "neuron_runtime_vcpu_usage", "neuroncore_counters",
)  # fmt: skip
SYSTEM_GROUPS = ["memory_info", "neuron_hw_counters", "vcpu_usage"]


def hardware_period_ms(root):
    """Period of the one group in a configuration with *root* members."""
    group = {"type": "neuron_hw_counters", **root.pop("group", {})}
    found = parse_configuration({**root, "system_metrics": [group]})
    return found.periods_ms()[GroupKey(-1, "neuron_hw_counters")]


def test_without_a_file_every_group_is_collected_each_five_seconds():
    """As the guide says of the default."""
    found = default_configuration()
    expected = {GroupKey(0, name): 5000 for name in RUNTIME_GROUPS}
    expected |= {GroupKey(-1, name): 5000 for name in SYSTEM_GROUPS}
    assert expected == found.periods_ms()
    assert 5000 == found.counters_period_ms()


@pytest.mark.parametrize(
    "period", ["0.5s", "1.0s", "0s", "500ms", "1m", " 1s", "1s\n", "", "-1s", 1]
)
def test_a_period_that_is_not_whole_seconds_silently_becomes_five(period):
    """So it was measured: not refused, not rounded."""
    assert 5000 == hardware_period_ms({"group": {"period": period}})


def test_a_group_without_a_period_takes_the_one_around_it():
    """Its own, else its entry's, else the root's, else 5 s."""
    assert 5000 == hardware_period_ms({})
    assert 15_000 == hardware_period_ms({"period": "15s"})
    assert 2000 == hardware_period_ms({"period": "3s", "group": {"period": "2s"}})
    metrics = [{"type": "memory_used"}, {"type": "neuroncore_counters", "period": "1s"}]
    runtimes = [{"period": "2s", "metrics": metrics}, {"metrics": metrics}]
    found = parse_configuration({"period": "3s", "neuron_runtimes": runtimes})
    assert {
        GroupKey(0, "memory_used"): 2000,
        GroupKey(0, "neuroncore_counters"): 1000,
        GroupKey(1, "memory_used"): 3000,
        GroupKey(1, "neuroncore_counters"): 1000,
    } == found.periods_ms()


def test_a_bad_period_of_an_entry_is_inherited_as_five_seconds():
    """It does not fall through to the root's."""
    entry = {"period": "0.5s", "metrics": [{"type": "memory_used"}]}
    found = parse_configuration({"period": "1s", "neuron_runtimes": [entry]})
    assert [5000] == list(found.periods_ms().values())


def test_a_runtime_belongs_to_the_first_filter_that_finds_something_in_its_tag():
    """A filter is searched for, not matched from the start; a missing one takes all."""
    metrics = [{"type": "memory_used"}]
    entries = [{"tag_filter": one, "metrics": metrics} for one in ("^train", "serve")]
    found = parse_configuration({"neuron_runtimes": entries})
    assert [0, 1, None] == [found.section_of(tag) for tag in ("train-1", "my-serve", "1")]
    assert 0 == parse_configuration({"neuron_runtimes": [{"metrics": metrics}]}).section_of("1")


def test_members_it_does_not_know_are_left_alone():
    """A newer file must not stop it."""
    document = {"new": 1, "system_metrics": [{"type": "vcpu_usage", "colour": "red"}]}
    assert Configuration((), {"vcpu_usage": 5000}) == parse_configuration(document)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "the configuration was expected to be a JSON object and is a list"),
        ({}, "at least one group"),
        ({"system_metrics": {}}, "system_metrics was expected to be a list and is a dict"),
        ({"system_metrics": ["vcpu_usage"]}, "an entry of system_metrics was expected to be"),
        ({"system_metrics": [{"type": "nc_counters"}]}, "names 'nc_counters'"),
        ({"system_metrics": [{"type": "memory_used"}]}, "names 'memory_used'"),
        ({"system_metrics": [{}]}, "names 'None'"),
        ({"neuron_runtimes": [{"tag_filter": "("}]}, "tag_filter was expected to be a regular"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(document, says):
    """It says what was expected and what was found."""
    with pytest.raises(ConfigurationError) as refused:
        parse_configuration(document)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "No such file"), (b"", "was expected to be JSON"), (b"\xff\xfe", "it is not UTF-8")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, says):
    """Missing, empty or binary."""
    path = tmp_path / "monitor.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(path)
    assert str(path) in str(refused.value)
    assert says in str(refused.value)
