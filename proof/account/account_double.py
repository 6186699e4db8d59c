"""
An account on 127.0.0.1 with the stack in it, for an operator's commands through real boto3.

    with AccountDouble(lambda: now_s) as account:            # lines older than 30 days are gone
        account.put(account.records_group, "i-0", [(timestamp_ms, text), ...])
        environment.update(account.variables)      # for boto3, also in another process
        break_account(account, "records group missing")  # of the tests of check
        account.denied.add("logs:FilterLogEvents") # one permission
        account.always["StartQuery"] = UNAVAILABLE  # for every call
        account.operations                         # the calls, in order

It accepts lines by the rules with which the emitter is tested. A page may be empty although more
pages follow, which is a frequent mistake of readers: here the first page of FilterLogEvents is
empty by default, and one more page follows the last event. Operations that only some tests need are
added to `rules.operations`. Names of faults are those of `proof.logs.service_faults`.
"""

from __future__ import annotations

import functools
import json
import time
import urllib.parse
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from local.alarms.template import Template, load_template
from neuron_wire.names import DAY_MS
from proof.logs.logs_service import LogsService
from proof.logs.rules import (
    INVALID_PARAMETER,
    NOT_FOUND,
    NOT_PLAYED,
    RECORDS_GROUP,
    Applied,
    ServiceError,
    matcher,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from proof.logs.rules import Document

ACCOUNT_TEMPLATE = Path(__file__).resolve().parents[2] / "template.yaml"
ACCOUNT_ID = "123456789012"
ACCOUNT_REGION = "us-west-2"
LOG_GROUP_ARN = f"arn:aws:logs:{ACCOUNT_REGION}:{ACCOUNT_ID}:log-group:"
ACCOUNT_DENIED = "AccessDeniedException"
USER_ARN = f"arn:aws:iam::{ACCOUNT_ID}:user/testing"
MAX_CALL_EVENTS = 10_000
MAX_CALL_BYTES = 1_048_576
MAX_DESCRIBED = 50
MAX_PATTERN = 1024  # characters
MAX_STREAMS = 100  # in one request
MAY_DIFFER = {"nextToken", "NextToken", "limit"}  # between two pages
# The words of the JSON services, and of STS, which answers HTTP 403 about signatures.
STS_NAMES = {
    "ExpiredTokenException": ("ExpiredToken", 403),
    "UnrecognizedClientException": ("InvalidClientTokenId", 403),
    "InvalidSignatureException": ("SignatureDoesNotMatch", 403),
    "ThrottlingException": ("Throttling", 400),
}


class AccountDouble(LogsService):
    """
    A healthy account: both log groups of class STANDARD, the subscription, no policy.

    Attributes:
        template: The template as it was deployed.

        made_ms: Creation time of all log groups.

        classes: Classes of log groups, by name.

        days: Retention in days, by the name of a log group.

        denied: Denied actions of the caller, such as `logs:StartQuery`.

        empty_pages: The number of pages without an event before the first page with one.

        empty_reads: The number of answers of GetLogEvents that are empty although events exist.

        lag_ms: The time from storing an event until it can be found.

        subscriptions: Subscription filters of all groups, as AWS describes them.

        policies: Account policies, as AWS describes them.
    """

    records_group = RECORDS_GROUP
    stack_name = "neuron-emf"
    rollups_group = f"/neuron-emf/{stack_name}/rollups"

    def __init__(self, clock: Callable[[], float] = time.time, **given: str) -> None:
        super().__init__(clock)
        self.rules.groups.clear()
        self.rules.operations |= {
            "DescribeAccountPolicies": self._describe_account_policies,
            "DescribeLogGroups": self._describe_log_groups,
            "DescribeSubscriptionFilters": self._describe_subscription_filters,
            "FilterLogEvents": self._filter_log_events,
            "GetCallerIdentity": _get_caller_identity,
            "GetLogEvents": self._get_log_events,
        }
        self.wires.append(StsWire())
        self.allow = self._refuse_denied
        self.made_ms = round(clock() * 1000) - 30 * DAY_MS
        self.classes: dict[str, str] = {}
        self.days: dict[str, int] = {}
        self.denied: set[str] = set()
        self.empty_pages = self.empty_reads = 1
        self.lag_ms = 0.0
        self.policies: list[Document] = []
        values = {"AWS::Region": ACCOUNT_REGION, "AWS::AccountId": ACCOUNT_ID, **given}
        values["AWS::StackName"] = self.stack_name
        bare = Template(_document(), values).resources("AWS::Logs::LogGroup")
        names = {logical_id: group["LogGroupName"] for logical_id, group in bare}
        self.template = Template(_document(), values, names)
        for _, group in self.template.resources("AWS::Logs::LogGroup"):
            log_group_class = group.get("LogGroupClass", "STANDARD")
            self.add_group(group["LogGroupName"], log_group_class, int(group["RetentionInDays"]))
        self.subscriptions = [
            _subscription(properties, self.stack_name)
            for _, properties in self.template.resources("AWS::Logs::SubscriptionFilter")
        ]

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a process that talks to this account and no other."""
        return {**super().variables, "AWS_ENDPOINT_URL": self.url}

    # --- what a test changes ---

    def add_group(self, name: str, log_group_class: str = "STANDARD", days: int = 30) -> None:
        """Create a log group."""
        self.rules.groups.setdefault(name, set())
        self.classes[name] = log_group_class
        self.days[name] = days

    def remove_group(self, name: str) -> None:
        """Delete a log group with its content."""
        del self.rules.groups[name]
        self.subscriptions[:] = [row for row in self.subscriptions if row["logGroupName"] != name]
        self.rules.applied[:] = [event for event in self.rules.applied if event.group != name]

    def put(
        self, group: str, stream: str, lines: Iterable[tuple[int, str]], delay_ms: int = 0
    ) -> None:
        """Add lines to a stream, at any age, as if put *delay_ms* after they were written."""
        self.rules.groups[group].add(stream)
        now_ms = round(self.rules.clock() * 1000)
        self.rules.applied += [
            Applied(stream, at_ms, text, group, min(at_ms + delay_ms, now_ms))
            for at_ms, text in lines
        ]

    def put_lines(self, group: str, lines: Iterable[str], late_ms: int = 0) -> None:
        """
        Add lines of ours to a group, in streams by their instance or cluster.

        Each has its own time, or *late_ms* after it: a rollup is printed minutes after its minute.
        """
        for text in lines:
            line = json.loads(text)
            at_ms = line["Timestamp"] if "Timestamp" in line else line["_aws"]["Timestamp"]
            stream = str(line.get("InstanceId", line.get("ClusterName", "close")))
            self.put(group, stream, [(at_ms + late_ms, text)])

    # --- what answers share ---

    def _refuse_denied(self, operation: str, document: Document) -> None:
        """
        Refuse denied actions, with action and resource; the caller's identity cannot be denied.
        """
        service = "cloudwatch" if operation.startswith("DescribeAlarm") else "logs"
        action = f"{service}:{operation}"
        if action in self.denied and operation != "GetCallerIdentity":
            group = document.get("logGroupName", document.get("logGroupNamePrefix", ""))
            words = (
                f"User: {USER_ARN} is not authorized to perform: {action} on resource:"
                f" {LOG_GROUP_ARN}{group}:log-stream:{document.get('logStreamName', '')}"
                f" because no identity-based policy allows the {action} action"
            )
            raise ServiceError(ACCOUNT_DENIED, words)

    def group_in(self, document: Document, operation: str = "") -> str:
        """Return the log group of a request, of class Standard for an *operation* that reads."""
        name = str(document["logGroupName"])
        if name not in self.rules.groups:
            raise ServiceError(NOT_FOUND, "The specified log group does not exist.")
        if operation and self.classes[name] != "STANDARD":
            words = f"{operation} is supported for log groups of the Standard log class only."
            raise ServiceError(INVALID_PARAMETER, words)
        return name

    def events(self, group: str) -> Iterator[Applied]:
        """Yield events that can be found now, ordered by time and then by arrival."""
        now_ms = round(self.rules.clock() * 1000)
        kept_from_ms = now_ms - self.days[group] * DAY_MS
        for event in sorted(
            self.rules.applied, key=lambda event: (event.timestamp_ms, event.ingested_ms)
        ):
            is_kept = event.group == group and event.timestamp_ms >= kept_from_ms
            if is_kept and event.ingested_ms + self.lag_ms <= now_ms:
                yield event

    # --- answers ---

    def _describe_log_groups(self, document: Document) -> Document:
        found = [
            {
                "logGroupName": name,
                "creationTime": self.made_ms,
                "arn": f"{LOG_GROUP_ARN}{name}:*",
                "deletionProtectionEnabled": False,
                "logGroupClass": self.classes[name],
                "logGroupArn": f"{LOG_GROUP_ARN}{name}",
                "retentionInDays": self.days[name],
            }
            for name in sorted(self.rules.groups)
            if name.startswith(document.get("logGroupNamePrefix", ""))
        ]
        return page(document, "logGroups", found, document.get("limit", MAX_DESCRIBED))

    def _describe_subscription_filters(self, document: Document) -> Document:
        group = self.group_in(document)
        found = [row for row in self.subscriptions if row["logGroupName"] == group]
        return page(document, "subscriptionFilters", found)

    def _describe_account_policies(self, document: Document) -> Document:
        found = [row for row in self.policies if row["policyType"] == document["policyType"]]
        return page(document, "accountPolicies", found)

    def _filter_log_events(self, document: Document) -> Document:
        group = self.group_in(document, "FilterLogEvents")
        if "logStreamNamePrefix" in document:
            raise ServiceError(NOT_PLAYED, "logStreamNamePrefix is not supported here", 501)
        for member, size, most in (
            ("limit", document.get("limit", 1), MAX_CALL_EVENTS),
            ("filterPattern", len(document.get("filterPattern", "")), MAX_PATTERN),
            ("logStreamNames", len(document.get("logStreamNames", ())), MAX_STREAMS),
        ):
            if size > most:
                words = f"Value at '{member}' failed to satisfy constraint: at most {most}"
                raise ServiceError(INVALID_PARAMETER, f"1 validation error detected: {words}")
        matches = matcher(document.get("filterPattern", ""))
        streams = document.get("logStreamNames", self.rules.groups[group])
        if not set(streams) <= set(self.rules.groups[group]):
            raise ServiceError(NOT_FOUND, "The specified log stream does not exist.")
        found = [
            event
            for event in self.events(group)
            if event.stream in streams
            and document.get("startTime", 0) <= event.timestamp_ms
            and event.timestamp_ms <= document.get("endTime", event.timestamp_ms)
            and matches(event.message)
        ]
        start = _place_in(document)  # below 0 during empty pages
        if start is None:
            start = -self.empty_pages if found else 0
        end = max(start, 0)
        size = 0
        while (
            start >= 0 and end < len(found) and end - start < document.get("limit", MAX_CALL_EVENTS)
        ):
            size += len(found[end].message.encode())
            if size > MAX_CALL_BYTES and end > start:
                break
            end += 1
        events = [
            {"logStreamName": event.stream, **_plain(event), "eventId": f"{number:056d}"}
            for number, event in enumerate(found[start:end] if end > start else (), start)
        ]
        # Also after the last event: an empty page follows.
        more = {}
        if events or start < 0:
            more = {"nextToken": _token(document, end if events else start + 1)}
        return {"events": events, "searchedLogStreams": [], **more}

    def _get_log_events(self, document: Document) -> Document:
        """Return the first page of one stream."""
        if not document.get("startFromHead"):
            raise ServiceError(NOT_PLAYED, "only startFromHead is supported here", 501)
        group = self.group_in(document, "GetLogEvents")
        stream = document["logStreamName"]
        if stream not in self.rules.groups[group]:
            raise ServiceError(NOT_FOUND, "The specified log stream does not exist.")
        start_ms = document.get("startTime", 0)
        found = [
            _plain(event)
            for event in self.events(group)
            if event.stream == stream and event.timestamp_ms >= start_ms
        ]
        if found and self.empty_reads:
            self.empty_reads -= 1
            found = []
        return {"events": found}


class StsWire:
    """The protocol of STS: a request is a form, an answer is XML, and errors have other names."""

    signing_name = "sts"

    def is_of(self, headers: Mapping[str, str]) -> bool:
        return headers.get("content-type", "").startswith("application/x-www-form-urlencoded")

    def request_of(self, _headers: Mapping[str, str], body: bytes) -> tuple[str, Document]:
        document = dict(urllib.parse.parse_qsl(body.decode()))
        return document["Action"], document

    def written(self, answer: Document | ServiceError) -> tuple[int, str, bytes]:
        if isinstance(answer, ServiceError):
            code, status = STS_NAMES.get(answer.code, (answer.code, answer.status))
            error = f"<Error><Code>{code}</Code><Message>{escape(answer.words)}</Message></Error>"
            return status, "text/xml", f"<ErrorResponse>{error}</ErrorResponse>".encode()
        ((action, members),) = answer.items()
        text = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in members.items())
        for element in (f"{action}Result", f"{action}Response"):
            text = f"<{element}>{text}</{element}>"
        return 200, "text/xml", text.encode()


def page(
    document: Document,
    member: str,
    found: Sequence[Any],
    size: int = MAX_DESCRIBED,
    token: str = "nextToken",
) -> Document:
    """Return an answer with at most *size* of *found*, and the token of the rest."""
    start = _place_in(document) or 0
    end = start + size
    more = {token: _token(document, end)} if end < len(found) else {}
    return {member: list(found[start:end]), **more}


def _token(document: Document, place: int) -> str:
    """Return a token for the data from *place* on, for the same request only."""
    asked = sorted(member for member in document.items() if member[0] not in MAY_DIFFER)
    return f"{uuid.uuid5(uuid.NAMESPACE_OID, repr(asked))}:{place}"


def _place_in(document: Document) -> int | None:
    """Return the place in a request's token; None if there is none."""
    token = document.get("nextToken", document.get("NextToken"))
    if token is None:
        return None
    place = int(token.rpartition(":")[2]) if ":" in token else 0
    if token != _token(document, place):
        raise ServiceError(INVALID_PARAMETER, "The specified nextToken is invalid.")
    return place


def _get_caller_identity(_document: Document) -> Document:
    identity = {"Arn": USER_ARN, "UserId": "AIDATESTING", "Account": ACCOUNT_ID}
    return {"GetCallerIdentity": identity}


def _subscription(properties: Document, stack: str) -> Document:
    # <IngestFunction.Arn>, until a stack was deployed.
    target = properties["DestinationArn"].strip("<>").partition(".")[0]
    of_kind = "kinesis:{}:stream/" if target.endswith("Stream") else "lambda:{}:function:"
    place = of_kind.format(f"{ACCOUNT_REGION}:{ACCOUNT_ID}")
    return {
        "filterName": properties["FilterName"],
        "logGroupName": properties["LogGroupName"],
        "filterPattern": properties["FilterPattern"],
        "destinationArn": f"arn:aws:{place}{stack}-{target}-0a1B2c3D4e5F",
    }


def _plain(event: Applied) -> Document:
    return {
        "timestamp": event.timestamp_ms,
        "message": event.message,
        "ingestionTime": event.ingested_ms,
    }


@functools.cache
def _document() -> Document:
    return load_template(ACCOUNT_TEMPLATE)
