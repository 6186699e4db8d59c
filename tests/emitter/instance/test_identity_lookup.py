"""Facts in the background: there when they come, and never waited for longer than asked."""

from __future__ import annotations

import threading
import time

import pytest
from played_services import DOCUMENT, TOKEN_PATH

from emitter.backoff import Backoff
from emitter.instance.facts import InstanceFacts
from emitter.instance.lookup import BackgroundLookup
from emitter.instance.machine import ASSET_TAG_FILE
from emitter.instance.metadata_service import MetadataService

BOARD_ID = "i-0fedcba9876543210"
PATIENCE_S = 300.0


@pytest.fixture
def look(machine):
    """Start a lookup that tries again at once; all are closed with the test."""
    started = []

    def start(service, files=None, *, before=()):
        roots = (*before, machine(files))
        lookup = BackgroundLookup(service, roots=roots, backoff=Backoff(0.01, 0.02))
        started.append(lookup)
        return lookup

    yield start
    for one in started:
        one.close()


def until(is_so):
    """Wait for *is_so* to hold."""
    ends_at_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends_at_s
        time.sleep(0.005)


def test_the_first_try_can_be_waited_for(imds, look):
    """At the start of the emitter all facts are there, in the usual case."""
    found = look(MetadataService(imds.url)).wait(PATIENCE_S)
    assert (DOCUMENT["instanceId"], DOCUMENT["region"]) == (found.instance_id, found.region)


def test_a_service_that_answers_later_is_heard(imds, look):
    """Tried again until it names the instance; then nobody asks any more."""
    imds.routes[TOKEN_PATH] = 503
    lookup = look(MetadataService(imds.url))
    until(lambda: len(imds.paths("PUT")) >= 3)
    assert InstanceFacts() == lookup.facts
    del imds.routes[TOKEN_PATH]
    until(lambda: lookup.facts.instance_id is not None)
    until(lambda: "instance-facts" not in {one.name for one in threading.enumerate()})


def test_the_board_is_there_at_once(imds, look, patience):
    """Also while the service is silent, and the wait for it ends in time."""
    imds.routes[TOKEN_PATH] = imds.never
    patience(PATIENCE_S)
    lookup = look(MetadataService(imds.url), {ASSET_TAG_FILE: BOARD_ID})
    assert lookup.facts == InstanceFacts(instance_id=BOARD_ID)
    assert lookup.wait(0.05) == InstanceFacts(instance_id=BOARD_ID)


def test_the_board_of_the_machine_that_was_given_comes_first(tmp_path, look):
    """Where a host's files are mounted; where its board is not, the container's own shows it."""
    service = MetadataService("", disabled=True)
    given = tmp_path / "given"
    assert BOARD_ID == look(service, {ASSET_TAG_FILE: BOARD_ID}, before=[given]).facts.instance_id
    (given / ASSET_TAG_FILE).parent.mkdir(parents=True)
    (given / ASSET_TAG_FILE).write_text("i-0123456789abcdef0\n", "utf-8")
    found = look(service, {ASSET_TAG_FILE: BOARD_ID}, before=[given])
    assert "i-0123456789abcdef0" == found.facts.instance_id


def test_turned_off_nobody_is_asked_and_nobody_waits(imds, look):
    """The board still counts: it is no service."""
    lookup = look(MetadataService(imds.url, disabled=True), {ASSET_TAG_FILE: BOARD_ID})
    assert BOARD_ID == lookup.wait(PATIENCE_S).instance_id
    assert [] == imds.asked


def test_closed_it_asks_no_more(imds, look):
    """A stop of the emitter waits neither for an answer nor for a backoff."""
    imds.routes[TOKEN_PATH] = 503
    lookup = look(MetadataService(imds.url))
    until(lambda: imds.paths("PUT"))
    lookup.close()
    assert lookup.wait() == InstanceFacts()
    until(lambda: "instance-facts" not in {one.name for one in threading.enumerate()})
