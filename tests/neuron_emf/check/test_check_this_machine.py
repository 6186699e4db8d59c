"""The checks of this machine: cluster, instance, owners, spool and output, as in `run`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections import namedtuple
from functools import partial

import pytest

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
from neuron_emitter.instance.instance_facts import InstanceFacts
from neuron_emitter.instance.instance_tags import TagsUnavailableError
from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.reservations import Scheduler
from neuron_emitter.reports.report import decode
from neuron_emitter.spool import Spool
from neuron_emitter.spool.layout import FILE_NAME
from tests.neuron_emf.check import check_expectations
from tests.neuron_emf.check.check_expectations import EXPECTED_STATES, GROUP_CHECKS, LINE_CHECKS

MACHINE_FACTS = InstanceFacts(instance_id="i-0fedcba9876543210", instance_type="trn1.32xlarge")


def report(instance_id, region=None):
    info = {"instance_id": instance_id, "instance_type": "inf1.xlarge", "instance_region": region}
    return decode(json.dumps(check_expectations.report(instance_info=info)).encode())


class CheckedSource:
    """A source of allocations that returns them, or cannot be read."""

    def __init__(self, name, *allocations):
        self.name = name
        self.allocations = allocations

    def read_allocations(self):
        if not self.allocations:
            reason = "it hangs"
            remedy = f"Restart {self.name}"
            raise UnknownAssignmentsError(reason, remedy)
        return self.allocations


POD_CORES = Allocation("ml/a", cores=frozenset({0, 1}), devices=frozenset({7}))
FIRST_ANSWERS = [CheckedSource("a", POD_CORES), CheckedSource("b")]
NAME_CASES = [
    (None, InstanceFacts(), "i-1"),
    (None, MACHINE_FACTS, ""),
    ("mine", InstanceFacts(), ""),
    (None, MACHINE_FACTS, "i-1"),
    (None, MACHINE_FACTS, "i-\x1b[1m"),
]
PRICE_CASES = [
    ("inf2.48xlarge", "us-east-1"),
    ("trn2.48xlarge", "us-east-2"),
    (None, "us-east-1"),
    ("inf2.xlarge", None),
    (None, None),
]
PAYMENTS = [
    ("committed", "spot", "trn1.2xlarge"), (None, "spot", "trn2.48xlarge"),
    (None, "capacity-block", "trn1.2xlarge"), (None, "on-demand", "trn2.48xlarge"),
    (None, None, None),
]  # fmt: skip
SOURCE_CASES = {
    "a tells, b is not asked": FIRST_ANSWERS,
    "a hangs, b tells": [CheckedSource("a"), CheckedSource("b", POD_CORES, POD_CORES)],
    "both hang": [CheckedSource("a"), CheckedSource("b")],
}


def said_of_this_machine(monkeypatch):
    """Return cases with their results: identity, price, payment and assignments."""
    for given, facts, reported in NAME_CASES:
        result, name = check_instance(
            CheckSettings(instance_id=given), facts, report(reported) if reported else None
        )
        yield f"instance {given}, {facts.instance_id}, {reported!a}: {name}", result
    for instance_type, region in PRICE_CASES:
        facts = InstanceFacts(instance_type=instance_type, region=region)
        yield f"price of {instance_type} in {region}", check_price(emitted_instance(facts, None))
    both = emitted_instance(InstanceFacts(instance_type="inf2.xlarge"), report("i-1", "eu-north-1"))
    yield "price by the report before the metadata", check_price(both)
    for paid, lifecycle, instance_type in PAYMENTS:
        facts = InstanceFacts(instance_type=instance_type, lifecycle=lifecycle)
        result = check_payment(paid, emitted_instance(facts, None))
        yield f"payment {paid}, {lifecycle}, {instance_type}", result
    for case, sources in {**SOURCE_CASES, "no scheduler": FIRST_ANSWERS}.items():
        is_here = case != "no scheduler"
        played = (Scheduler(partial(bool, is_here), sources),)
        monkeypatch.setattr(instance, "schedulers_of", lambda _places, played=played: played)
        yield f"given: {case}", check_reservations(CheckSettings())


def test_results_about_this_machine(monkeypatch, golden, repository):
    """Each case has its instance, the price in its Region, and the reason of its payment."""
    lines = [
        f"{case}: {result.state}: {result.found}; {result.advice or '-'}\n"
        for case, result in said_of_this_machine(monkeypatch)
    ]
    golden(repository / "tests/data/shown/check-machine.txt", "".join(lines))


@pytest.mark.usefixtures("reach", "_surroundings")
def test_without_a_cluster_each_source_is_listed(shown, monitor, monkeypatch):
    """Without a cluster, each source has its reason, and the probe has no cluster name."""
    monkeypatch.setattr("neuron_emitter.instance.cluster.describe_tags", _no_tags)
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
    """Without a Region in settings and SDK, check uses the instance's Region, as `run` does."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    facts = InstanceFacts(region="us-west-2")
    monkeypatch.setattr(sequence, "find_instance", lambda: facts)
    region = checked("--monitor-command", monitor).of("region")
    assert "us-west-2, from the instance metadata" == region["found"]
    monkeypatch.setattr(sequence, "find_instance", InstanceFacts)
    run = checked("--monitor-command", monitor)
    assert "failed" == run.states["region"]
    assert "Use --region or AWS_REGION" == run.of("region")["advice"]
    assert "not tried" == run.states["credentials"]


Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it
AWS_CHECKS = ("region", "credentials", "clock", *GROUP_CHECKS, *LINE_CHECKS)


def test_where_lines_go_elsewhere_aws_is_not_asked(checked, account, monitor):
    """If lines do not go to AWS, check calls no AWS operation, and each of its lines says why."""
    run = checked("--monitor-command", monitor, "--output", "stdout")
    changed = {**dict.fromkeys(AWS_CHECKS, "not needed"), "output": "ok"}
    assert {**EXPECTED_STATES, **changed} == run.states
    assert "lines go to" in run.of("log group")["found"]
    assert [] == account.operations
    assert 0 == run.code


# --- the spool ---


def checking(**changes):
    return check_spool(CheckSettings(**changes))


def test_a_missing_folder_is_not_created(tmp_path):
    """A check does not create a missing spool folder: the emitter could not write to it."""
    folder = tmp_path / "new" / "spool"
    result = checking(spool_dir=folder)
    assert "ok" == result.state
    assert f"{folder} can be created" in result.found
    assert [] == list(tmp_path.iterdir())


def test_a_spool_in_use_is_a_warning_and_stays_as_it_is(tmp_path):
    """A spool in use is a warning with its process, and the emitter keeps it."""
    with Spool(tmp_path, max_bytes=1 << 20):
        before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        result = checking(spool_dir=tmp_path)
        after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert "warning" == result.state
    assert f"held by process {os.getpid()}" in result.found
    assert before == after


def test_a_spool_of_a_newer_version_is_a_warning_before_and_after_it_is_set_aside(tmp_path):
    """A spool of a newer version is a warning, also after the emitter set it aside."""
    Spool(tmp_path).close()
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
        database.execute("PRAGMA user_version = 2")
    before = checking(spool_dir=tmp_path)
    Spool(tmp_path).close()
    after = checking(spool_dir=tmp_path)
    assert ["warning", "warning"] == [before.state, after.state]
    assert "has layout 2, newer than the 1 of this version" in before.found
    assert "newer-spool.sqlite (0 MiB) is the spool of a newer version, set aside" in after.found


@pytest.mark.parametrize(("free_mib", "state"), [(256, "ok"), (255, "warning"), (0, "warning")])
def test_a_disk_with_less_room_than_is_allowed_is_a_warning(tmp_path, monkeypatch, free_mib, state):
    """Free space of exactly --spool-max-mib is enough; less is a warning."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free_mib << 20))
    result = checking(spool_dir=tmp_path, spool_max_mib=256)
    assert state == result.state
    assert f"{free_mib} MiB" in result.found
