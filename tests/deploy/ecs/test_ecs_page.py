"""What docs/how-to/ecs.md says of parameters and figures is what the files have."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture(scope="session")
def page(repository):
    """The page's text."""
    return (repository / "docs" / "how-to" / "ecs.md").read_text("utf-8")


def test_every_parameter_on_the_page_is_one_of_the_template(page, service_template):
    """With the default that the table has."""
    parameters = service_template["Parameters"]
    rows = re.findall(r"^\| `(\w+)`(?: to `(\w+)`)? \| ([^|]+) \|", page, re.MULTILINE)
    assert {"Metrics", "NameServices", "ReadKernelMessages"} < {row[0] for row in rows}
    for first, last, default in rows:
        assert first in parameters
        assert not last or last in parameters
        if found := re.fullmatch(r"`(\w+)`", default):
            assert found[1] == str(parameters[first]["Default"])


def test_the_page_has_the_memory_of_the_task_definition(page, programs_of_ecs):
    """Reserved, at most, and the heap of neuron-monitor."""
    definition = programs_of_ecs[0]
    assert f"reserved with {definition.RESERVED_MIB} MiB and ends at {definition.LIMIT_MIB}" in page
    assert f"keep to {definition.MONITOR_HEAP.removesuffix('MiB')}." in page


def test_the_page_has_what_a_task_takes_of_an_instance(page, programs_of_ecs):
    """Without so much the daemon is not placed."""
    definition = programs_of_ecs[0]
    needs = f"no {definition.CPU_UNITS} CPU units or {definition.RESERVED_MIB} MiB"
    assert 2 == page.count(needs)


def test_every_role_and_log_group_of_the_example_is_made_on_the_page(page, ecs_folder):
    """Without the template nothing else makes them."""
    task = json.loads((ecs_folder / "daemon.json").read_text("utf-8"))
    (container,) = task["containerDefinitions"]
    for role in (task["taskRoleArn"], task["executionRoleArn"]):
        assert f"aws iam create-role --role-name {role.rpartition('/')[2]} " in page
    group = container["logConfiguration"]["options"]["awslogs-group"]
    assert f"aws logs create-log-group --log-group-name {group}\n" in page


def test_the_page_says_of_every_number_of_devices_that_it_has_a_service(page, programs_of_ecs):
    """A new one of the wire's table comes into the sentence."""
    counts = [str(count) for count in programs_of_ecs[0].types_by_devices()]
    assert f"{', '.join(counts[:-1])} and {counts[-1]} devices" in page
