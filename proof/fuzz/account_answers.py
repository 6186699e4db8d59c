"""What CloudWatch Logs answers an operator's commands through the real SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.awsrequest import AWSResponse

from emitter.errors import SourceError
from neuron_emf.reading import LogGroup, Records
from neuron_emf.reading.periods import Period
from neuron_emf.report.collection import from_queries
from neuron_emf.report.comparison import PublishedRollups
from neuron_emf.report.counting import Counting
from neuron_wire.prices import Prices
from proof.factories.records import MINUTE, message, record
from proof.fuzz import broken_json
from proof.fuzz.fleets import MAX_SENTENCE_CHARS
from proof.fuzz.target import Target, require_sentence

if TYPE_CHECKING:
    import random

PERIOD: Final = Period(MINUTE * 60_000, (MINUTE + 10) * 60_000)
MAX_CALLS: Final = 50  # of a service that says the same for ever
_STATUSES: Final = (200, 200, 200, 400, 500, 302)


class _EnoughError(BaseException):
    """It would go on for ever."""


class Answering:
    """
    An account whose services answer every call with what *content* says.

    Its first byte is the status. Of a document with the names of actions each
    call gets the member of its action; any other content is the answer itself.
    """

    log_group = "/neuron-emf/records"
    rollups_log_group = "/neuron-emf/rollups"
    stack_name = "neuron-emf"
    is_rehearsal = False

    def __init__(self) -> None:
        self._made = boto3.session.Session(
            region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        ).client("logs", endpoint_url="http://127.0.0.1:1")
        self._made.meta.events.register("before-send.logs.*", self._reply)
        self._made.meta.events.register_first("needs-retry.logs.*", lambda **_: None)
        self.answer(b"\0{}")

    def answer(self, content: bytes) -> None:
        """Answer so from now on."""
        self._status = _STATUSES[(content[0] if content else 0) % len(_STATUSES)]
        self._body, self._by_action, self._calls = content[1:], {}, 0
        try:
            document = json.loads(self._body)
        except (ValueError, RecursionError):
            return
        if isinstance(document, dict) and "StartQuery" in document:
            self._by_action = document

    def client(self, _service: str) -> Any:
        return self._made

    def _reply(self, request: Any, **_: Any) -> AWSResponse:
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise _EnoughError
        action = request.headers["X-Amz-Target"].decode().partition(".")[2]
        body = self._body
        if action in self._by_action:
            body = json.dumps(self._by_action[action]).encode()
        answer = AWSResponse(request.url, self._status, {}, None)
        answer._content = body
        return answer


_ACCOUNT: Final = Answering()


def reads_a_log_group(content: bytes) -> None:
    """The answers of FilterLogEvents are lines, or why there are none, in one sentence."""
    _ACCOUNT.answer(content)
    group: Any = LogGroup(_ACCOUNT, _ACCOUNT.log_group)  # type: ignore[arg-type]
    records = Records()
    try:
        read = list(records.of(group.lines(PERIOD.start_ms, PERIOD.end_ms)))
    except SourceError as error:
        require_sentence(error, MAX_SENTENCE_CHARS)
    except _EnoughError:
        assert b"nextToken" in content  # whoever says so for ever is asked for ever
    else:
        assert len(read) == records.read


def reads_query_results(content: bytes) -> None:
    """
    The answers of Logs Insights are rows that are counted, or why there are none, in one sentence.
    """
    _ACCOUNT.answer(content)
    counting, published = Counting(PERIOD, 15, Prices()), PublishedRollups(PERIOD)
    try:
        reading = from_queries(
            _ACCOUNT,  # type: ignore[arg-type]
            PERIOD,
            "training",
            counting,
            published,
            sleep=lambda _: None,
        )
    except SourceError as error:
        require_sentence(error, MAX_SENTENCE_CHARS)
    except _EnoughError:
        pass  # a query that runs, or has pages, for ever
    else:
        assert reading.records >= len(counting.instances)
        assert len(reading.rollups_problem) < MAX_SENTENCE_CHARS


def _changed(content: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.1:
        return bytes([chance.randrange(256)]) + content[1:]
    return content[:1] + broken_json.broken(content[1:], chance)


def _pages() -> list[bytes]:
    event = {"timestamp": PERIOD.start_ms, "message": message(record()), "logStreamName": "s"}
    bodies = [
        (0, {"events": [event, event]}),
        (0, {"events": [], "searchedLogStreams": []}),
        (3, {"__type": "AccessDeniedException", "message": "no"}),
    ]
    return [bytes([place]) + json.dumps(body).encode() for place, body in bodies]


def _queries() -> list[bytes]:
    prefix = "neuron-emf/idle-time-"
    row = [{"field": "Line", "value": message(record())}]
    told = {"ClusterName": "training", "Minute": "2025-11-25T00:00Z", "Number": "1"}
    told |= {"RecordsCounted": "1", "CoreMinutes": "1", "Usd": "0.01"}
    rollup = [{"field": name, "value": value} for name, value in told.items()]
    answers = {
        "DescribeQueryDefinitions": {
            "queryDefinitions": [
                {"name": f"{prefix}{name}", "queryString": "# x\nfields @message"}
                for name in ("minutes", "rollups")
            ]
        },
        "DescribeLogGroups": {
            "logGroups": [{"logGroupName": "/neuron-emf/records", "creationTime": 1}]
        },
        "StartQuery": {"queryId": "q"},
        "GetQueryResults": {
            "status": "Complete",
            "results": [row, rollup],
            "statistics": {"bytesScanned": 1000.0},
        },
    }
    return [b"\0" + json.dumps(answers).encode()]


FILTERED: Final = Target("FilterLogEvents' answers", reads_a_log_group, _pages, _changed)
QUERIED: Final = Target("Logs Insights' answers", reads_query_results, _queries, _changed)
