"""The page for users of AWS's scripts names only flags, members and values that exist."""

from __future__ import annotations

import dataclasses
import re
import shlex

import msgspec
import pytest

from neuron_emitter.fold.runtime_lines import DEVICE_USES, HOST_USES
from neuron_emitter.reports import groups
from neuron_emitter.reports.report import Report
from neuron_emitter.settings import RunSettings

# Words of AWS and of the page's examples that resemble a member.
STRUCTS = {
    name: var
    for name, var in vars(groups).items()
    if isinstance(var, type) and issubclass(var, msgspec.Struct)
}


@pytest.fixture(scope="module")
def page(repository):
    """Return the text of the page."""
    return (repository / "docs" / "how-to" / "migrating.md").read_text(encoding="utf-8")


def commands(text):
    """Return the words of each `neuron-emf run` in the page's code."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    joined = "\n".join(blocks).replace("\\\n", " ")
    return [shlex.split(arguments) for arguments in re.findall(r"neuron-emf run (.*)", joined)]


def test_every_command_has_only_flags_that_exist(page):
    """The page's commands have only flags that exist."""
    fields = dataclasses.fields(RunSettings)
    flags = {f"--{field.name.replace('_', '-')}" for field in fields}
    flags |= {field.metadata["short"] for field in fields if field.metadata.get("short")}
    page_commands = commands(page)
    assert 4 <= len(page_commands)
    for words in page_commands:
        assert set() == {word for word in words if re.match(r"--?[a-z]", word)} - flags


def members_of(shape):
    """Return the members of a struct and of its nested structs, by neuron-monitor's names."""
    for field in msgspec.structs.fields(shape):
        if not field.encode_name.startswith("("):
            yield field.encode_name
        for name in re.findall(r"\w+", str(field.type)):
            if (inner := STRUCTS.get(name)) is not None:
                yield from members_of(inner)


def test_every_value_of_a_report_has_its_place(page):
    """The page has a place for each value of a report, read or not."""
    frame = {"neuron_runtime_data", "report", "system_data", "instance_info", "vcpu_usage"}
    frame |= {"neuron_hardware_info", "neuron_k8s_info", "neuroncore_counters", "memory_used"}
    frame |= {"execution_stats", "latency_stats", "neuron_hw_counters"}
    known = set(members_of(Report)) | {"usage_data", "memory_used_bytes", "model_id", "name"}
    assert {"p25", "swap_used_bytes", "subnet_id", "dma_buffers"} <= known | {*HOST_USES}
    table = page.partition("### Where each value of a report is")[2].partition("### Cost")[0]
    assert [] == sorted(
        name for name in {*known, *HOST_USES, *DEVICE_USES} - frame if f"`{name}`" not in table
    )
