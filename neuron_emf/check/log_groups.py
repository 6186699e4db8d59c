"""
Check the two log groups: the processing of lines in them, and one line written and read back.

Only class STANDARD has both metric extraction and subscriptions, and the class of a group cannot be
changed. The subscription filter has the stack's name, accepts only minute lines, and delivers to
the stack's function or stream, or to a destination in the stack's account.

An account policy stops CloudWatch from extracting metrics in the groups that it selects. It selects
them by name, by the beginning of the name, by a list, or by a list of exceptions. Without criteria
it selects all groups. The
content of its document is not documented; its existence is enough:
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutAccountPolicy.html

The probe's line is JSON without EMF, of a kind that the stack ignores, and without the member that
its subscription requires. Its stream always has the same name, so checks leave only one stream
behind.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emf.check.aws_client import (
    ACCESS,
    NO_LOG_GROUP,
    NOT_AUTHENTICATED,
    UNREACHABLE,
    Answer,
    AwsClient,
    not_authenticated,
    refused,
)
from neuron_emf.check_results import CheckResult, failed, not_needed, not_tried, ok, warning
from neuron_emitter.delivery.aws_failures import ALREADY_EXISTS, unreachable
from neuron_wire.names import VERSION
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_wire.line_members import JsonObject


STANDARD_CLASS: Final = "STANDARD"
LOG_GROUPS_IN_PAGE: Final = 50
POLICY_TYPE: Final = "METRIC_EXTRACTION_POLICY"
PATTERN: Final = '"CoveredSeconds"'
"""The pattern in template.yaml: a member that only minute lines have."""

_CRITERIA: Final = re.compile(
    r"\s*LogGroupName(Prefix)?\s+(NOT\s+)?IN\s*"
    r"\[\s*((?:\"[^\"]*\"\s*(?:,\s*\"[^\"]*\"\s*)*)?)\]\s*",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"\"([^\"]*)\"")
# A destination of another account, or a resource of the stack: CloudFormation begins its name with
# the name of the stack, maybe shortened.
_RECEIVER: Final = re.compile(
    r"arn:[^:]*:(?:logs:[^:]*:[^:]*:destination:.*"
    r"|.*[:/]([^:/]+?)-(?:IngestFunction|RecordsStream)-[^:/]*)"
)
_DEPLOY_WITH_GROUP: Final = "deploy the stack again, with this group as its LogGroupName"


def check_group(aws: AwsClient, name: str, *, deploys: str) -> tuple[CheckResult, CheckResult, str]:
    """
    Check that log group *name* exists, and its class; return also why this is unknown.

    The reason is `NO_LOG_GROUP` if AWS has no group of this name, and empty if it has one.
    *deploys* is the advice in that case.
    """
    answer, group = find_log_group(aws, name)
    if answer.reason:
        waits = not_tried(f"AWS did not answer {answer.action}")
        return _group_unanswered(aws, answer), waits, answer.reason
    if group is None:
        missing = failed(f"no log group {name} in {aws.region}", deploys)
        return missing, not_tried("there is no log group"), NO_LOG_GROUP
    days = group.get("retentionInDays")
    kept = f"kept {counted(days, 'day')}" if isinstance(days, int) else "never expires"
    group_class = str(group.get("logGroupClass", STANDARD_CLASS))  # older Regions have no classes
    class_result = ok(f"{STANDARD_CLASS}: metrics are extracted, subscriptions deliver")
    if group_class != STANDARD_CLASS:
        class_result = failed(
            f"{group_class}: lines are kept, but metrics are not extracted and nothing can "
            "subscribe",
            f"create a log group of class {STANDARD_CLASS} under another name: the class "
            "cannot be changed",
        )
    return ok(f"{name}, {kept}"), class_result, ""


def find_log_group(aws: AwsClient, name: str) -> tuple[Answer, JsonObject | None]:
    """Return the answer, and its entry of log group *name*; None if it does not list the group."""
    answer, groups = aws.ask_all(
        "logs",
        "describe_log_groups",
        "logGroups",
        logGroupNamePrefix=name,
        limit=LOG_GROUPS_IN_PAGE,
    )
    return answer, next((row for row in groups if row.get("logGroupName") == name), None)


def _group_unanswered(aws: AwsClient, answer: Answer) -> CheckResult:
    if answer.reason == UNREACHABLE:
        cause, advice = unreachable(answer.words, aws.region)
        return failed(cause.rstrip("."), advice)
    if answer.reason in NOT_AUTHENTICATED:
        return not_authenticated(answer)
    return refused(answer, "group", resource=aws.arn(), otherwise="; emitters do not need it")


def check_subscription(aws: AwsClient) -> CheckResult:
    """Check that minute lines of the group are delivered to the stack."""
    group = aws.account.log_group
    stack_name = aws.account.stack_name
    if not stack_name:
        return not_needed("there is no stack to subscribe")
    answer, filters = aws.ask_all(
        "logs", "describe_subscription_filters", "subscriptionFilters", logGroupName=group
    )
    if answer.reason == NO_LOG_GROUP:
        return not_tried(f"there is no log group {group}")
    if answer.reason:
        resource = aws.arn(f"{group}:*")
        return refused(answer, resource=resource, otherwise="; emitters do not need it")
    name = f"{stack_name}-minutes"
    subscription = next((row for row in filters if row.get("filterName") == name), None)
    if subscription is None:
        others = ", ".join(str(row.get("filterName")) for row in filters)
        there = f"; there is {others}" if others else ""
        return failed(
            f"the log group has no subscription filter {name}{there}: no line reaches the stack",
            f"{_DEPLOY_WITH_GROUP}, or name the stack that takes the lines with --stack-name",
        )
    pattern = str(subscription.get("filterPattern", ""))
    destination = str(subscription.get("destinationArn", ""))
    receiver = _RECEIVER.fullmatch(destination)
    if pattern.strip() != PATTERN:
        fault = f"has the filter pattern {pattern or '(empty)'} instead of {PATTERN}"
    elif receiver is None or not stack_name.startswith(receiver[1] or ""):
        fault = (
            f"delivers to {destination or 'nothing'}, which is neither IngestFunction nor "
            f"RecordsStream of {stack_name}, nor a destination of another account"
        )
    else:
        return ok(f"{name} delivers minute lines to {destination}")
    return failed(f"{name} {fault}", _DEPLOY_WITH_GROUP)


def selects(criteria: str, group: str) -> bool | None:
    """Return True if a policy with *criteria* selects *group*; None for an undocumented form."""
    if not criteria.strip():
        return True
    match = _CRITERIA.fullmatch(criteria)
    if match is None:
        return None
    prefix, negation, text = match.groups()
    values = _NAME.findall(text)
    is_listed = group.startswith(tuple(values)) if prefix else group in values
    return is_listed is (negation is None)


def check_extraction(aws: AwsClient, groups: Sequence[str]) -> CheckResult:
    """Check that metrics are extracted from the lines in *groups*."""
    answer, policies = aws.ask_all(
        "logs", "describe_account_policies", "accountPolicies", policyType=POLICY_TYPE
    )
    if answer.reason:
        otherwise = f", or ask who owns the account whether a {POLICY_TYPE} is there"
        return refused(answer, resource="*", otherwise=otherwise)
    unreadable: list[str] = []
    for policy in policies:
        name = str(policy.get("policyName", "without a name"))
        criteria = policy.get("selectionCriteria", "")
        selected = {group: selects(criteria, group) for group in groups}
        stopped = " and ".join(group for group in groups if selected[group])
        if None in selected.values():
            unreadable.append(name)
        elif stopped:
            return failed(
                f"the account policy {name} disables EMF for {stopped}: "
                "lines are kept, but metrics are not extracted",
                f"exclude {stopped} in its selection criteria, or delete it",
            )
    if unreadable:
        return warning(
            f"the criteria of the account policy {', '.join(unreadable)} cannot be read",
            f"check whether it disables EMF for {' or '.join(groups)}",
        )
    return ok("no account policy disables EMF for these groups")


KIND: Final = "probe"
ROUND_TRIP_TIMEOUT_S: Final = 180.0
"""Seconds to wait for a line; recorded lines could not be read for more than 90 s."""

ROUND_TRIP_POLL_S: Final = 2.0


def probe_line(cluster: str, instance_id: str, timestamp_ms: int) -> str:
    """Return a line that no consumer treats as a record, different from those of other checks."""
    members = {
        "Schema": VERSION,
        "Kind": KIND,
        "ClusterName": cluster,
        "InstanceId": instance_id,
        "Timestamp": timestamp_ms,
        "Probe": secrets.token_hex(8),
    }
    return json.dumps(members, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Probe:
    """One line on its way, through *aws* to the log stream *stream*."""

    aws: AwsClient
    stream: str
    now_ms: int

    def make_stream(self) -> CheckResult:
        """Call CreateLogStream; an existing stream also proves the permission."""
        answer = self._ask("create_log_stream")
        if answer.words.startswith(ALREADY_EXISTS):
            return ok(f"{answer.action} made {self.stream}, which already existed")
        if answer.reason:
            return self._refused(answer)
        return ok(f"{answer.action} made {self.stream}")

    def put_line(self, line: str, *, has_stream: bool) -> CheckResult:
        """Call PutLogEvents with *line*, even if no stream was created: it may exist."""
        event = {"timestamp": self.now_ms, "message": line}
        answer = self._ask("put_log_events", logEvents=[event])
        if answer.reason and not has_stream and answer.reason != ACCESS:
            return not_tried("there is no log stream")
        if answer.reason == NO_LOG_GROUP:
            sentence = f"{self.stream} was created but does not exist yet"
            return failed(sentence, "try again; emitters do, too")
        if answer.reason:
            return self._refused(answer)
        if rejected := answer.response.get("rejectedLogEventsInfo"):
            return failed(
                f"CloudWatch Logs rejected the timestamp ({', '.join(sorted(rejected))})",
                "correct the clock of this machine",
            )
        return ok(f"{answer.action} took one line of kind {KIND}")

    def read_back(self, line: str) -> CheckResult:
        """
        Call GetLogEvents until *line* is there, which may take minutes.

        An answer without it, even an empty one, proves nothing: the next may have it.
        """
        waited_s = 0.0
        while True:
            answer = self._ask("get_log_events", startTime=self.now_ms, startFromHead=True)
            if answer.reason:
                group = self.aws.account.log_group
                resource = self.aws.arn(f"{group}:log-stream:{self.stream}")
                return refused(answer, "read", resource=resource)
            if any(event.get("message") == line for event in answer.response.get("events", ())):
                return ok(f"{answer.action} returned the line")
            if waited_s >= ROUND_TRIP_TIMEOUT_S:
                return warning(
                    f"the line was accepted but cannot be read after {ROUND_TRIP_TIMEOUT_S:g} s",
                    f"look for it in {self.stream}: CloudWatch Logs may show new lines late",
                )
            time.sleep(ROUND_TRIP_POLL_S)
            waited_s += ROUND_TRIP_POLL_S

    def _ask(self, operation: str, **parameters: object) -> Answer:
        names = {"logGroupName": self.aws.account.log_group, "logStreamName": self.stream}
        return self.aws.ask("logs", operation, **names, **parameters)

    def _refused(self, answer: Answer) -> CheckResult:
        group = self.aws.account.log_group
        resource = self.aws.arn(f"{group}:*")
        return refused(answer, "write", resource=resource, group=group, region=self.aws.region)
