"""The simulator takes neuron-monitor's own configuration file, with its peculiarities."""

from __future__ import annotations

import json

import pytest

from local.monitor.configuration import ConfigurationError, read_configuration


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "has not the shape"),
        ({}, "names no group"),
        ({"system_metrics": ["vcpu_usage"]}, "has not the shape"),
        ({"system_metrics": [{"type": "memory_used"}]}, "type: 'memory_used'"),
        ({"neuron_runtimes": [{"tag_filter": "("}]}, "has not the shape"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, document, says):
    """As a whole, with what was found."""
    path = tmp_path / "monitor.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match=says):
        read_configuration(path)
