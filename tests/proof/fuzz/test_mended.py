"""What the search found in the product, in words; the inputs themselves are in `found`."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import time
from contextlib import closing

import pytest

from aggregator import environment
from aggregator.arrivals.arrival import LogLine
from aggregator.environment import SettingError
from emitter.delivery.destination import Delivered, Retry
from emitter.errors import SettingsError
from emitter.fold.state import FoldState, read_state
from emitter.instance.instance_tags_api import _refusal, _tags
from emitter.settings import options
from emitter.spool import NewRecord, Spool
from proof.factories.deliveries import batch, payload
from proof.fuzz.answers import Logs
from proof.fuzz.lines import Ingest
from proof.fuzz.settings import command

DATE = "Sat, 21 Nov 2026 08:15:30 GMT"


@pytest.fixture
def file(tmp_path):
    """A configuration file."""
    return tmp_path / "config.toml"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"tag = " + b"[" * 5000, "it is nested too deeply"),
        (b"period = " + b"9" * 5000, "Exceeds the limit"),
        (b"\xff", "utf-8"),
    ],
)
def test_a_settings_file_that_python_gives_up_on_is_one_sentence(file, content, words):
    """Not a traceback; on SIGHUP it would have ended an emitter that was well."""
    file.write_bytes(content)
    with pytest.raises(SettingsError, match=f"^{re.escape(str(file))} was expected.*{words}"):
        command.main(["--config", str(file)], standalone_mode=False)


@pytest.mark.parametrize("more", [0, 1])
def test_a_settings_file_is_read_up_to_its_limit(file, more):
    """A megabyte, inclusive: what is larger is another file."""
    begin = b'cluster = "a"\n#'
    file.write_bytes(begin + b"x" * (options.MAX_FILE_BYTES - len(begin) + more))
    if more:
        with pytest.raises(SettingsError, match="at most 1048576 bytes"):
            command.main(["--config", str(file)], standalone_mode=False)
    else:
        assert "a" == command.main(["--config", str(file)], standalone_mode=False).cluster


def test_a_variable_of_thousands_of_digits_is_one_sentence():
    """Python refuses to read such a number with an error of its own."""
    with pytest.raises(SettingError, match=r"GRACE_SECONDS is '9{20}', expected a whole number"):
        environment.read({"TABLE_NAME": "t", "STACK_NAME": "s", "GRACE_SECONDS": "9" * 5000})


def test_half_a_letter_in_a_name_does_not_cost_the_log_line():
    """A stream's name is somebody else's: where its bad lines are is said, in whole letters."""
    function = Ingest()
    document = json.loads(gzip.decompress(payload(LogLine("id \udc00", "junk"))))
    content = gzip.compress(json.dumps({**document, "logStream": "i-\ud800"}).encode())
    function.handle(batch(content))
    (logged,) = [one for one in map(json.loads, function.printed.splitlines()) if "message" in one]
    assert (["i-?"], ["id ?"]) == (logged["log_streams"], logged["event_ids"])


@pytest.mark.parametrize("letters", [512, 513])
def test_a_name_is_as_long_as_cloudwatch_logs_lets_it_be(letters):
    """What is longer is no name of a stream, and would stand in the log."""
    document = json.loads(gzip.decompress(payload(LogLine("1", "junk"))))
    content = gzip.compress(json.dumps({**document, "logStream": "x" * letters}).encode())
    answer = Ingest().handle(batch(content))
    assert letters - 512 == len(answer["batchItemFailures"])


@pytest.mark.parametrize("text", ["", " ", "\0", "trn1\n", "\u202e", "é", "x" * 129])
def test_a_kept_text_that_no_line_may_have_begins_again(text):
    """With it every minute would be refused; what else is kept still counts."""
    kept = json.dumps({"instance_type": text, "instance_id": text, "cores": 2}).encode()
    assert FoldState(cores=2) == read_state(kept)


def test_a_kept_text_that_a_line_may_have_is_kept():
    """Printable ASCII, blanks within it too."""
    assert FoldState(instance_type="trn 9~") == read_state(b'{"instance_type":"trn 9~"}')


@pytest.mark.parametrize(
    "change",
    [
        f"UPDATE records SET id = {(1 << 63) - 1} WHERE seq = 1",
        f"UPDATE boots SET produced = {(1 << 63) - 1}",
        f"UPDATE drops SET records = {1 << 62}",
    ],
)
def test_a_spool_whose_numbers_cannot_count_on_is_set_aside(tmp_path, change):
    """
    Its numbers overflowed at the first record: the emitter ended, at this start and at every other.
    """
    now_ms = int(time.time() * 1000)
    with Spool.open(tmp_path) as spool:
        spool.append([NewRecord(now_ms, "old"), NewRecord(now_ms, "older")])
        spool.settle(dropped={"invalid": [2]})
    with closing(sqlite3.connect(tmp_path / "spool.sqlite", isolation_level=None)) as database:
        database.execute(change)
    with Spool.open(tmp_path) as spool:
        spool.append([NewRecord(now_ms, "new")])
        assert ["new"] == [one.line for one in spool.oldest(10, 1000)]
        assert 1 == spool.health().set_aside


@pytest.mark.parametrize("encoding", ["no-such", "cp932"])
def test_tags_in_an_encoding_that_python_lacks_are_no_tags(encoding):
    """They ended the thread that asked, and the reason said was that there had been no answer."""
    body = f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode()
    assert "the answer is no XML" == _tags(body)
    assert "refused with status 403" == _refusal(403, body)


@pytest.mark.parametrize(
    "body",
    [b'{"__type":[]}', b'{"__type":5}', b'{"message":' * 50_000],
    ids=["list", "number", "depth that no Python reads"],
)
def test_an_answer_that_the_sdk_stumbles_over_is_sent_again(body):
    """Whether the records were taken is not known."""
    found = Logs().send(400, DATE, body)
    assert isinstance(found, Retry)
    assert "connection_lost" == found.reason


@pytest.mark.parametrize(
    ("indexes", "rejected"),
    [
        (b'{"tooOldLogEventEndIndex":{}}', {}),
        (b'{"tooOldLogEventEndIndex":"2"}', {}),
        (b'{"tooOldLogEventEndIndex":-3,"expiredLogEventEndIndex":2}', {"expired": (0, 1)}),
        (b'{"tooNewLogEventStartIndex":-1}', {}),
        (b'{"tooNewLogEventStartIndex":3}', {"too_new": (3, 4)}),
        (b'{"tooOldLogEventEndIndex":99}', {"too_old": (0, 1, 2, 3, 4)}),
        (b"[1]", {}),
    ],
)
def test_a_place_that_is_none_is_not_dropped(indexes, rejected):
    """
    A record is dropped when the answer names it, and no record but those that were sent is named.
    """
    body = b'{"rejectedLogEventsInfo":%b}' % indexes
    found = Logs().send(200, DATE, body)
    if indexes == b"[1]":
        assert isinstance(found, Retry)
    else:
        assert Delivered(rejected) == found
