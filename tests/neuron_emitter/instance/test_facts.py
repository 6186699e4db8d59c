"""Facts about an instance without a report, at once or in the background."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emitter.instance.instance_facts import (
    DATA_PATH,
    BackgroundLookup,
    InstanceFacts,
    find_instance,
)
from neuron_emitter.instance.machine import (
    ASSET_TAG_FILE,
    PRODUCT_NAME_FILE,
    board_instance_id,
    board_instance_type,
)
from neuron_emitter.instance.metadata_service import MetadataService
from proof.emitter_process import HUNG_AFTER_S
from tests.neuron_emitter.instance_services import DOCUMENT_PATH, IDENTITY_DOCUMENT, TOKEN_PATH

WHOLE_FACTS = InstanceFacts(
    "i-0123456789abcdef0",
    "trn1.32xlarge",
    "eu-north-1",
    "eu-north-1b",
    "ami-0123456789abcdef0",
    account_id="123456789012",
)
LIFECYCLE_PATH = f"{DATA_PATH}instance-life-cycle"
BOARD_ID = "i-0fedcba9876543210"


def test_the_identity_document_has_it_all(imds, machine):
    """The identity document has every fact except the lifecycle."""
    assert WHOLE_FACTS == find_instance(MetadataService(imds.url), root=machine())
    assert [DOCUMENT_PATH, LIFECYCLE_PATH] == imds.paths()


def test_the_metadata_service_wins_over_the_board(imds, machine):
    """The metadata service wins over the board, because operators can configure its address."""
    root = machine({ASSET_TAG_FILE: BOARD_ID, PRODUCT_NAME_FILE: "inf2.xlarge"})
    assert WHOLE_FACTS == find_instance(MetadataService(imds.url), root=root)


@pytest.mark.parametrize("document", [404, "not a JSON", "[]", b"\xff", b"x" * 100_000])
def test_without_a_document_each_fact_is_asked_for(document, imds, machine):
    """Without a readable document, facts are read one by one, as emulators provide them."""
    imds.routes[DOCUMENT_PATH] = document
    for path, value in {
        "instance-id": WHOLE_FACTS.instance_id,
        "instance-type": WHOLE_FACTS.instance_type,
        "placement/region": WHOLE_FACTS.region,
        "placement/availability-zone": WHOLE_FACTS.availability_zone,
        "ami-id": WHOLE_FACTS.ami_id,
    }.items():
        imds.routes[f"{DATA_PATH}{path}"] = value
    facts = find_instance(MetadataService(imds.url), root=machine())
    if document == b"x" * 100_000:  # refused before its end
        assert InstanceFacts() == facts
    else:
        assert facts == replace(WHOLE_FACTS, account_id=None)


@pytest.mark.parametrize("value", [None, 7, "", " ", "x" * 129, "a\nb", "trän1", ["trn1.2xlarge"]])
def test_a_value_that_no_record_may_have_is_none(value, imds, machine):
    """A value that no record may have is unknown; the other facts are kept."""
    imds.routes[DOCUMENT_PATH] = json.dumps({**IDENTITY_DOCUMENT, "instanceType": value})
    facts = find_instance(MetadataService(imds.url), root=machine())
    assert facts.instance_type is None
    assert WHOLE_FACTS.region == facts.region


def test_facts_are_kept_if_the_service_fails_halfway(imds, machine):
    """If the metadata service fails halfway, the facts read so far are kept."""
    imds.routes[DOCUMENT_PATH] = json.dumps({"instanceId": WHOLE_FACTS.instance_id})
    imds.routes[f"{DATA_PATH}instance-type"] = 500
    imds.routes[f"{DATA_PATH}ami-id"] = WHOLE_FACTS.ami_id
    facts = find_instance(MetadataService(imds.url), root=machine())
    assert InstanceFacts(instance_id=WHOLE_FACTS.instance_id, ami_id=WHOLE_FACTS.ami_id) == facts


@pytest.mark.parametrize("route", ["never", "drip"])
@pytest.mark.parametrize("path", [TOKEN_PATH, DOCUMENT_PATH])
def test_facts_come_from_the_board_without_the_service(path, route, imds, machine, patience):
    """If the metadata service does not answer in time, ID and type come from the board."""
    imds.routes[path] = getattr(imds, route)
    patience(0.3)
    root = machine({ASSET_TAG_FILE: f"{BOARD_ID}\n", PRODUCT_NAME_FILE: "inf2.xlarge\n"})
    assert InstanceFacts(instance_id=BOARD_ID, instance_type="inf2.xlarge") == find_instance(
        MetadataService(imds.url), root=root
    )


@pytest.mark.parametrize("tag", [BOARD_ID, f" {BOARD_ID}\n", "i-01234567"])
def test_the_board_of_a_nitro_instance_names_it(tag, machine):
    """A Nitro instance's board has its ID without network or permission, also in the old form."""
    assert tag.strip() == board_instance_id(machine({ASSET_TAG_FILE: tag}))


@pytest.mark.parametrize("name", [*INSTANCE_TYPES, "u-12tb1.112xlarge", "i7ie.metal-24xl"])
def test_the_board_of_a_nitro_instance_has_its_type(name, machine):
    """A Nitro instance's board has its type, which any user can read, also in a container."""
    assert name == board_instance_type(machine({PRODUCT_NAME_FILE: f"{name}\n"}))


@pytest.fixture
def look(machine, monkeypatch):
    """Yield a function that starts a lookup with waits of *next_s*; lookups end with the test."""
    started = []

    def start(service, files=None, *, before=(), next_s=lambda: 0.0):
        backoff = SimpleNamespace(next_s=next_s)
        monkeypatch.setattr(
            "neuron_emitter.instance.instance_facts.Backoff", lambda *_bounds: backoff
        )
        started.append(BackgroundLookup(service, roots=(*before, machine(files))))
        return started[-1]

    yield start
    for lookup in started:
        lookup.close()


def join_lookup():
    """Wait until the lookup's thread has ended."""
    for thread in threading.enumerate():
        if thread.name == "instance-facts":
            thread.join()


def test_a_service_that_answers_later_is_read(imds, look):
    """The lookup asks until the metadata service names the instance, and then stops."""
    imds.routes[TOKEN_PATH] = 503
    tries = []

    def next_s():
        tries.append(len(imds.paths("PUT")))
        if len(tries) == 3:
            del imds.routes[TOKEN_PATH]
        return 0.0

    lookup = look(MetadataService(imds.url), next_s=next_s)
    join_lookup()
    assert [1, 2, 3] == tries
    assert WHOLE_FACTS.instance_id == lookup.facts.instance_id


def test_the_board_is_there_at_once(imds, look, patience):
    """The board's facts are available at once, even if the metadata service does not answer."""
    imds.routes[TOKEN_PATH] = imds.never
    patience(HUNG_AFTER_S)
    lookup = look(MetadataService(imds.url), {ASSET_TAG_FILE: BOARD_ID})
    assert lookup.facts == InstanceFacts(instance_id=BOARD_ID)
    assert lookup.wait_for_facts(0.0) == InstanceFacts(instance_id=BOARD_ID)


def test_the_board_below_the_given_root_wins(tmp_path, look):
    """The board under the mounted host root wins over the container's own board."""
    service = MetadataService("", disabled=True)
    given = tmp_path / "given"
    assert BOARD_ID == look(service, {ASSET_TAG_FILE: BOARD_ID}, before=[given]).facts.instance_id
    (given / ASSET_TAG_FILE).parent.mkdir(parents=True)
    (given / ASSET_TAG_FILE).write_text("i-0123456789abcdef0\n", "utf-8")
    lookup = look(service, {ASSET_TAG_FILE: BOARD_ID}, before=[given])
    assert "i-0123456789abcdef0" == lookup.facts.instance_id
