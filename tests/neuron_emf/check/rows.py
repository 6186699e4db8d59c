"""The faults of an account, and what each changes in the list."""

from __future__ import annotations

from dataclasses import dataclass

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
    **dict.fromkeys((*GROUPS, *LINES, "attribution", "kernel log", "spool"), "ok"),
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

        advice: The beginning of what to do.

        state: Of that line.

        not_tried: The lines that wait for it.
    """

    check: str
    found: str
    advice: str
    state: str = "failed"
    not_tried: tuple[str, ...] = ()


def denied(check, action, resource, advice, *not_tried, state="warning"):
    return Row(check, f"{action} on {resource} is denied", advice, state, not_tried)


def silent(check, action, words, *not_tried):
    found = f"not known: {action} was not answered ({words}"
    return Row(check, found, "try again", "warning", not_tried)


def fails(check, operation, reason, *not_tried):
    found = f"logs:{operation} on {RECORDS} failed ({reason})"
    return Row(check, found, "try again; while it fails, records wait", not_tried=not_tried)


def of_class(check, *not_tried):
    found = "INFREQUENT_ACCESS: lines are kept, but metrics are not extracted"
    return Row(
        check, found, "create a log group of class STANDARD under another name", not_tried=not_tried
    )


def unsubscribed(found, advice="deploy the stack again"):
    return Row("subscription", found, advice)


AGAIN = "deploy the stack again, with this group as its LogGroupName, or name the stack"
NO_EMF = "the account policy no-metrics disables EMF for"
BOTH = f"{RECORDS} and {ROLLUPS}"
LOOK = "in your IAM policy"
THROTTLED = "ThrottlingException: Rate exceeded"
NOT_TAKEN = Row(
    "credentials",
    "AWS rejects this machine's credentials (",
    "give the instance a role with the stack's emitter policy",
    not_tried=(*GROUPS, *LINES),
)
EXTRACTION_OFF = {
    "everywhere": BOTH,
    "for the records group": RECORDS,
    "for the rollups group": ROLLUPS,
}

ROWS = {
    "credentials expired": NOT_TAKEN,
    "credentials unknown": NOT_TAKEN,
    "credentials of another secret": Row(
        "credentials",
        "AWS rejects the signature (",
        "correct the clock of this machine, or the secret access key",
        not_tried=(*GROUPS, *LINES),
    ),
    "records group missing": Row(
        "log group",
        f"no log group {RECORDS} in us-west-2",
        "deploy the stack there, or correct --log-group and --region",
        not_tried=("log group class", "subscription", *LINES),
    ),
    "rollups group missing": Row(
        "rollups log group",
        f"no log group {ROLLUPS} in us-west-2",
        "deploy the stack there, or name it with --stack-name",
        not_tried=("rollups log group class",),
    ),
    "records group INFREQUENT_ACCESS": of_class("log group class", "subscription", "read back"),
    "rollups group INFREQUENT_ACCESS": of_class("rollups log group class"),
    "subscription missing": unsubscribed(
        "no subscription filter neuron-emf-minutes: no line reaches the stack", AGAIN
    ),
    "subscription of another name": unsubscribed(
        "no subscription filter neuron-emf-minutes; there is somebody-elses", AGAIN
    ),
    "subscription of another pattern": unsubscribed(
        'lets what matches "Kind" through instead of "CoveredSeconds"'
    ),
    "subscription to another function": unsubscribed(
        "delivers to arn:aws:lambda:us-west-2:123456789012:function:somebody-elses, which"
    ),
    **{
        f"extraction off {where}": Row(
            "metric extraction",
            f"{NO_EMF} {groups}:",
            f"exclude {groups} in its selection criteria, or delete it",
        )
        for where, groups in EXTRACTION_OFF.items()
    },
    "clock behind": Row(
        "clock", " s behind AWS", "synchronize it with chrony or systemd-timesyncd"
    ),
    "clock ahead": Row(
        "clock", " s ahead of AWS", "synchronize it with chrony or systemd-timesyncd"
    ),
    "nothing read back": Row(
        "read back",
        "the line was accepted but cannot be read",
        "look for it in check/i-",
        "warning",
    ),
    "denied CreateLogStream": denied(
        *("log stream", "logs:CreateLogStream", f"{ARN}:{RECORDS}:*", POLICY),
        *LINES[1:],
        state="failed",
    ),
    "denied PutLogEvents": denied(
        *("log line", "logs:PutLogEvents", f"{ARN}:{RECORDS}:*", POLICY),
        "read back",
        state="failed",
    ),
    "denied GetLogEvents": denied(
        "read back",
        "logs:GetLogEvents",
        f"{ARN}:{RECORDS}:log-stream:check/i-0123456789abcdef0",
        "nothing; to check it, allow logs:GetLogEvents",
    ),
    "denied DescribeSubscriptionFilters": denied(
        "subscription",
        *("logs:DescribeSubscriptionFilters", f"{ARN}:{RECORDS}:*"),
        f"allow logs:DescribeSubscriptionFilters {LOOK}",
    ),
    "denied DescribeAccountPolicies": denied(
        *("metric extraction", "logs:DescribeAccountPolicies", "*"),
        f"allow logs:DescribeAccountPolicies {LOOK}",
    ),
    "throttled CreateLogStream": fails("log stream", "CreateLogStream", "throttled", *LINES[1:]),
    "throttled PutLogEvents": fails("log line", "PutLogEvents", "throttled", "read back"),
    "throttled GetLogEvents": Row(
        "read back", f"GetLogEvents was not answered ({THROTTLED}", "try again", "warning"
    ),
    "throttled DescribeSubscriptionFilters": silent(
        "subscription", "logs:DescribeSubscriptionFilters", THROTTLED
    ),
    "throttled DescribeAccountPolicies": silent(
        "metric extraction", "logs:DescribeAccountPolicies", THROTTLED
    ),
}
