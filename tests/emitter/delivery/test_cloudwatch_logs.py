"""
CloudWatch Logs through a real boto3 client: against moto, and against a strict double.

moto knows order, age and missing names. Nobody but the double here enforces the
limits of number, size and span, or fails the way the service fails.
"""

from __future__ import annotations

import http.server
import json
import logging
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from email.utils import formatdate

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import __version__
from emitter.delivery import aws_failures, cloudwatch_logs
from emitter.delivery.aws_failures import Failure, bounded, outcome_of, sdk_outcome
from emitter.delivery.batches import MAX_BATCH_BYTES, MAX_BATCH_EVENTS
from emitter.delivery.cloudwatch_logs import LogStream, stream_name
from emitter.delivery.delivery import Delivery, Flushed
from emitter.delivery.destination import Delivered, Invalid, Refused, Retry
from emitter.errors import SettingsError
from emitter.spool import NewRecord, Spool
from emitter.spool.records import SpooledRecord

GROUP = "/neuron-emf/records"
STREAM = "training/i-0123456789abcdef0"
REGION = "eu-north-1"
BOOT = "019aa3c5d2f04f1e2d3c"
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def now_ms() -> int:
    """
    The service's clock is the real one.
    """
    return int(time.time() * 1000)


def batch_of(*lines, ages_ms=()):
    """
    Records to put; the first ages_ms are those of the first lines.
    """
    ages = [*ages_ms, *[0] * (len(lines) - len(ages_ms))]
    return [
        SpooledRecord(i, BOOT, i, now_ms() - age_ms, line)
        for i, (line, age_ms) in enumerate(zip(lines, ages, strict=True), 1)
    ]


class Answer:
    """
    What the double says instead of doing its work; *applied* does the work first.
    """

    def __init__(self, status, code, message="", *, applied=False):
        self.status = status
        self.code = code
        self.message = message
        self.applied = applied


RESET = Answer(0, "reset")
RESET_APPLIED = Answer(0, "reset", applied=True)
HANG = Answer(0, "hang")
THROTTLED = Answer(400, "ThrottlingException", "Rate exceeded")


class LogsDouble(http.server.ThreadingHTTPServer):
    """
    A CloudWatch Logs on 127.0.0.1 that enforces every rule of PutLogEvents.

    Attributes:
        script: Answers for the next calls, by operation; without one it does its work.

        events: What it holds, by stream.

        calls: Operations in order, with the headers of the newest.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), DoubleHandler)
        self.script: dict[str, list[Answer]] = {}
        self.groups = {GROUP}
        self.events: dict[str, list[str]] = {}
        self.calls: list[str] = []
        self.headers = None
        self.skew_s = 0.0
        self.rejected: dict[str, int] = {}
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """
        For AWS_ENDPOINT_URL.
        """
        return f"http://127.0.0.1:{self.server_port}"

    def work(self, operation, request):
        """
        What the service does, or the error it answers with.
        """
        group, stream = request["logGroupName"], request["logStreamName"]
        if group not in self.groups:
            return Answer(
                400, "ResourceNotFoundException", "The specified log group does not exist."
            )
        if operation == "CreateLogStream":
            if stream in self.events:
                return Answer(
                    400, "ResourceAlreadyExistsException", "The specified log stream already exists"
                )
            self.events[stream] = []
            return {}
        if stream not in self.events:
            return Answer(
                400, "ResourceNotFoundException", "The specified log stream does not exist."
            )
        events = request["logEvents"]
        times = [event["timestamp"] for event in events]
        sizes = [len(event["message"].encode()) for event in events]
        for broken, message in (
            (len(events) > 10_000, "Member must have length less than or equal to 10000"),
            (sum(sizes) + 26 * len(events) > 1_048_576, "Upload too large"),
            (times[-1] - times[0] >= DAY_MS, "The batch spans more than 24 hours"),
            (sorted(times) != times, "Log events must be in chronological order"),
            ("poison" in {event["message"] for event in events}, "1 validation error detected"),
        ):
            if broken:
                return Answer(400, "InvalidParameterException", message)
        self.events[stream] += [event["message"] for event in events]
        return {"rejectedLogEventsInfo": self.rejected} if self.rejected else {}


class DoubleHandler(http.server.BaseHTTPRequestHandler):
    """
    AWS JSON 1.1: the operation is in a header, errors carry `__type`.
    """

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """
        One call.
        """
        double = self.server
        operation = self.headers["X-Amz-Target"].rpartition(".")[2]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        double.calls.append(operation)
        double.headers = self.headers
        planned = double.script.get(operation)
        answer = planned.pop(0) if planned else double.work(operation, request)
        if isinstance(answer, Answer) and answer.applied:
            double.work(operation, request)
        if answer is HANG:
            double.released.wait(9)
            self.close_connection = True
        elif isinstance(answer, Answer) and answer.code == "reset":
            # Linger 0: a reset, not an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif isinstance(answer, Answer):
            self.reply(answer.status, {"__type": answer.code, "message": answer.message})
        else:
            self.reply(200, answer)

    def reply(self, status, document):
        """
        One answer, with the service's own clock.
        """
        body = json.dumps(document).encode()
        self.send_response_only(status)
        self.send_header("Date", formatdate(time.time() + self.server.skew_s, usegmt=True))
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self):
        """
        A connection that was reset has nothing left to finish.
        """
        if self.connection.fileno() >= 0:
            super().finish()

    def log_message(self, *_):
        """
        Silence: pytest shows what matters.
        """


@pytest.fixture
def no_aws(monkeypatch, tmp_path):
    """
    No credentials, region or profile of this machine, and no instance metadata.
    """
    for name in ("PROFILE", "REGION", "DEFAULT_REGION", "SESSION_TOKEN", "ENDPOINT_URL"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return monkeypatch


@pytest.fixture
def aws(no_aws):
    """
    Credentials that no account knows.
    """
    no_aws.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    no_aws.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    return no_aws


@pytest.fixture
def double(aws):
    """
    The strict double, where boto3 finds it.
    """
    with LogsDouble() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        aws.setenv("AWS_ENDPOINT_URL", server.url)
        yield server
        server.released.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def log_stream(aws):  # noqa: ARG001 its environment
    """
    The destination under test, on whatever endpoint is set.
    """
    opened = LogStream(GROUP, STREAM, region=REGION)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def moto_server():
    """
    The server of moto behind a socket, once for this module: it takes a second to import.
    """
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def moto(aws, moto_server):
    """
    A client to prepare and look with; every test has its own group.
    """
    aws.setenv("AWS_ENDPOINT_URL", moto_server)
    client = boto3.client("logs", region_name=REGION)
    client.create_log_group(logGroupName=GROUP)
    yield client
    client.delete_log_group(logGroupName=GROUP)
    client.close()


def lines_in(client, group=GROUP):
    """
    What moto holds, in its order.
    """
    found = client.get_log_events(logGroupName=group, logStreamName=STREAM, startFromHead=True)
    return [event["message"] for event in found["events"]]


def test_a_missing_stream_is_made(moto, log_stream):
    """
    Put, create, put; then only put.
    """
    assert Delivered() == log_stream.send(batch_of("a", "b"))
    assert Delivered() == log_stream.send(batch_of("c"))
    assert ["a", "b", "c"] == lines_in(moto)


def test_a_missing_group_is_refused_with_what_to_do(moto):
    """
    The emitter makes no group: it would have no subscription and no retention.
    """
    missing = LogStream("/not/there", STREAM, region=REGION)
    answer = missing.send(batch_of("a"))
    missing.close()
    assert "no_log_group" == answer.reason
    for word in ("/not/there", REGION, "deploy the stack", "--log-group"):
        assert word in answer.sentence
    assert ["/not/there"] != [
        group["logGroupName"] for group in moto.describe_log_groups()["logGroups"]
    ]


@pytest.mark.usefixtures("moto")
def test_out_of_order_is_invalid(log_stream):
    """
    The service refuses the whole call.
    """
    log_stream.send(batch_of("first"))
    answer = log_stream.send(batch_of("now", "before", ages_ms=(0, 1000)))
    assert Invalid(
        "Log events in a single PutLogEvents request must be in chronological order."
    ) == (answer)


def test_too_new_is_rejected_from_its_place_on(moto, log_stream):
    """
    The start is inclusive; the rest of the call is kept.
    """
    answer = log_stream.send(batch_of("now", "later", ages_ms=(0, -3 * HOUR_MS)))
    assert Delivered({"too_new": (1,)}) == answer
    assert ["now"] == lines_in(moto)


def test_too_old_is_answered_and_not_tried_again(moto, log_stream):
    """
    The index of moto is that of the last old event, the service's is one more.
    """
    answer = log_stream.send(batch_of("older", "old", "now", ages_ms=(16 * DAY_MS, 15 * DAY_MS, 0)))
    assert Delivered({"too_old": (0,)}) == answer
    assert ["now"] == lines_in(moto)


def test_a_spool_with_everything_in_it_is_delivered_to_moto(moto, log_stream):
    """
    Unordered, 40 hours apart, too old and too new: what can be taken is, all is accounted for.
    """
    ages = {"c": HOUR_MS, "a": 40 * HOUR_MS, "b": 30 * HOUR_MS, "d": 0}
    ages |= {"old": 15 * DAY_MS, "new": -3 * HOUR_MS}
    with Spool.open(None, max_age_s=None) as spool:
        spool.append([NewRecord(now_ms() - age_ms, line) for line, age_ms in ages.items()])
        assert Flushed(4, 0) == Delivery(spool, log_stream).flush(5)
        assert {"too_old": 1, "too_new": 1} == spool.health().dropped
    assert ["a", "b", "c", "d"] == lines_in(moto)


def test_one_put_is_one_call(double, log_stream):
    """
    Nothing is described first, nothing is retried behind our back; the version is in the header.
    """
    double.events[STREAM] = []
    assert Delivered() == log_stream.send(batch_of("a"))
    assert ["PutLogEvents"] == double.calls
    assert f"neuron-emf/{__version__}" in double.headers["User-Agent"]


def test_a_stream_that_another_made_meanwhile_is_a_success(double, log_stream):
    """
    Two emitters of one instance start together.
    """
    double.script["CreateLogStream"] = [
        Answer(400, "ResourceAlreadyExistsException", "already exists", applied=True)
    ]
    assert Delivered() == log_stream.send(batch_of("a"))
    assert ["PutLogEvents", "CreateLogStream", "PutLogEvents"] == double.calls


def test_a_stream_that_is_not_there_yet_is_waited_for(double, log_stream):
    """
    Made, and still unknown: try again, it is not the group.
    """
    missing = Answer(400, "ResourceNotFoundException", "The specified log stream does not exist.")
    double.script["PutLogEvents"] = [missing, missing]
    assert "stream_not_ready" == log_stream.send(batch_of("a")).reason
    assert Delivered() == log_stream.send(batch_of("a"))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (THROTTLED, ("throttled", True, False)),
        (Answer(429, "TooManyRequestsException"), ("throttled", True, False)),
        (Answer(500, "InternalFailure"), ("service", False, False)),
        (Answer(503, "ServiceUnavailableException"), ("service", False, False)),
        (Answer(502, "what a proxy says"), ("service", False, False)),
        (RESET, ("connection_lost", False, True)),
    ],
)
def test_what_passes_is_a_retry(double, log_stream, answer, expected):
    """
    After one call: the waiting is ours, not the SDK's.
    """
    double.script["PutLogEvents"] = [answer]
    outcome = log_stream.send(batch_of("a"))
    assert isinstance(outcome, Retry)
    assert expected == (outcome.reason, outcome.throttled, outcome.ambiguous)
    assert ["PutLogEvents"] == double.calls
    assert Delivered() == log_stream.send(batch_of("a"))


def test_throttled_while_the_stream_is_made_is_a_retry(double, log_stream):
    """
    CreateLogStream has 50 a second for the whole account.
    """
    double.script["CreateLogStream"] = [THROTTLED]
    assert "throttled" == log_stream.send(batch_of("a")).reason


def test_no_answer_in_time_is_ambiguous(double, log_stream, monkeypatch):
    """
    The records may have been taken.
    """
    monkeypatch.setattr(cloudwatch_logs, "READ_TIMEOUT_S", 0.2)
    double.script["PutLogEvents"] = [HANG]
    outcome = log_stream.send(batch_of("a"))
    assert ("timeout", True) == (outcome.reason, outcome.ambiguous)


def test_nobody_listening_is_no_connection(aws, log_stream):
    """
    A subnet without a way to CloudWatch: the sentence names the address.
    """
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    aws.setenv("AWS_ENDPOINT_URL", url)
    outcome = log_stream.send(batch_of("a"))
    assert ("no_connection", False) == (outcome.reason, outcome.ambiguous)
    assert url in outcome.sentence


@pytest.mark.parametrize(
    ("answer", "reason", "words"),
    [
        (Answer(400, "ExpiredTokenException", "expired"), "credentials", "renew"),
        (Answer(400, "UnrecognizedClientException", "token"), "credentials", "role"),
        (Answer(403, "InvalidSignatureException", "earlier"), "signature", "clock"),
        (
            Answer(400, "AccessDeniedException", "User: arn:aws:iam::1:user/a is not authorized"),
            "access",
            "logs:PutLogEvents",
        ),
        (Answer(400, "NeverHeardOfException", "hm"), "refused", "NeverHeardOfException"),
        (
            Answer(
                400,
                "InvalidParameterException",
                "1 validation error detected: Value 'x' at 'logStreamName' failed",
            ),
            "refused",
            "logStreamName",
        ),
    ],
)
def test_what_somebody_must_change_is_refused(double, log_stream, answer, reason, words):
    """
    One sentence with the region and what to do; never a dropped record.
    """
    double.script["PutLogEvents"] = [answer]
    outcome = log_stream.send(batch_of("a"))
    assert isinstance(outcome, Refused)
    assert reason == outcome.reason
    assert words in outcome.sentence
    assert REGION in outcome.sentence
    assert "\n" not in outcome.sentence


def test_new_credentials_are_found_without_a_restart(no_aws, double, tmp_path):
    """
    None at first; then somebody writes the file.
    """
    no_aws.delenv("AWS_ACCESS_KEY_ID")
    no_aws.delenv("AWS_SECRET_ACCESS_KEY")
    log_stream = LogStream(GROUP, STREAM, region=REGION)
    outcome = log_stream.send(batch_of("a"))
    assert "credentials" == outcome.reason
    assert "emitter policy" in outcome.sentence
    assert [] == double.calls
    path = tmp_path / "credentials"
    path.write_text("[default]\naws_access_key_id = A\n")
    assert "credentials" == log_stream.send(batch_of("a")).reason
    path.write_text("[default]\naws_access_key_id = A\naws_secret_access_key = B\n")
    assert Delivered() == log_stream.send(batch_of("a"))
    log_stream.close()


@pytest.mark.usefixtures("aws")
def test_no_region_is_refused():
    """
    With the option to pass.
    """
    outcome = LogStream(GROUP, STREAM).send(batch_of("a"))
    assert "no_region" == outcome.reason
    assert "--region" in outcome.sentence


def test_the_region_may_come_from_the_environment(aws, double):
    """
    As boto3 finds it; the sentence then names it.
    """
    aws.setenv("AWS_DEFAULT_REGION", "us-west-2")
    double.groups.clear()
    log_stream = LogStream(GROUP, STREAM)
    assert "us-west-2" in log_stream.send(batch_of("a")).sentence
    log_stream.close()


def test_an_endpoint_that_is_no_address_is_refused(aws, log_stream):
    """
    The SDK's own words.
    """
    aws.setenv("AWS_ENDPOINT_URL", "not an address")
    assert "client" == log_stream.send(batch_of("a")).reason


def test_an_empty_message_is_invalid(double, log_stream):
    """
    The SDK finds it before the service does.
    """
    assert isinstance(log_stream.send(batch_of("")), Invalid)
    assert [] == double.calls


@pytest.mark.parametrize(
    ("indexes", "expected"),
    [
        ({"tooOldLogEventEndIndex": 2}, {"too_old": (0, 1)}),
        ({"tooOldLogEventEndIndex": 0}, {}),
        ({"expiredLogEventEndIndex": 2}, {"expired": (0, 1)}),
        (
            {"tooOldLogEventEndIndex": 1, "expiredLogEventEndIndex": 3},
            {"too_old": (0,), "expired": (1, 2)},
        ),
        ({"tooNewLogEventStartIndex": 3}, {"too_new": (3,)}),
        (
            {"tooOldLogEventEndIndex": 2, "tooNewLogEventStartIndex": 2},
            {"too_old": (0, 1), "too_new": (2, 3)},
        ),
        ({"tooOldLogEventEndIndex": 9, "tooNewLogEventStartIndex": 0}, {"too_old": (0, 1, 2, 3)}),
    ],
)
def test_rejected_events_are_in_one_class_each(double, log_stream, indexes, expected):
    """
    Ends are exclusive, the start is inclusive; an index out of range is cut to the batch.
    """
    double.rejected = indexes
    assert Delivered(expected) == log_stream.send(batch_of(*"abcd"))


@pytest.mark.usefixtures("double")
def test_the_largest_call_is_accepted(log_stream):
    """
    The double enforces the limits; 10,000 events and exactly 1,048,576 bytes pass them.
    """
    filler = MAX_BATCH_BYTES - 26 * MAX_BATCH_EVENTS - (MAX_BATCH_EVENTS - 1)
    lines = ["x"] * (MAX_BATCH_EVENTS - 1) + ["x" * filler]
    assert Delivered() == log_stream.send(batch_of(*lines))
    assert isinstance(log_stream.send(batch_of(*lines[:-1], "x" * (filler + 1))), Invalid)


def test_skew_is_measured_and_said_once_an_hour(double, log_stream, caplog):
    """
    At every answer, errors included; 60 s is still within what a network may cost.
    """
    assert log_stream.skew_s is None
    double.script["PutLogEvents"] = [THROTTLED]
    double.skew_s = -100
    for _ in range(3):
        log_stream.send(batch_of("a"))
        assert 98 <= log_stream.skew_s <= 102
    assert ["clock skew found"] == caplog.messages
    double.skew_s = 0
    log_stream.send(batch_of("a"))
    assert abs(log_stream.skew_s) <= 2


@pytest.mark.usefixtures("double")
def test_the_hour_is_counted_by_our_own_clock(caplog):
    """
    Once more after an hour, however wrong the clock is.
    """
    times = [time.time()]
    log_stream = LogStream(GROUP, STREAM, region=REGION, clock=lambda: times[-1] + 500)
    with caplog.at_level(logging.WARNING, "emitter"):
        for later_s in (0, 3599, 3600):
            times.append(times[0] + later_s)
            log_stream.send(batch_of("a"))
    log_stream.close()
    assert 2 == len(caplog.messages)


def test_whatever_fails_on_the_way_every_record_arrives_or_is_counted(double, log_stream):
    """
    A rough day: throttling, errors, resets before and after the call was applied, poison.

    Taken at least once; without the copies, exactly what is counted as delivered.
    """
    rng = random.Random(7)
    kinds = [THROTTLED, Answer(500, "InternalFailure"), RESET, RESET_APPLIED]
    refusals = {5, 15}  # few: a new client costs the SDK a fifth of a second
    with Spool.open(None) as spool:
        delivery = Delivery(spool, log_stream, sleep=lambda _: None)
        sent = []
        for turn in range(25):
            texts = [f"line {len(sent) + i}" for i in range(rng.randint(1, 6))]
            texts += ["poison"] if rng.random() < 0.2 else []
            spool.append([NewRecord(now_ms() - rng.randint(0, 2) * DAY_MS, text) for text in texts])
            sent += texts
            double.script["PutLogEvents"] = rng.choices(kinds, k=rng.randint(0, 2))
            if turn in refusals:
                double.script["PutLogEvents"].insert(0, Answer(400, "ExpiredTokenException"))
            if turn % 5 == 2:
                double.script["PutLogEvents"].insert(0, RESET_APPLIED)
            delivery.attempt()
        double.script.clear()
        delivery.flush(60)
        health = spool.health()
        assert sent.count("poison") == health.dropped["invalid"]
        assert len(sent) - sent.count("poison") == health.delivered
        assert set(sent) - {"poison"} == set(double.events[STREAM])
        assert len(double.events[STREAM]) > health.delivered  # the answers that were lost


def test_boto3_is_loaded_with_the_first_send_only():
    """
    `--output stdout` must not pay for it.
    """
    program = (
        "import sys; from emitter.delivery.cloudwatch_logs import LogStream; LogStream('a', 'b');"
        "print([name for name in sys.modules if name.startswith('boto')])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ).stdout
    assert "[]" == printed.strip()


@pytest.mark.parametrize(
    ("group", "stream"),
    [
        ("", "s"),
        ("has space", "s"),
        ("aws/reserved", "s"),
        ("g" * 513, "s"),
        ("g", ""),
        ("g", "a:b"),
        ("g", "s" * 513),
    ],
)
def test_a_name_that_cannot_be_is_wrong_use(group, stream):
    """
    Found before the first record, not by refusing records one by one.
    """
    with pytest.raises(SettingsError, match="must be") as caught:
        LogStream(group, stream)
    assert len(str(caught.value)) < 300


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_any_parts_make_a_stream_name(parts):
    """
    Colons, asterisks and white space become hyphens; the length is bounded.
    """
    LogStream("g", stream_name(*parts))


def test_the_longest_names_are_accepted():
    """
    512 characters, inclusive.
    """
    LogStream("g" * 512, "s" * 512)
    assert "a/b-c" == stream_name("a", "b:c")


def test_quoted_values_are_cut_from_the_words():
    """
    A validation message quotes the events; the member's name is what is worth keeping.
    """
    words = "1 validation error detected: Value '[{message=secret}]' at 'logEvents' failed"
    failure = Failure("PutLogEvents", "InvalidParameterException", 400, words + " x" * 500)
    outcome = outcome_of(failure, group=GROUP, region=REGION)
    assert outcome.reason.startswith("1 validation error detected: value at 'logEvents' failed")
    assert "secret" not in outcome.reason
    assert len(outcome.reason) <= 303
    assert "one two" == bounded("one\n  two")


@given(st.text(), st.integers(0, 599), st.text())
def test_no_answer_of_the_service_drops_records_by_mistake(code, status, words):
    """
    Whatever is unknown is a retry or a refusal: only what the service calls invalid is halved.
    """
    outcome = outcome_of(Failure("PutLogEvents", code, status, words), group="g", region="r")
    assert isinstance(outcome, Retry | Refused) or status == 413 or code in aws_failures._INVALID


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("NoRegionError", "no_region"),
        ("LoginError", "credentials"),
        ("ConnectTimeoutError", "no_connection"),
        ("SSLError", "no_connection"),
        ("ResponseParserError", "connection_lost"),
        ("SomethingNewError", "client"),
    ],
)
def test_errors_of_the_sdk_are_known_by_name(kind, expected):
    """
    Some exist only in newer versions of it; what is unknown keeps the records.
    """
    assert expected == sdk_outcome({kind, "BotoCoreError", "Exception"}, "words").reason
