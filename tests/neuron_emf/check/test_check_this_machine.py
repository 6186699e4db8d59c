"""Cluster and instance, and what `run` would use of this machine: owners, spool, output."""

from __future__ import annotations

import json
import os
import shutil
from collections import namedtuple

import pytest

from emitter.instance.facts import InstanceFacts
from emitter.instance.instance_tags import TagsUnavailableError
from emitter.owners.given import Allocation, UnreadError
from emitter.owners.reservations import Scheduler
from emitter.reports.report import decode
from emitter.spool import Spool
from neuron_emf.check import instance, sequence
from neuron_emf.check.instance import (
    check_instance,
    check_payment,
    check_price,
    check_reservations,
    check_spool,
    emitted_instance,
)
from neuron_emf.check.settings import CheckSettings
from tests.neuron_emf.check import expected
from tests.neuron_emf.check.expected import CHECKS, GROUPS, LINES

FACTS = InstanceFacts(instance_id="i-0fedcba9876543210", instance_type="trn1.32xlarge")


def report(instance_id):
    info = {"instance_id": instance_id, "instance_type": "inf1.xlarge"}
    return decode(json.dumps(expected.report(instance_info=info)).encode())


@pytest.mark.parametrize(
    ("known", "state", "words", "name"),
    [
        ((None, InstanceFacts(), "i-1"), "ok", "i-1, from neuron-monitor", "i-1"),
        ((None, FACTS, ""), "ok", "(trn1.32xlarge), from the instance meta", FACTS.instance_id),
        (("mine", InstanceFacts(), ""), "ok", "mine, from --instance-id", "mine"),
        ((None, FACTS, "i-1"), "warning", "i-1 by neuron-monitor, i-0fedcba", "i-1"),
        ((None, FACTS, "i-\x1b[1m"), "ok", "from the instance metadata", FACTS.instance_id),
    ],
    ids=["report", "metadata", "given", "two names", "no name"],
)
def test_the_instance_is_the_first_that_is_named(known, state, words, name):
    """The report, the metadata, the setting: as the records will have it."""
    given, facts, reported = known
    found, instance_id = check_instance(
        CheckSettings(instance_id=given), facts, None if reported is None else report(reported)
    )
    assert (state, name) == (found.state, instance_id)
    assert words in found.found


@pytest.mark.parametrize(
    ("instance_type", "region", "state", "words"),
    [
        ("inf2.48xlarge", "us-east-1", "ok", "12.98 USD per hour (list price, us-east-1, 2026-"),
        ("trn2.48xlarge", "us-east-2", "warning", "unpriced: trn2.48xlarge has no list price"),
        (None, "us-east-1", "warning", "the type of this instance is unknown"),
        ("inf2.xlarge", None, "warning", "the region of this instance is unknown"),
    ],
)
def test_the_price_is_that_of_the_type_in_its_region(instance_type, region, state, words):
    """Without one it is a warning, with what to write where; the report goes before the facts."""
    facts = InstanceFacts(instance_type=instance_type, region=region)
    found = check_price(emitted_instance(facts, None))
    assert (state, True) == (found.state, words in found.found)
    if state == "warning" and instance_type and region:
        assert f"PriceOverrides={region}/{instance_type}=USD" in found.advice
    info = {"instance_type": "inf1.xlarge", "instance_region": "eu-north-1"}
    told = emitted_instance(facts, decode(json.dumps(expected.report(instance_info=info)).encode()))
    assert "inf1.xlarge: 0.24 USD per hour (list price, eu-north-1" in check_price(told).found


@pytest.mark.parametrize(
    ("paid", "lifecycle", "instance_type", "words"),
    [
        ("sunk", "spot", "trn1.2xlarge", "sunk: paid even if stopped, so stopping it s"),
        (None, "spot", "trn2.48xlarge", "at most its cost (the instance metadata says spot; --"),
        (None, "capacity-block", "trn1.2xlarge", "saves nothing (the instance metadata says cap"),
        (None, "on-demand", "trn2.48xlarge", "nothing (trn2.48xlarge is sold in capacity blocks"),
        (None, None, None, "its cost (nothing indicates another payment; --paid or the stack's"),
    ],
)
def test_it_says_whether_stopping_is_taken_to_save_money(paid, lifecycle, instance_type, words):
    """And why, so that who knows better sees what to set."""
    facts = InstanceFacts(instance_type=instance_type, lifecycle=lifecycle)
    found = check_payment(paid, emitted_instance(facts, None))
    assert ("ok", True) == (found.state, words in found.found)


@pytest.mark.usefixtures("reach", "_surroundings")
def test_without_a_cluster_it_says_what_was_asked(shown, monitor, monkeypatch):
    """Each source with why it has none; the probe is tried without a name."""
    monkeypatch.setattr("emitter.instance.cluster.describe_tags", _no_tags)
    text, code = shown("--monitor-command", monitor)
    assert 1 == code
    words = " ".join(text.split())
    assert "failed cluster no cluster name: --cluster, NEURON_EMF_CLUSTER" in words
    for source in ("ECS task metadata:", "EKS:", "auto-scaling group:"):
        assert source in words
    assert "do: use --cluster NAME" in words
    assert "ok log line" in words


def _no_tags(*_, **__):
    msg = "not asked in a test"
    raise TagsUnavailableError(msg)


@pytest.mark.usefixtures("reach")
def test_the_region_may_be_that_of_the_instance(checked, monitor, monkeypatch):
    """Where neither a setting nor the SDK names one, as `run` does it; nowhere is a failure."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    facts = InstanceFacts(region="us-west-2")
    monkeypatch.setattr(sequence, "find_instance", lambda: facts)
    region = checked("--monitor-command", monitor).of("region")
    assert "us-west-2, from the instance metadata" == region["found"]
    monkeypatch.setattr(sequence, "find_instance", InstanceFacts)
    found = checked("--monitor-command", monitor)
    assert "failed" == found.states["region"]
    assert "Use --region or AWS_DEFAULT_REGION" == found.of("region")["advice"]
    assert "not tried" == found.states["credentials"]


Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it
OF_AWS = ("region", "credentials", "clock", *GROUPS, *LINES)


class PlayedSource:
    """One that tells, or not."""

    def __init__(self, name, *told):
        self.name, self.told = name, told

    def read_allocations(self):
        if not self.told:
            reason, remedy = "it hangs", f"Mend {self.name}"
            raise UnreadError(reason, remedy)
        return self.told


POD = Allocation("ml/a", cores=frozenset({0, 1}), devices=frozenset({7}))


@pytest.mark.parametrize(
    ("is_here", "sources", "expected"),
    [
        (False, [PlayedSource("a", POD)], ("not needed", "no scheduler is on this machine", "")),
        (True, [PlayedSource("a", POD), PlayedSource("b")],
         ("ok", "1 owner of 2 cores and 1 device, from a", "")),
        (True, [PlayedSource("a"), PlayedSource("b", POD, POD)],
         ("warning", "not from a: it hangs; 2 owners of 4 cores and 2 devices, from b", "Mend a")),
        (True, [PlayedSource("a"), PlayedSource("b")],
         ("warning", "not from a: it hangs; not from b: it hangs", "Mend a; Mend b")),
    ],
)  # fmt: skip
def test_what_was_given_is_told_by_source(monkeypatch, is_here, sources, expected):
    """Up to the first that tells; those before it have what to do."""
    played = (Scheduler(lambda: is_here, sources),)
    monkeypatch.setattr(instance, "schedulers_of", lambda _places: played)
    finding = check_reservations(CheckSettings())
    assert expected == (finding.state, finding.found, finding.advice)


def test_where_lines_go_elsewhere_aws_is_not_asked(checked, account, monitor):
    """No question reaches it, and every line of it says why."""
    found = checked("--monitor-command", monitor, "--output", "stdout")
    changed = {**dict.fromkeys(OF_AWS, "not needed"), "output": "ok"}
    assert {**CHECKS, **changed} == found.states
    assert "lines go to" in found.of("log group")["found"]
    assert [] == account.operations
    assert 0 == found.code


# --- the spool ---


def checking(**changes):
    return check_spool(CheckSettings(**changes))


def test_a_folder_that_is_not_there_can_be_made_and_is_not(tmp_path):
    """A check that runs as another user must not leave a folder that the emitter cannot write."""
    folder = tmp_path / "new" / "spool"
    found = checking(spool_dir=folder)
    assert "ok" == found.state
    assert f"{folder} can be created" in found.found
    assert [] == list(tmp_path.iterdir())


def test_a_spool_in_use_is_a_warning_and_stays_as_it_is(tmp_path):
    """The emitter that holds it goes on holding it, and who that is is said."""
    with Spool(tmp_path, max_bytes=1 << 20):
        before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        found = checking(spool_dir=tmp_path)
        after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert "warning" == found.state
    assert f"held by process {os.getpid()}" in found.found
    assert before == after


@pytest.mark.parametrize(("free_mib", "state"), [(256, "ok"), (255, "warning"), (0, "warning")])
def test_a_disk_with_less_room_than_is_allowed_is_a_warning(tmp_path, monkeypatch, free_mib, state):
    """At --spool-max-mib exactly there is enough."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free_mib << 20))
    found = checking(spool_dir=tmp_path, spool_max_mib=256)
    assert state == found.state
    assert f"{free_mib} MiB" in found.found
