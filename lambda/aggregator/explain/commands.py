"""
What to type next in a shell.

Names are other people's: only an id that EC2 gave is ever put into a command,
and the region is quoted.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_IDS: Final = 5  # in one command or query
_EC2_ID: Final = re.compile(r"i-[0-9a-f]{8,17}")


def in_region(region: str) -> str:
    """The option that says where, with the blank before it; nothing when unknown."""
    return f" --region {shlex.quote(region)}" if region else ""


def owners(instances: Sequence[str], region: str) -> tuple[str, ...]:
    """Whose those instances are."""
    ids = ",".join(_ec2_ids(instances))
    command = (
        f"aws ec2 describe-tags{in_region(region)} --filters Name=resource-id,Values={ids}"
        " --query 'Tags[].[ResourceId,Key,Value]' --output table"
    )
    return (command,) if ids else ()


def states(instances: Sequence[str], region: str) -> tuple[str, ...]:
    """Whether those instances run, and what EC2 knows of their health."""
    ids = " ".join(_ec2_ids(instances))
    command = (
        f"aws ec2 describe-instance-status{in_region(region)} --include-all-instances"
        f" --instance-ids {ids}"
        " --query 'InstanceStatuses[].[InstanceId,InstanceState.Name,SystemStatus.Status,"
        "InstanceStatus.Status]' --output table"
    )
    return (command,) if ids else ()


def shell_on(instances: Sequence[str], region: str) -> tuple[str, ...]:
    """A shell on the first of *instances*, where Systems Manager has an agent on it."""
    command = f"aws ssm start-session{in_region(region)} --target "
    return tuple(command + one for one in _ec2_ids(instances[:1]))


HOLDER: Final = (
    "neuron-ls -a  # which process has which device, and its command line",
    "neuron-explorer capture -n MODEL.neff -s idle.ntff  # neuron-profile in an older Neuron SDK",
    "neuron-explorer view -n MODEL.neff -s idle.ntff --output-format summary-text",
)
"""Which model holds cores without using them, and how it runs by itself."""

HOLDER_NOTE: Final = (
    "capture runs the model itself, on a core that no process has reserved. "
    "To trace the holder while it waits, start it with "
    "NEURON_RT_INSPECT_ENABLE=1 NEURON_RT_INSPECT_DEVICE_PROFILE=1 "
    "NEURON_RT_INSPECT_OUTPUT_DIR=DIR."
)

EMITTER: Final = (
    "pgrep -af neuron-emf  # does the emitter run?",
    "pgrep -af neuron-monitor  # does what it reads?",
)
"""Why an instance that runs says nothing."""

HARDWARE: Final = (
    "sudo dmesg --ctime | grep NEURON_HW_ERR",
    "neuron-ls  # does it still list every device?",
)
"""Which device it is, and what the driver advises."""

RUNTIMES: Final = ("neuron-top  # executions and errors, process by process",)
"""Which process it is."""


def _ec2_ids(instances: Sequence[str]) -> list[str]:
    return [one for one in instances if _EC2_ID.fullmatch(one)][:MAX_IDS]
