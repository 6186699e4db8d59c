"""
The words of neuron-monitor-cloudwatch.py, so that what was built on it goes on.

Its source is not published with its documentation. Known from its command line
and from what its users show are the options, the choices of `--common-dims`
and the names `NeuronCoreUtilizationNC0`, `NC1` and so on, one for each core;
docs/how-to/migrating.md says from where. No other name is made up here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter import VARIABLE_PREFIX
from emitter.lines.settings import LEGACY, NONE, LineSettings
from neuron_wire.names import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTANCE_ID: Final = "instance_id"
INSTANCE_TYPE: Final = "instance_type"
AMI_ID: Final = "ami_id"
RUNTIME_TAG: Final = "neuron_runtime_tag"
COMMON_DIMS: Final = (INSTANCE_ID, INSTANCE_TYPE, AMI_ID, RUNTIME_TAG)
"""The choices of `-d/--common-dims`; here they are also the names of the dimensions."""

METRIC_NAME: Final = re.compile(r"NeuronCoreUtilizationNC[0-9]+")
UNIT: Final = "Percent"


def core_metrics(utilization_percent: Sequence[float | None]) -> dict[str, float]:
    """Utilization by the name of its core; a core that nobody knows about has no value."""
    return {
        f"NeuronCoreUtilizationNC{core}": round(value, 2)
        for core, value in enumerate(utilization_percent)
        if value is not None
    }


def used(common_dims: Sequence[str]) -> tuple[str, ...]:
    """
    The common dimensions that a line can have.

    Not the runtime tag: a core's value is the greatest of all its runtimes, so
    there is one value, and no one tag.
    """
    return tuple(dict.fromkeys(name for name in common_dims if name != RUNTIME_TAG))


def needed(tier: str, log_group: str) -> str:
    """What whoever comes from that script lacks where CloudWatch Logs refuses; empty for others."""
    if tier != LEGACY:
        return ""
    return (
        "Unlike neuron-monitor-cloudwatch.py, which needs "
        "cloudwatch:PutMetricData, this command needs logs:PutLogEvents and "
        f"logs:CreateLogStream on log group {log_group} (change it with "
        f"{VARIABLE_PREFIX}_LOG_GROUP)."
    )


def differences(settings: LineSettings) -> list[str]:
    """
    What whoever comes from neuron-monitor-cloudwatch.py must know, a sentence each.

    Empty where no setting was given that this script has too. To be said once,
    on standard error.
    """
    is_legacy = settings.tier == LEGACY
    is_used = settings.namespace != NAMESPACE or settings.common_dims or settings.high_resolution
    if settings.tier == NONE or not (is_legacy or is_used):
        return []
    said: list[str] = []
    if is_legacy:
        said.append(
            "The metrics are NeuronCoreUtilizationNC0, NC1 and so on, and no other "
            "metric of neuron-monitor-cloudwatch.py. The other values are in the log "
            "lines, for Logs Insights; use --metric to turn them into metrics."
        )
        if not used(settings.common_dims):
            said.append(
                "Without --common-dims all instances share one metric per core number, "
                "as with neuron-monitor-cloudwatch.py."
            )
    else:
        said.append(
            "The metric names differ from those of neuron-monitor-cloudwatch.py, and "
            "ClusterName is a dimension. Use --metrics legacy for "
            "NeuronCoreUtilizationNC0, NC1 and so on."
        )
        if used(settings.common_dims):
            said.append(
                "--common-dims adds one dimension set: ClusterName and the given dimensions."
            )
    if RUNTIME_TAG in settings.common_dims:
        said.append(
            "neuron_runtime_tag is not a dimension here, because a core's value is "
            "the maximum over its runtimes: alarms on this tag get no more data. "
            "Lines of Kind runtime have the tag."
        )
    if settings.high_resolution:
        carried = "" if is_legacy else " and ExecutionErrors; all others stay at one minute"
        said.append(
            "--high-resolution-metrics sends a line per report, with one-second "
            f"metrics of core utilization{carried}."
        )
    return said
