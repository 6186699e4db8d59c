"""
An account on 127.0.0.1 with the stack in it, that an operator's commands talk to by real boto3.

    with AccountDouble(lambda: now_s) as account:            # lines older than 30 days are gone
        account.put(account.records_group, "i-0", [(timestamp_ms, text), ...])
        account.put_lines(account.rollups_group, hour.rollups)  # each at its own time
        environment.update(account.variables)      # for boto3, also in another process
        client = account.client("logs")            # or ready-made, for a test of the double
        break_account(account, "records group missing")  # of `account_faults.FAULTS`
        account.denied.add("logs:FilterLogEvents") # one permission
        account.troubles("FilterLogEvents", THROTTLED, THROTTLED)  # of the next two calls
        account.always("StartQuery", UNAVAILABLE)  # of every call
        account.operations                         # what was asked, in order

It answers PutLogEvents and CreateLogStream by the rules that the emitter is
tested with, and FilterLogEvents, GetLogEvents, DescribeLogGroups,
DescribeSubscriptionFilters, DescribeAccountPolicies, DescribeQueryDefinitions,
StartQuery, GetQueryResults, StopQuery, of CloudWatch DescribeAlarms and
DescribeAlarmContributors and, of STS, GetCallerIdentity, with the members of requests
that ours have. Anything else is unknown to it. Names of faults of a call
are those of `proof.logs.faults`.
"""

from __future__ import annotations

import functools
import json
import time
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from proof.account.alarms import AlarmWire, StackAlarms
from proof.account.descriptions import Descriptions
from proof.account.event_reader import EventReader
from proof.account.log_groups import StoredGroups
from proof.account.pages import Tokens
from proof.account.queries import Queries
from proof.account.query_wire import QueryWire
from proof.account.stack_logs import ACCOUNT_ID, REGION, STACK, StackLogs
from proof.logs.forms import ServiceError
from proof.logs.rules import RECORDS_GROUP, Applied, LogRules
from proof.logs.service import LogsService

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from typing_extensions import Self

    from proof.logs.signature import Signer

    Answer = Callable[[dict[str, Any]], dict[str, Any]]

DENIED = "AccessDeniedException"
USER_ARN = f"arn:aws:iam::{ACCOUNT_ID}:user/testing"
DAY_MS = 86_400_000


class AccountDouble:
    """
    A right account: both log groups of class STANDARD, the subscription, no policy. A context.

    Attributes:
        service: The port with its record of calls, its keys, its clock and its faults.

        rules: What was put.

        groups: The log groups; `add` and `remove`, `settings[name].log_group_class`.

        reading: How events are read: the size of pages, empty ones, the lag.

        queries: How queries run: the states they have, the rows of an answer, how they end.

        subscriptions: Subscription filters of all groups, as AWS describes them.

        policies: Account policies, as AWS describes them.

        saved: Saved queries, as AWS describes them.

        alarms: The stack's metric alarms; `fire` changes their states.

        denied: Actions that whoever asks may not do, such as `logs:StartQuery`.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, stack_name: str = STACK, **parameters: str
    ) -> None:
        self.rules = LogRules(clock)
        self.service = LogsService(clock, rules=self.rules)
        self.service.wires[:0] = [QueryWire(), AlarmWire()]
        self.service.allow = self._allow
        tokens = Tokens(clock)
        made_ms = round(clock() * 1000) - 30 * DAY_MS
        stack_logs = StackLogs(stack_name, made_ms, **parameters)
        arn = f"arn:aws:logs:{REGION}:{ACCOUNT_ID}:log-group:"
        self.groups = StoredGroups(self.rules, tokens, arn, made_ms)
        self.rules.groups.clear()
        for name, (log_group_class, days) in stack_logs.groups.items():
            self.groups.add(name, log_group_class, days)
        self.reading = EventReader(self.groups, tokens)
        self.queries = Queries(self.groups, tokens)
        around = Descriptions(self.groups, tokens, stack_logs.subscriptions, stack_logs.saved)
        self.subscriptions, self.saved = around.subscriptions, around.saved
        self.policies = around.policies
        self.alarms = StackAlarms(tokens, clock())
        for logical_id, properties in stack_logs.alarms.items():
            self.alarms.add(stack_name, logical_id, properties)
        self.stack_name = stack_name
        self.denied: set[str] = set()
        answers = {
            **self.groups.answers,
            **self.reading.answers,
            **around.answers,
            **self.queries.answers,
            **self.alarms.answers,
            "GetCallerIdentity": self._get_caller_identity,
        }
        self.rules.further = {name: _without_nulls(answer) for name, answer in answers.items()}

    @property
    def url(self) -> str:
        """Where it is, all its services."""
        return self.service.url

    @property
    def variables(self) -> dict[str, str]:
        """What a process needs in its environment to talk to this account and no other."""
        return {**self.service.variables, "AWS_ENDPOINT_URL": self.url}

    @property
    def operations(self) -> list[str]:
        """What was asked of it, in order."""
        return self.service.operations

    @property
    def records_group(self) -> str:
        """The log group of the emitters' lines."""
        return RECORDS_GROUP

    @property
    def rollups_group(self) -> str:
        """The log group of the rollups."""
        return f"/neuron-emf/{self.stack_name}/rollups"

    def client(self, service: str = "logs", **options: Any) -> Any:
        """A real client that never tries twice and leaves it to the service to check."""
        retries = {"mode": "standard", "total_max_attempts": 1}
        config = Config(retries=retries, parameter_validation=False, **options)
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        return _sdk().client(
            service, endpoint_url=self.url, region_name=REGION, config=config, **keys
        )

    def put(self, group: str, stream: str, lines: Iterable[tuple[int, str]]) -> None:
        """
        Have lines in a stream, of whatever age, as if they had been put when they were written.
        """
        self.rules.groups[group].add(stream)
        now_ms = round(self.rules.clock() * 1000)
        self.rules.applied += [
            Applied(stream, at_ms, text, group, min(at_ms, now_ms)) for at_ms, text in lines
        ]

    def put_lines(self, group: str, lines: Iterable[str], late_ms: int = 0) -> None:
        """
        Have lines of ours in a group, in streams by their instance or cluster.

        Each has the time that it says, or *late_ms* after it: a rollup is printed
        minutes after the minute it is about.
        """
        for text in lines:
            line = json.loads(text)
            at_ms = line["Timestamp"] if "Timestamp" in line else line["_aws"]["Timestamp"]
            stream = str(line.get("InstanceId", line.get("ClusterName", "close")))
            self.put(group, stream, [(at_ms + late_ms, text)])

    def troubles(self, operation: str, *faults: str | ServiceError) -> None:
        """Have one fault happen to each of the next calls of an operation."""
        self.service.next_faults_of.setdefault(operation, []).extend(faults)

    def always(self, operation: str, fault: str | ServiceError) -> None:
        """Have a fault happen to every call of an operation."""
        self.service.always[operation] = fault

    def __enter__(self) -> Self:
        self.service.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.service.__exit__(*error)

    def _allow(self, operation: str, document: dict[str, Any], _signer: Signer) -> None:
        """Refuse what is denied, with the action and the resource; who one is cannot be denied."""
        service = "cloudwatch" if operation in self.alarms.answers else "logs"
        action = f"{service}:{operation}"
        if action in self.denied and operation != "GetCallerIdentity":
            words = (
                f"User: {USER_ARN} is not authorized to perform: {action} on resource:"
                f" {self._resource(document)} because no identity-based policy allows the"
                f" {action} action"
            )
            raise ServiceError(DENIED, words)

    def _resource(self, document: dict[str, Any]) -> str:
        group = document.get("logGroupName", document.get("logGroupNamePrefix", ""))
        return f"{self.groups.arn}{group}:log-stream:{document.get('logStreamName', '')}"

    def _get_caller_identity(self, _document: dict[str, Any]) -> dict[str, Any]:
        members = {"Arn": USER_ARN, "UserId": "AIDATESTING", "Account": ACCOUNT_ID}
        return {"GetCallerIdentity": members}


def _without_nulls(answer: Answer) -> Answer:
    """In JSON a member that is null is not there."""
    return lambda document: answer({name: one for name, one in document.items() if one is not None})


@functools.cache
def _sdk() -> Any:
    """The SDK's own data, read once."""
    return boto3.session.Session()
