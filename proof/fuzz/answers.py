"""
What services answer the emitter: metadata, ECS, EC2, and CloudWatch Logs through the real SDK.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from botocore.awsrequest import AWSResponse

from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.destination import Delivered, Invalid, Refused, Retry
from emitter.instance import local_http
from emitter.instance.ecs_cluster import ask_for_cluster
from emitter.instance.identity import find_instance
from emitter.instance.instance_tags import InstanceTags, TagsUnavailableError
from emitter.instance.instance_tags_api import _refusal, _tags
from emitter.instance.metadata_service import MetadataError, MetadataService
from emitter.settings.names import is_printable
from emitter.spool.records import SpooledRecord
from proof.fuzz import broken_json
from proof.fuzz.target import Target, require_sentence, reworded

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

_NOWHERE: Final = Path("/nowhere")
BATCH: Final = [SpooledRecord(place + 1, "b", place + 1, 0, "line") for place in range(5)]
_STATUSES: Final = (200, 200, 200, 400, 400, 403, 413, 429, 500, 503, 302)


class _Peer:
    """
    A service that answers every connection with the same bytes, in the place of module socket.
    """

    socket = socket.socket

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._ends: list[socket.socket] = []

    def create_connection(self, *_: object) -> socket.socket:
        """Our end of a connection; the other has said all and still listens."""
        ours, theirs = socket.socketpair()
        self._ends.append(theirs)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        theirs.settimeout(0)
        with contextlib.suppress(BlockingIOError):  # more than it will read
            theirs.sendall(self._content)
        theirs.shutdown(socket.SHUT_WR)
        return ours

    def close(self) -> None:
        """Close the other ends."""
        for one in self._ends:
            one.close()


@contextlib.contextmanager
def answering(content: bytes) -> Iterator[None]:
    """Every local service answers *content*."""
    before, peer = local_http.socket, _Peer(content)
    local_http.socket = peer
    try:
        yield
    finally:
        local_http.socket = before
        peer.close()


def hears_a_local_service(content: bytes) -> None:
    """What the instance's own services answer is a fact in printable characters, or a reason."""
    with answering(content):
        _hears()


def _hears() -> None:
    facts = find_instance(MetadataService("http://169.254.169.254"), root=_NOWHERE)
    for one in (facts.instance_id, facts.instance_type, facts.region, facts.availability_zone):
        assert one is None or is_printable(one, 128)
    name, why = ask_for_cluster("http://127.0.0.1:51678/v1/metadata")
    assert name or why
    assert len(why) < 500
    try:
        tags = InstanceTags(MetadataService(), ("Name", "aws:autoscaling:groupName")).read()
    except TagsUnavailableError as error:
        require_sentence(error, 500)
    else:
        assert len(tags) <= 2
    try:
        MetadataService().text("/latest/meta-data/instance-id")
    except MetadataError as error:
        require_sentence(error, 500)


def reads_tags(content: bytes) -> None:
    """The answer of DescribeTags is tags, or why there are none."""
    tags = _tags(content)
    if isinstance(tags, dict):
        assert all(isinstance(one, str) for pair in tags.items() for one in pair)
    else:
        assert tags == "the response is not XML"
    assert len(_refusal(403, content)) < 200


class AnsweredStream:
    """A log stream whose service answers what it is told to."""

    def __init__(self) -> None:
        self._stream = LogStream("/g", "s", region="us-east-1", clock=lambda: 1_795_000_000.0)
        self._client: Any = None
        self._answer: tuple[int, dict[str, str], bytes] = (200, {}, b"{}")

    def send(self, status: int, date: str, body: bytes) -> object:
        """What the emitter makes of it."""
        if self._client is None:
            self._client = self._connected()
        self._answer = (status, {"date": date}, body)
        self._stream._client = self._client
        return self._stream.send(BATCH)

    def _connected(self) -> Any:
        os.environ.update(AWS_ACCESS_KEY_ID="testing", AWS_SECRET_ACCESS_KEY="testing")
        client = self._stream._connect()
        client.meta.events.register("before-send.logs.*", self._reply)
        client.close = lambda: None
        return client

    def _reply(self, request: Any, **_: Any) -> AWSResponse:
        status, headers, body = self._answer
        answer = AWSResponse(request.url, status, headers, None)
        answer._content = body
        return answer


_LOGS: Final = AnsweredStream()


def answer_in(content: bytes) -> tuple[int, str, bytes]:
    """The status, the Date header and the body that *content* says."""
    first, _, rest = content.partition(b"\n")
    date, _, body = rest.partition(b"\n")
    status = _STATUSES[(first[0] if first else 0) % len(_STATUSES)]
    return status, date.decode("latin-1"), body


def hears_cloudwatch_logs(content: bytes) -> None:
    """
    An answer never raises: it is one of the four outcomes, and a place it names is in the batch.

    The input is the status, as a place in a list, the Date header and the body, each on a line.
    """
    outcome = _LOGS.send(*answer_in(content))
    assert isinstance(outcome, (Delivered, Retry, Refused, Invalid))
    if isinstance(outcome, Delivered):
        places = [place for those in outcome.rejected.values() for place in those]
        assert sorted(set(places)) == sorted(places)
        assert all(0 <= place < len(BATCH) for place in places)
    else:
        words = outcome.reason if isinstance(outcome, Invalid) else outcome.sentence
        assert len(words) < 1_000


def answered(content: bytes) -> bytes:
    """An answer with this body."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)


def changed_answer(content: bytes, chance: random.Random) -> bytes:
    """The body changed, in an answer that is as long as it says; or the answer reworded."""
    _, _, body = content.partition(b"\r\n\r\n")
    if chance.random() < 0.3:
        return reworded(content, chance)
    change = broken_json.broken if body.startswith(b"{") else reworded
    return answered(change(body, chance))


def _changed_body(content: bytes, chance: random.Random) -> bytes:
    first, date, body = content.split(b"\n", 2)
    if chance.random() < 0.2:
        return b"\n".join([bytes([chance.randrange(256)]), reworded(date, chance), body])
    return b"\n".join([first, date, broken_json.broken(body, chance)])


def _service_answers() -> list[bytes]:
    rejected = {"tooNewLogEventStartIndex": 4, "tooOldLogEventEndIndex": 1}
    rejected["expiredLogEventEndIndex"] = 2
    bodies = [
        (0, {"nextSequenceToken": "1", "rejectedLogEventsInfo": rejected}),
        (0, {"rejectedEntityInfo": {"errorType": "InvalidEntity"}}),
        (3, {"__type": "InvalidParameterException", "message": "Log events are not sorted"}),
        (3, {"__type": "com.amazonaws#ResourceNotFoundException", "message": "no group"}),
        (4, {"__type": "ThrottlingException", "Message": "Rate exceeded"}),
        (8, {"message": "an error"}),
    ]
    date = b"Sat, 21 Nov 2026 08:15:30 GMT"
    return [b"\n".join([bytes([place]), date, json.dumps(body).encode()]) for place, body in bodies]


def _local_answers() -> list[bytes]:
    document = {
        "instanceId": "i-0123456789abcdef0", "instanceType": "trn1.32xlarge", "region": "us-east-1",
        "availabilityZone": "us-east-1a", "imageId": "ami-0123456789abcdef0",
    }  # fmt: skip
    of_ecs = b'{"Cluster":"arn:aws:ecs:r:1:cluster/c"}'
    bodies = [*[json.dumps(document).encode()] * 4, of_ecs, b"Name\n"]
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    return [*map(answered, bodies), chunked]


_TAGS: Final = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b'<DescribeTagsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><tagSet><item>'
    b"<key>Name</key><value>training</value></item></tagSet></DescribeTagsResponse>"
)
_DENIED: Final = (
    b"<Response><Errors><Error><Code>UnauthorizedOperation</Code></Error></Errors></Response>"
)
_LAUGHS: Final = (
    b'<!DOCTYPE l [<!ENTITY a "' + b"x" * 1000 + b'">'
    b'<!ENTITY b "' + b"&a;" * 100 + b'"><!ENTITY c "' + b"&b;" * 100 + b'">]>'
    b"<Response><Code>&c;</Code></Response>"
)

LOCAL: Final = Target("local services", hears_a_local_service, _local_answers, changed_answer)
TAGS: Final = Target("tags in XML", reads_tags, lambda: [_TAGS, _DENIED, _LAUGHS], reworded)
LOGS: Final = Target(
    "CloudWatch Logs' answers", hears_cloudwatch_logs, _service_answers, _changed_body
)
