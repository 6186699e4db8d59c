"""The verdict on an instance, by histories whose author knows the answer."""

from __future__ import annotations

import re

import pytest

from neuron_emf.verdict.account_guards import ACCOUNT_GUARDS
from neuron_emf.verdict.account_reading import read_account_facts
from neuron_emf.verdict.line_guards import LINE_GUARDS
from neuron_emf.verdict.verdict_facts import Unknown
from proof.factories.records import AN_INSTANCE
from tests.neuron_emf.fake_aws import FakeAws
from tests.neuron_emf.verdict.account_histories import (
    ACCOUNT_HISTORIES,
    OF_HYPERPOD,
    OWNED_HISTORIES,
    store,
)
from tests.neuron_emf.verdict.histories import CLEAN, COMPILING, LINE_HISTORIES, OF_STREAMS, Kind
from tests.neuron_emf.verdict.instance_world import InstanceWorld

SHRINK_COMMAND = "aws autoscaling terminate-instance-in-auto-scaling-group"
REMOVE = {
    "alone": [f"aws ec2 stop-instances --instance-ids {AN_INSTANCE} --region us-west-2"],
    "group": [SHRINK_COMMAND],
    "EKS node group": ["node=$(kubectl get nodes", "neuron-emf findings", "kubectl drain"],
    "Karpenter": ["node=$(kubectl get nodes", "neuron-emf findings", "kubectl drain"],
    "ECS": ["aws ecs update-container-instances-state", "neuron-emf findings", SHRINK_COMMAND],
    "HyperPod": [
        "sudo scontrol update",
        "neuron-emf findings",
        "aws sagemaker batch-delete-cluster-nodes",
    ],
    "ParallelCluster": [],
}
"""Beginnings of each manager's commands; `test_managers` has a table of whole commands."""

LOOKS = (
    "scontrol show",
    "sstat",
    "kubectl get",
    "kubectl describe",
    "kubectl logs",
    "aws ec2 describe-tags",
)
WRONG = {**LINE_HISTORIES, **OF_STREAMS, **ACCOUNT_HISTORIES, **OF_HYPERPOD}
EC2_MANAGERS = [name for name in REMOVE if name != "HyperPod"]


def _held_back_by(found):
    return {
        result["check"] for result in found["checks"] if result["state"] in ("failed", "unknown")
    }


@pytest.mark.parametrize("name", WRONG)
def test_no_wrong_history_is_released(judged, name):
    """
    Every wrong history is held back, by its own guards and no others, under every manager.

    If placement is stopped first, a host that compiles is a warning.
    """
    history = WRONG[name]
    managers = ["HyperPod"]
    if name in LINE_HISTORIES:
        managers = list(REMOVE)
    elif name in ACCOUNT_HISTORIES:
        managers = list(EC2_MANAGERS)
    if name in OF_STREAMS:
        # ParallelCluster keeps it whatever other log streams contain, so they are not read.
        managers = [manager for manager in REMOVE if REMOVE[manager]]
    for seed, manager in enumerate(managers):
        verdict = judged(history.spoil, seed, manager)
        expected = {*history.held_back_by.split()}
        if manager == "ParallelCluster":
            expected |= {"manager"}
        is_placed = len(REMOVE[manager]) > 1 and "manager" not in expected
        if is_placed and name in COMPILING:
            expected = set()
            assert ["Look again once nothing is placed on it."] == [
                result["advice"] for result in verdict["checks"] if result["state"] == "warning"
            ]
        assert expected == _held_back_by(verdict), manager
        if expected:
            assert "keep" == verdict["answer"], manager
            assert [] == verdict["commands"], manager
            assert verdict["valid_until"] is None, manager


@pytest.mark.parametrize("manager", REMOVE)
@pytest.mark.parametrize("name", CLEAN)
def test_every_clean_history_is_released(judged, name, manager):
    """Every clean history is released by its manager's commands, or left to its manager."""
    verdict = judged(CLEAN[name], list(CLEAN).index(name), manager)
    begins = REMOVE[manager]
    if name == "spot" and manager == "alone":
        begins = ["aws ec2 terminate-instances"]
    assert len(begins) == len(verdict["commands"])
    assert all(map(str.startswith, verdict["commands"], begins))
    assert ("release" if begins else "keep") == verdict["answer"]
    assert (set() if begins else {"manager"}) == _held_back_by(verdict)


@pytest.mark.parametrize("name", OWNED_HISTORIES)
def test_the_owner_of_idle_cores_is_asked(judged, name):
    """The owner of idle cores is asked, unless it may work or is unknown; commands only read."""
    answer, owner, says, spoil = OWNED_HISTORIES[name]
    for seed, manager in enumerate(EC2_MANAGERS):
        verdict = judged(spoil, seed, manager)
        assert answer == verdict["answer"], manager
        assert owner == verdict["owner"], manager
        assert says in " ".join([verdict["reason"], *verdict["commands"]]), manager
        assert all(command.startswith(LOOKS) for command in verdict["commands"])


def test_each_guard_is_needed():
    """Each guard holds back some history alone; `siblings` only prevents a question."""
    alone = {kind.held_back_by for kind in WRONG.values()}
    guards = {guard.name for guard in (*LINE_GUARDS, *ACCOUNT_GUARDS)}
    assert {"siblings", "instance-store", "placement-group"} == guards - alone


def test_a_stop_that_destroys_data_is_asked_about(judged):
    """A stop that destroys data is asked about; with a group or scheduler it is a warning."""
    for manager in REMOVE:
        verdict = judged(store, 0, manager)
        if manager == "alone":
            assert "ask" == verdict["answer"]
            assert verdict["owner"] is None
            assert all(command.startswith(LOOKS) for command in verdict["commands"])
        assert manager == "alone" or "instance store" in verdict["warnings"][0]


def test_each_guard_has_its_sentence(judged, golden, repository):
    """Each kind of history has the sentences of its guards and owners."""
    lines = []
    for name, kind in {"clean": Kind("", CLEAN["nothing else"]), **WRONG}.items():
        verdict = judged(kind.spoil, 0, "HyperPod" if name in OF_HYPERPOD else "alone")
        said: dict[str, list[str]] = {}
        for result in verdict["checks"]:
            if result["state"] not in ("ok", "not tried") or name == "clean":
                said.setdefault(f"{result['state']}: {result['found']}", []).append(result["check"])
        lines += [f"{name}: {', '.join(checks)} {what}\n" for what, checks in said.items()]
    for name, (*_, spoil) in OWNED_HISTORIES.items():
        verdict = judged(spoil, 0, "group")
        lines += [f"{name}: {verdict['answer']} {verdict['owner']}: {verdict['reason']}\n"]
    golden(repository / "tests/data/shown/guards.txt", "".join(lines))


def test_it_calls_only_the_operations_of_the_page(repository):
    """Asking about an instance calls only the reading operations that the page allows."""
    page = (repository / "docs" / "how-to" / "acting.md").read_text("utf-8")
    allowed = re.findall('"([a-z0-9]+:(?:Describe|List)[A-Z][A-Za-z]+)"', page)
    played = [FakeAws(InstanceWorld(0, manager).answers) for manager in ("ECS", "HyperPod")]
    for aws in played:
        assert not isinstance(read_account_facts(aws, AN_INSTANCE).manager, Unknown)
    assert sorted(allowed) == sorted({action for aws in played for action in aws.asked})
