"""
What a rehearsal cannot show, said aloud at its start and at its end.

What the deployment leaves out is read from the template, which knows; the rest
is what the embedded AWS is known not to do.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Final = """
NeuronCores and neuron-monitor: a simulator makes the reports and writes down what it made.
CloudWatch's metric extraction: a pump of ours does it; on AWS nothing calls PutMetricData.
CloudWatch's alarms: an evaluator of ours runs the template's; explain is asked what it would say.
CloudWatch's dashboard and Logs Insights: a page and an engine of ours show the template's.
CloudWatch's metrics of AWS services: few, so the page has red graphs and alarms not evaluated.
Lambda: the functions run under {python} here, without memory limits, retries or dead letters.
CloudWatch Logs: no limits, throttling or retention; subscriptions deliver at once, not in minutes.
DynamoDB: no throttling, and nothing expires.
EventBridge Scheduler: its minutes count from the deployment; close is also asked after each minute.
IAM: every call is allowed.
"""


def limits(template: Mapping[str, Any]) -> list[str]:
    """
    One sentence per thing that is not as on AWS, for this *template*.

    Resources that are left out for the same reason share one.
    """
    python = f"Python {platform.python_version()}"
    sentences = _TEXT.format(python=python).strip().splitlines()
    by_reason: dict[str, list[str]] = {}
    for row in template.get("Metadata", {}).get("Rehearsal", {}).get("NotEmulated", []):
        by_reason.setdefault(row["Why"], []).append(row["Resource"])
    sentences.extend(
        f"Not deployed, because {why}: {', '.join(resources)}."
        for why, resources in by_reason.items()
    )
    return sentences
