"""What the search found in the commands of an operator, and what it means to people."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from emitter.errors import SettingsError, SourceError
from neuron_emf import account as accounts
from neuron_emf.account import AccountSettings, account, refusal
from neuron_emf.check.aws_client import AwsClient
from neuron_emf.cost import tariff
from neuron_emf.reading import LogGroup, Records
from neuron_emf.reading.periods import ALWAYS
from neuron_emf.reading.records import MAX_KIND_CHARS, MAX_KINDS
from neuron_emf.report.collection import collect
from neuron_emf.report.comparison import PublishedRollups
from neuron_emf.report.settings import IdleReportSettings
from neuron_wire.holders import Holder
from proof.factories.records import message, record
from proof.fuzz.asked import Answering, reads_query_results
from proof.fuzz.fleets import rollup
from proof.fuzz.targets import target
from proof.fuzz.typed import listening

RIGHT = json.loads(target("rehearsal's answer").seeds()[0].partition(b"\r\n\r\n")[2])


def http_answer(body):
    """*body* as the page of a rehearsal sends it."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize(
    "address",
    [
        "http://a.example\\@127.0.0.1:4566",  # the SDK asked a.example
        "http://a.example@127.0.0.1:4566/",
        "http://127.0.0.1:4566/a?b#c",
    ],
)
def test_a_rehearsal_cannot_lead_elsewhere_by_how_an_address_is_read(address):
    """Two readers of one address may find two hosts in it: the SDK gets one that is made anew."""
    with listening(http_answer(json.dumps({**RIGHT, "endpoint_url": address}).encode())):
        found = account(AccountSettings(rehearsal=True))
    assert "http://127.0.0.1:4566" == found.client("logs").meta.endpoint_url


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{",
        http_answer(b"[" * 60_000),
        http_answer(json.dumps({**RIGHT, "endpoint_url": "https://127.0.0.1"}).encode()),
    ],
    ids=["no HTTP", "cut off", "nested", "no http"],
)
def test_who_listens_in_the_place_of_a_rehearsal_is_none(answer):
    """One sentence, not the traceback of an HTTP or JSON reader."""
    with listening(answer), pytest.raises(SourceError, match="make demo"):
        account(AccountSettings(rehearsal=True))
    assert accounts.REHEARSAL.startswith("http://127.0.0.1:")


def test_a_price_of_hundreds_of_digits_is_one_sentence(tmp_path):
    """TOML has whole numbers that no float has."""
    file = tmp_path / "prices.toml"
    file.write_text(f"log-ingestion = {'9' * 400}\n", encoding="ascii")
    with pytest.raises(SettingsError, match="a number from 0"):
        tariff.with_file(file, "2026-11-21")


@pytest.mark.parametrize("member", ["Records", "Publication", "IdleCoreMinutes", "IdleCost"])
def test_a_rollup_with_a_number_of_hundreds_of_digits_is_counted(member):
    """As unreadable, and the report goes on."""
    published = PublishedRollups(ALWAYS)
    published.add_line(rollup(**{member: int("9" * 400)}))
    published.add_line(rollup())
    assert (1, 1) == (published.unreadable, published.read)


def test_a_minute_that_no_calendar_has_is_outside(tmp_path):
    """One line of the year 287,396 ended the report of all others."""
    lines = tmp_path / "lines"
    last_ms = ALWAYS.end_ms - 60_000
    texts = [
        message(record(minute_ms=at_ms, seq=place + 1))
        for place, at_ms in enumerate((last_ms, ALWAYS.end_ms, (1 << 53) // 60_000 * 60_000))
    ]
    lines.write_text("\n".join(texts), encoding="utf-8")
    report = collect(IdleReportSettings(), [lines])
    read = report.provenance
    assert (last_ms, 1, 2) == (report.start_ms, read.records, read.outside)


def test_kinds_of_lines_are_told_apart_within_bounds():
    """A line in any kind's name is counted, and takes no memory of its own."""
    records, texts = Records(), [f"kind{place}" for place in range(1000)]
    texts += ["k" * (MAX_KIND_CHARS + 1), "\u65e5", "\x1b[2J", "kind0"]
    lines = (json.dumps({"Schema": 1, "Kind": kind}) for kind in texts)
    assert [] == list(records.of(lines))
    assert len(texts) == sum(records.other.values())
    assert MAX_KINDS + 1 == len(records.other)
    assert (2, len(texts) - MAX_KINDS - 1) == (records.other["kind0"], records.other["?"])


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b"[1]",
        b'{"events":[null]}',
        b'{"events":[{"timestamp":1}]}',
        b'{"events":[{"message":"x"}]}',
        b'{"events":[{"message":5,"timestamp":1}]}',
        b'{"events":[{"message":"x","timestamp":"y"}]}',
        b'{"events":5}',
    ],
    ids=["nested", "list", "null", "no message", "no time", "number", "no number", "no events"],
)
def test_an_answer_that_is_not_as_documented_is_one_sentence(body):
    """Of whatever stands between here and AWS; not a traceback out of the SDK."""
    service = Answering()
    service.answer(b"\0" + body)
    with pytest.raises(SourceError, match="logs:FilterLogEvents on /neuron-emf/records was"):
        list(LogGroup(service, service.log_group).lines(0, 60_000))


@pytest.mark.parametrize("action", ["DescribeQueryDefinitions", "StartQuery", "GetQueryResults"])
@pytest.mark.parametrize("answer", [{}, [], {"results": [[{}]], "status": "Complete"}])
def test_logs_insights_is_not_believed_to_answer_as_documented(action, answer):
    """The same of the saved queries and of their rows."""
    answers = json.loads(target("Logs Insights' answers").seeds()[0][1:])
    reads_query_results(b"\0" + json.dumps({**answers, action: answer}).encode())


@pytest.mark.parametrize(
    ("words", "shown"),
    [(["report"], "ml/??"), (["report", "--json"], "ml/\\u65e5\\u672c")],
)
def test_a_terminal_without_the_letters_of_a_name_gets_the_rest(tmp_path, words, shown):
    """A name in Japanese ended the command where the locale is Latin."""
    lines = tmp_path / "lines"
    held = message(record(holders=(Holder("1", "ml/\u65e5\u672c", 41, None),)))
    lines.write_text(held, encoding="utf-8")
    ended = _typed([*words, lines], "latin-1")
    assert (0, b"") == (ended.returncode, ended.stderr)
    assert shown in ended.stdout.decode("latin-1")


def test_a_line_of_a_profile_is_utf_8_whatever_the_terminal_is(tmp_path):
    """It is data for CloudWatch Logs."""
    file = tmp_path / "llama.json"
    file.write_text('{"\u65e5":{"mfu_estimated_percent":0.3}}', encoding="utf-8")
    ended = _typed(["profile", "--cluster", "c", file], "latin-1")
    assert 0 == ended.returncode
    assert "\u65e5" == json.loads(ended.stdout.decode("utf-8"))["Profile"]


@pytest.mark.parametrize("date", [f"Sat, {'2' * 90} Nov 2026 08:15:30 GMT", "Sat", None])
def test_a_date_that_no_calendar_has_tells_no_time(date):
    """It ended `check`; the clocks are then not compared."""
    answer = {"ResponseMetadata": {"HTTPHeaders": {"date": date}}}
    client = SimpleNamespace(describe_log_groups=lambda: answer)
    asking = AwsClient(SimpleNamespace(client=lambda _: client))
    assert "" == asking.ask("logs", "describe_log_groups").reason
    assert asking.skew_s is None


@pytest.mark.parametrize("letters", [100, 101, 3000])
def test_the_code_of_a_refusal_is_as_short_as_codes_are(letters):
    """Whatever stands between here and AWS answers may have written it."""
    error = ClientError({"Error": {"Code": "y" * letters, "Message": "no"}}, "FilterLogEvents")
    said = str(refusal(error, "logs:FilterLogEvents"))
    assert f"and did not ({'y' * 100}): " in said
    assert len(said) < 1000


def _typed(words, encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(
        [sys.executable, "-m", "neuron_emf", *map(str, words)],
        capture_output=True,
        check=False,
        env=environment,
    )
