"""The facts of an instance without a report, and how little a broken service can do."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from played_services import DOCUMENT, DOCUMENT_PATH, TOKEN_PATH

from emitter.instance.facts import InstanceFacts
from emitter.instance.identity import DATA_PATH, find_instance
from emitter.instance.machine import ASSET_TAG_FILE, board_instance_id
from emitter.instance.metadata_service import MetadataService

FACTS = InstanceFacts(
    "i-0123456789abcdef0", "trn1.32xlarge", "eu-north-1", "eu-north-1b", "ami-0123456789abcdef0",
    account_id="123456789012",
)  # fmt: skip
LIFECYCLE_PATH = f"{DATA_PATH}instance-life-cycle"
BOARD_ID = "i-0fedcba9876543210"


def test_the_identity_document_has_it_all(imds, machine):
    """One question beside the token, and every fact is known but the lifecycle."""
    assert FACTS == find_instance(MetadataService(imds.url), root=machine())
    assert [DOCUMENT_PATH, LIFECYCLE_PATH] == imds.paths()


@pytest.mark.parametrize(
    ("answer", "lifecycle"), [("spot", "spot"), ("of tomorrow", "of tomorrow"), (500, None)]
)
def test_the_lifecycle_is_what_the_service_says(answer, lifecycle, imds, machine):
    """The word as it comes; without one the other facts hold."""
    imds.routes[LIFECYCLE_PATH] = answer
    expected = replace(FACTS, lifecycle=lifecycle)
    assert expected == find_instance(MetadataService(imds.url), root=machine())


@pytest.mark.parametrize("document", [404, "not a JSON", "[]", b"\xff", b"x" * 100_000])
def test_without_a_document_each_fact_is_asked_for(document, imds, machine):
    """Emulators of the service have the single values and no document, or a broken one."""
    imds.routes[DOCUMENT_PATH] = document
    for path, value in {
        "instance-id": FACTS.instance_id,
        "instance-type": FACTS.instance_type,
        "placement/region": FACTS.region,
        "placement/availability-zone": FACTS.availability_zone,
        "ami-id": FACTS.ami_id,
    }.items():
        imds.routes[f"{DATA_PATH}{path}"] = value
    found = find_instance(MetadataService(imds.url), root=machine())
    if document == b"x" * 100_000:  # refused before it is read to its end
        assert InstanceFacts() == found
    else:
        assert found == replace(FACTS, account_id=None)


@pytest.mark.parametrize("value", [None, 7, "", " ", "x" * 129, "a\nb", "trän1", ["trn1.2xlarge"]])
def test_a_value_that_no_record_may_have_is_none(value, imds, machine):
    """What comes over a network is checked; the other facts hold."""
    imds.routes[DOCUMENT_PATH] = json.dumps({**DOCUMENT, "instanceType": value})
    found = find_instance(MetadataService(imds.url), root=machine())
    assert (None, FACTS.region) == (found.instance_type, found.region)


def test_a_service_that_fails_in_the_middle_keeps_what_it_said(imds, machine):
    """Half of the facts are better than none."""
    imds.routes[DOCUMENT_PATH] = json.dumps({"instanceId": FACTS.instance_id})
    imds.routes[f"{DATA_PATH}instance-type"] = 500
    imds.routes[f"{DATA_PATH}ami-id"] = FACTS.ami_id
    found = find_instance(MetadataService(imds.url), root=machine())
    assert InstanceFacts(instance_id=FACTS.instance_id, ami_id=FACTS.ami_id) == found


@pytest.mark.parametrize("route", ["never", "drip"])
@pytest.mark.parametrize("path", [TOKEN_PATH, DOCUMENT_PATH])
def test_a_service_that_does_not_answer_leaves_the_board(path, route, imds, machine, patience):
    """A pod behind a hop limit of 1 still learns its instance, at once."""
    imds.routes[path] = getattr(imds, route)
    patience(0.3)
    root = machine({ASSET_TAG_FILE: f"{BOARD_ID}\n"})
    assert InstanceFacts(instance_id=BOARD_ID) == find_instance(
        MetadataService(imds.url), root=root
    )


def test_the_metadata_service_wins_over_the_board(imds, machine):
    """It can be told which instance to speak of; the board cannot."""
    root = machine({ASSET_TAG_FILE: BOARD_ID})
    assert FACTS == find_instance(MetadataService(imds.url), root=root)


@pytest.mark.parametrize("tag", [BOARD_ID, f" {BOARD_ID}\n", "i-01234567"])
def test_the_board_of_a_nitro_instance_names_it(tag, machine):
    """Without a network and without a permission; old ids are shorter."""
    assert tag.strip() == board_instance_id(machine({ASSET_TAG_FILE: tag}))


@pytest.mark.parametrize(
    "tag", ["", "Not Specified", "i-", "i-0123456789ABCDEF0", "i-0123456789abcdef01", "x" * 5000]
)
def test_another_board_names_nobody(tag, machine):
    """Most boards have a text there, and it is no instance id."""
    assert board_instance_id(machine({ASSET_TAG_FILE: tag})) is None
