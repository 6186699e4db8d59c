"""The host's vCPU and memory: `average_usage` and `memory_info` only."""

from __future__ import annotations

import pytest
from neuron_reports import minute_of, report, vcpu


def one(cpu=None, memory=None):
    """A report with these system groups."""
    groups = {"vcpu_usage": cpu, "memory_info": memory}
    return report(system_data={name: group for name, group in groups.items() if group is not None})


def test_vcpu_is_the_time_in_which_something_ran():
    """As captured on an inf1.xlarge; waiting for I/O and idling are not work."""
    group = vcpu(user=28.37, system=5.05, idle=66.38, io_wait=0.1, soft_irq=0.1)
    assert 33.52 == minute_of(one(group)).number("HostCpuPercent")


def test_a_group_in_error_gives_no_vcpu():
    """A vCPU error in every report is normal in a sidecar."""
    assert minute_of(one(vcpu(error="open /proc/stat", user=50))).number("HostCpuPercent") is None


def test_vcpu_absent_is_absent():
    """No group, null or without a share: no member, never 0."""
    null = vcpu()
    null["average_usage"] = None
    nulls = vcpu()
    nulls["average_usage"] = dict.fromkeys(nulls["average_usage"])
    for group in (None, null, nulls):
        assert minute_of(one(group)).number("HostCpuPercent") is None


@pytest.mark.parametrize(("told", "expected"), [
    ({"user": 5}, 5), ({"nice": 5}, 5), ({"system": 5}, 5), ({"irq": 5}, 5),
    ({"soft_irq": 5}, 5), ({"irq": 0}, 0), ({"soft_irq": 0}, 0),
    ({"idle": 100, "io_wait": 0}, None),
])  # fmt: skip
def test_one_share_is_enough(told, expected):
    """Whichever share of work is told; what is no work tells nothing of work."""
    shares = dict.fromkeys(vcpu()["average_usage"])
    assert expected == minute_of(one(vcpu(**{**shares, **told}))).number("HostCpuPercent")


def test_vcpu_stays_within_0_to_100():
    """Rounded parts may add up to more."""
    assert 100 == minute_of(one(vcpu(user=70, system=30.1))).number("HostCpuPercent")
    assert 0 == minute_of(one(vcpu(user=-1))).number("HostCpuPercent")
