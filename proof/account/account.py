"""
An account on 127.0.0.1 with the stack in it, that an operator's commands talk to by real boto3.

    with AccountDouble(lambda: now_s) as account:            # lines older than 30 days are gone
        account.put(account.records_group, "i-0", [(timestamp_ms, text), ...])
        environment.update(account.variables)      # for boto3, also in another process
        break_account(account, "records group missing")  # of `account_faults.FAULTS`
        account.denied.add("logs:FilterLogEvents") # one permission
        account.service.always["StartQuery"] = UNAVAILABLE  # of every call
        account.operations                         # what was asked, in order

It takes lines by the rules that the emitter is tested with; `answers` has what readers
ask. Names of faults of a call are those of `proof.logs.faults`.
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

import boto3
from botocore.config import Config

from local.alarms.template import Template, load_template
from proof.account.answers import AccountAnswers
from proof.logs.faults import ProxyPage
from proof.logs.forms import ServiceError
from proof.logs.rules import RECORDS_GROUP, Applied, LogRules
from proof.logs.service import LogsService
from proof.logs.wire import JsonWire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Self

    from proof.logs.wire import Answer

TEMPLATE = Path(__file__).resolve().parents[2] / "template.yaml"
ACCOUNT_ID = "123456789012"
REGION = "us-west-2"
USER_ARN = f"arn:aws:iam::{ACCOUNT_ID}:user/testing"
DENIED = "AccessDeniedException"
DAY_MS = 86_400_000
# The protocol of CloudWatch is JSON 1.0, which the SDK takes by default.
ALARM_WIRE = ("application/x-amz-json-1.0", "GraniteServiceVersion20100801.")
# What the JSON services say, and what STS says, with HTTP 403 where it is about the signature.
STS_NAMES = {
    "ExpiredTokenException": ("ExpiredToken", 403),
    "UnrecognizedClientException": ("InvalidClientTokenId", 403),
    "InvalidSignatureException": ("SignatureDoesNotMatch", 403),
    "ThrottlingException": ("Throttling", 400),
}


class AccountDouble(AccountAnswers):
    """
    A right account: both log groups of class STANDARD, the subscription, no policy. A context.

    Attributes:
        service: The port with its record of calls, its keys, its clock and its faults.

        denied: Actions that whoever asks may not do, such as `logs:StartQuery`.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, stack_name: str = "neuron-emf", **given: str
    ) -> None:
        super().__init__(LogRules(clock), f"arn:aws:logs:{REGION}:{ACCOUNT_ID}:log-group:")
        self.service = LogsService(clock, rules=self.rules)
        self.service.wires += [StsWire(), JsonWire("monitoring", *ALARM_WIRE)]
        self.service.allow = self._allow
        self.rules.operations["GetCallerIdentity"] = lambda _document: {
            "GetCallerIdentity": {"Arn": USER_ARN, "UserId": "AIDATESTING", "Account": ACCOUNT_ID}
        }
        self.made_ms -= 30 * DAY_MS
        self.stack_name = stack_name
        self.denied: set[str] = set()
        self._deploy({"AWS::StackName": stack_name, **given})

    @property
    def variables(self) -> dict[str, str]:
        """What a process needs in its environment to talk to this account and no other."""
        return {**self.service.variables, "AWS_ENDPOINT_URL": self.service.url}

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

    def client(self, service: str = "logs") -> Any:
        """A real client that never tries twice and leaves it to the service to check."""
        retries = {"mode": "standard", "total_max_attempts": 1}
        config = Config(retries=retries, parameter_validation=False)
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        return _sdk().client(
            service, endpoint_url=self.service.url, region_name=REGION, config=config, **keys
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

    def __enter__(self) -> Self:
        self.service.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.service.__exit__(*error)

    def _deploy(self, given: dict[str, str]) -> None:
        """What a deployment of template.yaml leaves, read from the template itself."""
        values = {"AWS::Region": REGION, "AWS::AccountId": ACCOUNT_ID, **given}
        bare = Template(_document(), values).resources("AWS::Logs::LogGroup")
        named = {logical_id: one["LogGroupName"] for logical_id, one in bare}
        template = Template(_document(), values, named)
        for _, one in template.resources("AWS::Logs::LogGroup"):
            self.add_group(
                one["LogGroupName"],
                one.get("LogGroupClass", "STANDARD"),
                int(one["RetentionInDays"]),
            )
        for _, one in template.resources("AWS::Logs::SubscriptionFilter"):
            self.subscriptions.append(_subscription(one, self.stack_name))
        for logical_id, one in template.resources("AWS::Logs::QueryDefinition"):
            self.saved.append(_saved(logical_id, one))
        for logical_id, one in template.resources("AWS::CloudWatch::Alarm"):
            self.add_alarm(self.stack_name, logical_id, one)

    def _allow(self, operation: str, document: dict[str, Any]) -> None:
        """Refuse what is denied, with the action and the resource; who one is cannot be denied."""
        service = "cloudwatch" if operation.startswith("DescribeAlarm") else "logs"
        action = f"{service}:{operation}"
        if action in self.denied and operation != "GetCallerIdentity":
            group = document.get("logGroupName", document.get("logGroupNamePrefix", ""))
            words = (
                f"User: {USER_ARN} is not authorized to perform: {action} on resource:"
                f" {self.arn}{group}:log-stream:{document.get('logStreamName', '')}"
                f" because no identity-based policy allows the {action} action"
            )
            raise ServiceError(DENIED, words)


class StsWire:
    """The protocol of STS: a request is a form, an answer XML; errors have names of their own."""

    signing_name = "sts"

    def is_of(self, headers: Mapping[str, str]) -> bool:
        return headers.get("content-type", "").startswith("application/x-www-form-urlencoded")

    def request_of(self, _headers: Mapping[str, str], body: bytes) -> tuple[str, dict[str, Any]]:
        document = dict(urllib.parse.parse_qsl(body.decode()))
        return document["Action"], document

    def written(self, answer: Answer) -> tuple[int, str, bytes]:
        if isinstance(answer, ProxyPage):
            return answer.status, "text/html", answer.body
        if isinstance(answer, ServiceError):
            code, status = STS_NAMES.get(answer.code, (answer.code, answer.status))
            words = f"<Code>{code}</Code><Message>{escape(answer.words)}</Message>"
            return (
                status,
                "text/xml",
                f"<ErrorResponse><Error>{words}</Error></ErrorResponse>".encode(),
            )
        ((action, members),) = answer.items()
        text = "".join(f"<{name}>{escape(one)}</{name}>" for name, one in members.items())
        for element in (f"{action}Result", f"{action}Response"):
            text = f"<{element}>{text}</{element}>"
        return 200, "text/xml", text.encode()


def _subscription(properties: dict[str, Any], stack: str) -> dict[str, Any]:
    # <IngestFunction.Arn>, as long as nobody deployed it.
    target = properties["DestinationArn"].strip("<>").partition(".")[0]
    kind = "kinesis" if target.endswith("Stream") else "lambda"
    resource = "stream/" if kind == "kinesis" else "function:"
    name = f"{stack}-{target}-0a1B2c3D4e5F"
    return {
        "filterName": properties["FilterName"],
        "logGroupName": properties["LogGroupName"],
        "filterPattern": properties["FilterPattern"],
        "destinationArn": f"arn:aws:{kind}:{REGION}:{ACCOUNT_ID}:{resource}{name}",
    }


def _saved(logical_id: str, properties: dict[str, Any]) -> dict[str, Any]:
    found = {
        "queryLanguage": "CWLI",
        "queryDefinitionId": str(uuid.uuid5(uuid.NAMESPACE_OID, logical_id)),
        "name": properties["Name"],
        "queryString": properties["QueryString"],
        "logGroupNames": properties.get("LogGroupNames", []),
    }
    if "Parameters" in properties:
        found["parameters"] = [
            {name[0].lower() + name[1:]: value for name, value in one.items()}
            for one in properties["Parameters"]
        ]
    return found


@functools.cache
def _document() -> dict[str, Any]:
    return load_template(TEMPLATE)


@functools.cache
def _sdk() -> Any:
    """The SDK's own data, read once."""
    return boto3.session.Session()
