"""The simulator takes neuron-monitor's own configuration file, with its peculiarities."""

from __future__ import annotations

import pytest

from local.monitor.configuration import (
    ConfigurationError,
    parse_configuration,
    read_configuration,
)

RUNTIME_GROUPS = (
    "execution_stats", "memory_used", "neuron_runtime_vcpu_usage", "neuroncore_counters",
)  # fmt: skip
SYSTEM_GROUPS = ["memory_info", "neuron_hw_counters", "vcpu_usage"]


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
