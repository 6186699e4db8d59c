"""The list of checks, what each fault of an account changes in it, and neuron-monitors to start."""

from __future__ import annotations

import json
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

LINES = ("log stream", "log line", "read back")
GROUPS = (
    *("log group", "log group class", "rollups log group", "rollups log group class"),
    *("metric extraction", "subscription"),
)
CHECKS = {
    **dict.fromkeys(("settings", "neuron-monitor", "devices"), "ok"),
    "input": "not needed",
    **dict.fromkeys(
        ("cluster", "instance", "price", "payment", "region", "credentials", "clock"), "ok"
    ),
    **dict.fromkeys((*GROUPS, *LINES, "attribution"), "ok"),
    "reservations": "not needed",
    **dict.fromkeys(("kernel log", "spool"), "ok"),
    "output": "not needed",
}
"""All there are, in their order, and how they are when nothing is wrong."""

RECORDS = "/neuron-emf/records"
ROLLUPS = "/neuron-emf/neuron-emf/rollups"
ARN = "arn:aws:logs:us-west-2:123456789012:log-group"
POLICY = "attach the stack's emitter policy (its output EmitterPolicyArn) to the role"


@dataclass(frozen=True)
class Row:
    """
    What one fault changes.

    Attributes:
        check: The line that says it.

        found: Words that it says.

        advice: Words of what to do.

        state: Of that line.

        not_tried: The lines that wait for it.
    """

    check: str
    found: str
    advice: str
    state: str = "failed"
    not_tried: tuple[str, ...] = ()


def denied(check, action, resource, state="warning", not_tried=()):
    advice = POLICY if state == "failed" else f"allow logs:{action} in your IAM policy"
    return Row(check, f"logs:{action} on {resource} is denied", advice, state, not_tried)


def silent(check, action):
    found = f"{action} was not answered (ThrottlingException: Rate exceeded"
    return Row(check, found, "try again", "warning")


def fails(check, operation, *not_tried):
    found = f"logs:{operation} on {RECORDS} failed (throttled)"
    return Row(check, found, "try again; while it fails, records wait", not_tried=not_tried)


def of_class(check, *not_tried):
    found = "INFREQUENT_ACCESS: lines are kept, but metrics are not extracted"
    return Row(check, found, "create a log group of class STANDARD", not_tried=not_tried)


def no_group(check, name, advice, *not_tried):
    found = f"no log group {name} in us-west-2"
    return Row(check, found, f"deploy the stack there, or {advice}", not_tried=not_tried)


def unsubscribed(found, advice="LogGroupName"):
    return Row("subscription", found, f"deploy the stack again, with this group as its {advice}")


def extraction_off(groups):
    found = f"the account policy no-metrics disables EMF for {groups}:"
    return Row("metric extraction", found, f"exclude {groups} in its selection criteria, or delete")


def off_time(found):
    return Row("clock", found, "synchronize it with chrony or systemd-timesyncd")


def not_taken(found, advice):
    return Row("credentials", f"AWS rejects {found} (", advice, not_tried=(*GROUPS, *LINES))


UNKNOWN = not_taken("this machine's credentials", "give the instance a role with the stack's emit")
OTHER = "LogGroupName, or name the stack"
FILTER = "no subscription filter neuron-emf-minutes"
STREAM = f"{ARN}:{RECORDS}:log-stream:check/i-0123456789abcdef0"

ROWS = {
    "credentials expired": UNKNOWN,
    "credentials unknown": UNKNOWN,
    "credentials of another secret": not_taken("the signature", "correct the clock of this machin"),
    "records group missing": no_group(
        *("log group", RECORDS, "correct --log-group and --region"),
        *("log group class", "subscription", *LINES),
    ),
    "rollups group missing": no_group(
        "rollups log group", ROLLUPS, "name it with --stack-name", "rollups log group class"
    ),
    "records group INFREQUENT_ACCESS": of_class("log group class", "subscription", "read back"),
    "rollups group INFREQUENT_ACCESS": of_class("rollups log group class"),
    "subscription missing": unsubscribed(f"{FILTER}: no line reaches the stack", OTHER),
    "subscription of another name": unsubscribed(f"{FILTER}; there is somebody-elses", OTHER),
    "subscription of another pattern": unsubscribed('lets what matches "Kind" through instead of'),
    "subscription to another function": unsubscribed(
        "delivers to arn:aws:lambda:us-west-2:123456789012:function:somebody-elses, which"
    ),
    "extraction off everywhere": extraction_off(f"{RECORDS} and {ROLLUPS}"),
    "extraction off for the records group": extraction_off(RECORDS),
    "extraction off for the rollups group": extraction_off(ROLLUPS),
    "clock behind": off_time(" s behind AWS"),
    "clock ahead": off_time(" s ahead of AWS"),
    "nothing read back": Row(
        *("read back", "the line was accepted but cannot be read", "look for it in", "warning")
    ),
    "denied CreateLogStream": denied(
        "log stream", "CreateLogStream", f"{ARN}:{RECORDS}:*", "failed", LINES[1:]
    ),
    "denied PutLogEvents": denied(
        "log line", "PutLogEvents", f"{ARN}:{RECORDS}:*", "failed", LINES[2:]
    ),
    "denied GetLogEvents": denied("read back", "GetLogEvents", STREAM),
    "denied DescribeSubscriptionFilters": denied(
        "subscription", "DescribeSubscriptionFilters", f"{ARN}:{RECORDS}:*"
    ),
    "denied DescribeAccountPolicies": denied("metric extraction", "DescribeAccountPolicies", "*"),
    "throttled CreateLogStream": fails("log stream", "CreateLogStream", *LINES[1:]),
    "throttled PutLogEvents": fails("log line", "PutLogEvents", "read back"),
    "throttled GetLogEvents": silent("read back", "GetLogEvents"),
    "throttled DescribeSubscriptionFilters": silent("subscription", "DescribeSubscriptionFilters"),
    "throttled DescribeAccountPolicies": silent("metric extraction", "DescribeAccountPolicies"),
}


INSTANCE_ID = "i-0123456789abcdef0"


def report(**members: Any) -> dict[str, Any]:
    """A first report of an inf1.xlarge, as small as one can be; *members* replace its own."""
    return {
        "neuron_runtime_data": [],
        "system_data": {"memory_info": {"period": 1.0, "memory_total_bytes": 1, "error": ""}},
        "instance_info": {
            "instance_id": INSTANCE_ID,
            "instance_type": "inf1.xlarge",
            "instance_region": "us-west-2",
            "error": "",
        },
        "neuron_hardware_info": {
            "neuron_device_type": "inferentia",
            "neuron_device_count": 1,
            "neuroncore_per_device_count": 4,
            "error": "",
        },
        **members,
    }


def answering(found: dict[str, Any]) -> str:
    """The body of one that writes *found* and goes on for ever."""
    line = json.dumps(found)
    return f"""
        print({line!r}, flush=True)
        time.sleep(600)
    """


def script(path: Path, body: str) -> Path:
    """
    A program at *path* that is started as the real one is, with `-c FILE`.

    It notes its process id in the file `pid` beside itself.
    """
    head = (
        f"#!{sys.executable} -S\n"
        "import os, signal, sys, time\n"
        f"open({str(path.parent / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    )
    path.write_text(head + textwrap.dedent(body), encoding="utf-8")
    path.chmod(0o755)
    return path
