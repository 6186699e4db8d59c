"""The emitter with the variables of the chart's pod, looked at by the chart's own probes."""

from __future__ import annotations

import pytest

from proof.account.stack_logs import REGION
from tests.deploy.deployed_emitter import deployed_emitter


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_pod_writes_lines_of_its_cluster_and_says_when_it_is_well(render, tmp_path, request):
    """Not well before it runs, well while it does, not well after; its last line is a goodbye."""
    rendered = render({"region": REGION, "settings": {"tag": ["team=search"]}})
    probes = [rendered.container[name] for name in ("startupProbe", "livenessProbe")]
    (command,) = {tuple(one["exec"]["command"]) for one in probes}
    with deployed_emitter(tmp_path, request, rendered.variables) as emitter:
        assert not emitter.is_well(command)
        emitter.start()
        assert emitter.becomes_well(command)
        assert 0 == emitter.stop()
        assert not emitter.is_well(command)
        last = emitter.minutes()[-1]
    assert ("my-cluster", True, "search") == (last["ClusterName"], last["Bye"], last["team"])
