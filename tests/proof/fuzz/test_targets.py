"""Every reader of what others wrote, held to its promise: the short form of `make fuzz`."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.delivery.destination import Delivered, Invalid, Retry
from emitter.instance.ecs_cluster import ask_for_cluster
from emitter.instance.identity import find_instance
from emitter.instance.metadata_service import MetadataService
from emitter.spool import Spool
from proof.fuzz.answers import AnsweredStream, answer_in, answering
from proof.fuzz.corpus import folder_of, kept
from proof.fuzz.files import NOW_S, SPOOL
from proof.fuzz.target import spoiled
from proof.fuzz.targets import PLACES, target

pytestmark = pytest.mark.timeout(120)

EXAMPLES = 75  # of each reader; `make fuzz` has no end of them
KEPT = [name for name in PLACES if kept(name)]


@pytest.mark.parametrize("name", [name for name in PLACES if name != "reports"])
def test_what_is_as_it_should_be_keeps_the_promise(name):
    """What the search begins with is read without a finding, or it would search nothing."""
    for seed in target(name).seeds():
        target(name).once(seed)


def test_local_services_are_heard():
    """A service that could not be asked would keep every promise."""
    document, *_ = target("local services").seeds()
    with answering(document):
        facts = find_instance(MetadataService("http://169.254.169.254"), root=Path("/nowhere"))
    assert ("i-0123456789abcdef0", "us-east-1a") == (facts.instance_id, facts.availability_zone)
    *_, cluster, _, _ = target("local services").seeds()
    with answering(cluster):
        assert ("c", "") == ask_for_cluster("http://127.0.0.1/")


def test_cloudwatch_logs_answers_are_heard():
    """The SDK reads what the input says: what it rejected, and that it throttles."""
    rejected, _, invalid, _, throttled, _ = target("CloudWatch Logs' answers").seeds()
    heard = [AnsweredStream().send(*answer_in(one)) for one in (rejected, invalid, throttled)]
    assert Delivered({"too_old": (0,), "expired": (1,), "too_new": (4,)}) == heard[0]
    assert [Invalid, Retry] == [type(one) for one in heard[1:]]
    assert "throttled" == heard[2].reason


def test_a_spool_file_is_read():
    """What the search begins with holds records, which are still there."""
    *_, full = target("spool files").seeds()
    shutil.rmtree(SPOOL)
    SPOOL.mkdir()
    (SPOOL / "spool.sqlite").write_bytes(full)
    with Spool.open(SPOOL, clock=lambda: NOW_S) as spool:
        assert 40 <= len(spool.oldest(1000, 1 << 20))


@pytest.mark.parametrize("name", [name for name in PLACES if name != "reports"])
def test_a_broken_input_keeps_the_promise(name):
    """Inputs changed in their form and byte by byte: no exception but the declared ones."""
    reader = target(name)
    seeds = reader.seeds()

    @settings(max_examples=EXAMPLES)
    @given(st.integers(0, (1 << 32) - 1))
    def holds(chance_seed):
        # Not a chance of Hypothesis': how deep a text may be nested depends on who asks.
        chance = random.Random(chance_seed)
        content = chance.choice(seeds)
        for _ in range(chance.randint(1, 3)):
            content = reader.changed(content, chance)
        reader.once(content)

    holds()


@pytest.mark.parametrize("name", PLACES)
def test_any_bytes_keep_the_promise(name):
    """Also those that no change of a good input leads to."""

    @settings(max_examples=EXAMPLES // 2)
    @given(st.binary(max_size=200))
    def holds(content):
        target(name).once(content)

    holds()


@pytest.mark.parametrize("name", KEPT)
def test_what_broke_a_promise_once_does_not_any_more(name):
    """Each was found by the search, and mended."""
    for path in kept(name):
        target(name).once(path.read_bytes())


def test_inputs_are_kept_for_readers_that_there_are():
    """A target that was renamed must take its inputs along."""
    known = {folder_of(name) for name in PLACES}
    assert len(PLACES) == len(known)
    root = folder_of("x").parent
    assert [] == [folder for folder in root.iterdir() if folder not in known]


def test_a_change_changes():
    """A search among inputs that are all the same would find nothing and look well."""
    for name in PLACES:
        reader, chance = target(name), random.Random(1)
        seed = reader.seeds()[0]
        assert len({reader.changed(seed, chance) for _ in range(30)}) > 10, name
    assert len({spoiled(b"", random.Random(seed)) for seed in range(30)}) > 5
