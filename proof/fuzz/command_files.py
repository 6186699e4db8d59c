"""
Files that somebody names on the command line: lines to lint, a profile, prices; and a rehearsal.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import tempfile
import urllib.error
import urllib.parse
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

from urllib3.util import parse_url

from emitter.errors import SettingsError, SourceError
from neuron_emf import account as accounts
from neuron_emf.cost import tariff
from neuron_emf.lint.lines import KEPT_BYTES, lines_of
from neuron_emf.lint.listing import document, listing
from neuron_emf.lint.tally import Tally
from neuron_emf.lint.verdict import judge
from neuron_emf.profile.line import ProfileSubject, profile_of
from neuron_emf.profile.listing import document as profile_document
from neuron_emf.profile.listing import listing as profile_listing
from neuron_emf.profile.listing import sentences
from neuron_emf.profile.summaries import summaries_in
from neuron_wire.emf import violations
from neuron_wire.extraction import MAX_LINE_BYTES
from proof.fuzz import broken_json
from proof.fuzz.answers import answered, changed_answer
from proof.fuzz.fleets import MAX_SENTENCE_CHARS, changed_lines, fleet_lines, printed
from proof.fuzz.target import Target, require_sentence, reworded

if TYPE_CHECKING:
    from collections.abc import Iterator

AT_MS: Final = 1_795_161_600_000
LIMIT: Final = 3
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
FILE: Final = Path(_FOLDER.name) / "llama"
_PROFILES: Final = Path(__file__).resolve().parents[2] / "tests" / "data" / "profile"


def lints(content: bytes) -> None:
    """
    Every line has a kind, every finding is counted, and few are kept; none tells a terminal
    anything.
    """
    FILE.write_bytes(content)
    tally, lines = Tally(LIMIT), 0
    try:
        for line in lines_of(FILE, lambda *_: None):
            assert len(line.content) <= min(line.size, KEPT_BYTES) or not line.content
            tally.add(str(FILE), line.number, judge(line, AT_MS))
            lines += 1
    except SourceError as error:
        require_sentence(error, MAX_SENTENCE_CHARS)
    assert lines == sum(tally.kinds.values())
    assert len(tally.issues) <= LIMIT * len(tally.rules)
    assert sum(tally.rules.values()) == len(tally.issues) + tally.left_out
    assert all(len(one.violation.sentence) < MAX_LINE_BYTES for one in tally.issues)
    printed(listing(tally))
    json.dumps(document(tally, [str(FILE)]), allow_nan=False)


def reads_a_profile(content: bytes) -> None:
    """
    Each summary is a line that CloudWatch extracts and stores, and sentences that print; or the
    file is refused in one.
    """
    FILE.write_bytes(content)
    subject = ProfileSubject("training", "llama", None, AT_MS)
    try:
        summaries = summaries_in(FILE)
    except SourceError as error:
        require_sentence(error, MAX_SENTENCE_CHARS)
        return
    profiles = [profile_of(one, subject) for one in summaries]
    for profile in profiles:
        assert len(profile.line.encode()) < MAX_LINE_BYTES
        assert profile.line.isprintable()
        assert "_aws" not in profile.line or [] == violations(profile.line)
        assert all(text.isprintable() for text in sentences(profile))
    printed(profile_listing(profiles))
    json.dumps(profile_document(profiles), allow_nan=False)


def reads_prices(content: bytes) -> None:
    """
    The file replaces prices that there are with amounts in range, or is refused in one sentence.
    """
    FILE.write_bytes(content)
    try:
        prices = tariff.with_file(FILE, "2026-11-21")
    except SettingsError as error:
        require_sentence(error, 2_000)  # the names of all prices stand in one of them
        return
    assert tariff.listed().prices.keys() == prices.prices.keys()
    for name in prices.replaced:
        usd = prices.prices[name].usd
        assert usd is not None
        assert 0 <= usd <= tariff.MAX_USD


class _Socket:
    """A connection on which somebody has said all."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._content)


@contextlib.contextmanager
def listening(content: bytes) -> Iterator[None]:
    """Whoever listens where the rehearsal's page would answers *content*."""

    class Opener:
        def open(self, *_: Any, **__: Any) -> http.client.HTTPResponse:
            answer = http.client.HTTPResponse(_Socket(content))  # type: ignore[arg-type]
            answer.begin()
            if answer.status != 200:
                raise urllib.error.HTTPError(accounts.REHEARSAL, answer.status, "", {}, None)  # type: ignore[arg-type]
            return answer

    with mock.patch.object(accounts, "_DIRECTLY", Opener()):
        yield


def looks_for_a_rehearsal(content: bytes) -> None:
    """Whatever answers there, the address that the SDK will connect to is on this machine."""
    with listening(content):
        try:
            rehearsal = accounts.account(accounts.AccountSettings(rehearsal=True))
        except SourceError as error:
            require_sentence(error, MAX_SENTENCE_CHARS)
            return
    assert rehearsal._endpoint_url is not None
    for host in (
        urllib.parse.urlsplit(rehearsal._endpoint_url).hostname,
        parse_url(rehearsal._endpoint_url).host,
    ):
        assert ip_address((host or "").strip("[]")).is_loopback


def _rehearsals() -> list[bytes]:
    members = {
        "region": "us-east-1", "log_group": "/neuron-emf/records", "stack_name": "neuron-emf",
        "rollups_log_group": "/neuron-emf/neuron-emf/rollups",
    }  # fmt: skip
    addresses = ("http://127.0.0.1:4566", "http://[::1]:4566", "http://a.example\\@127.0.0.1:1")
    bodies = [json.dumps({**members, "endpoint_url": one}).encode() for one in addresses]
    return [answered(body) for body in bodies]


def _to_lint() -> list[bytes]:
    metric = {"Name": "Latency", "Unit": "Milliseconds"}
    directive = {"Namespace": "Shop", "Dimensions": [["Service"]], "Metrics": [metric]}
    metadata = {"Timestamp": AT_MS, "CloudWatchMetrics": [directive]}
    document = {"_aws": metadata, "Service": "cart", "Latency": 12.5}
    text = json.dumps(document)
    hostile = json.dumps({**document, "_aws": {**metadata, "\x1b[2J\u202e": 1}})
    lines = [text, f"2026-11-21T08:00:00Z {text}", json.dumps({"message": text}), hostile, "'_aws'"]
    return ["\n".join(lines).encode(), *fleet_lines()]


def _profiles() -> list[bytes]:
    return [(_PROFILES / f"{name}.json").read_bytes() for name in ("kernel", "old", "workers")]


LINT: Final = Target("lines to lint", lints, _to_lint, changed_lines)
PROFILES: Final = Target("profiles", reads_a_profile, _profiles, broken_json.broken)
PRICES: Final = Target(
    "prices file",
    reads_prices,
    lambda: [b"log-ingestion = 0.45\nlog-storage = 0\n", b"put-metric-data = 1e-2 # mine\n"],
    reworded,
)
REHEARSAL: Final = Target("rehearsal's answer", looks_for_a_rehearsal, _rehearsals, changed_answer)
