"""Whether an instance can be released, by histories of which their maker knows the answer."""

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
    "HyperPod": ["sudo scontrol update", "neuron-emf findings",
                 "aws sagemaker batch-delete-cluster-nodes"],
    "ParallelCluster": [],
}  # fmt: skip
"""How the commands of each manager begin; what they say is a table of `test_managers`."""

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
    Held back by the guards that see it and by no others, whoever manages the instance.

    Where placement is stopped first, a host that compiles is a warning.
    """
    kind = WRONG[name]
    managers = ["HyperPod"]
    if name in LINE_HISTORIES:
        managers = list(REMOVE)
    elif name in ACCOUNT_HISTORIES:
        managers = list(EC2_MANAGERS)
    if name in OF_STREAMS:
        # ParallelCluster keeps it, whatever other log streams say, so they are not read.
        managers = [manager for manager in REMOVE if REMOVE[manager]]
    for seed, manager in enumerate(managers):
        found = judged(kind.spoil, seed, manager)
        expected = {*kind.held_back_by.split()}
        if manager == "ParallelCluster":
            expected |= {"manager"}
        is_placed = len(REMOVE[manager]) > 1 and "manager" not in expected
        if is_placed and name in COMPILING:
            expected = set()
            assert ["Look again once nothing is placed on it."] == [
                result["advice"] for result in found["checks"] if result["state"] == "warning"
            ]
        assert expected == _held_back_by(found), manager
        if expected:
            assert ("keep", [], None) == (
                found["answer"],
                found["commands"],
                found["valid_until"],
            ), manager


@pytest.mark.parametrize("manager", REMOVE)
@pytest.mark.parametrize("name", CLEAN)
def test_every_clean_history_is_released(judged, name, manager):
    """By the commands of whoever manages it, and left to a manager that replaces what is idle."""
    found = judged(CLEAN[name], list(CLEAN).index(name), manager)
    begins = REMOVE[manager]
    if name == "spot" and manager == "alone":
        begins = ["aws ec2 terminate-instances"]
    assert len(begins) == len(found["commands"])
    assert all(map(str.startswith, found["commands"], begins))
    assert ("release" if begins else "keep") == found["answer"]
    assert (set() if begins else {"manager"}) == _held_back_by(found)


@pytest.mark.parametrize("name", OWNED_HISTORIES)
def test_whoever_has_idle_cores_is_asked(judged, name):
    """Unless they may work, or it is not known; what is shown changes nothing."""
    answer, owner, says, spoil = OWNED_HISTORIES[name]
    for seed, manager in enumerate(EC2_MANAGERS):
        found = judged(spoil, seed, manager)
        assert (answer, owner) == (found["answer"], found["owner"]), manager
        assert says in " ".join([found["reason"], *found["commands"]]), manager
        assert all(command.startswith(LOOKS) for command in found["commands"])


def test_each_guard_is_needed():
    """Of each there is a history that it alone holds back; `siblings` only keeps from asking."""
    alone = {kind.held_back_by for kind in WRONG.values()}
    guards = {guard.name for guard in (*LINE_GUARDS, *ACCOUNT_GUARDS)}
    assert {"siblings", "instance-store", "placement-group"} == guards - alone


def test_what_a_stop_destroys_is_asked_of_whoever_runs_one_alone(judged):
    """Of a group or a scheduler it is a warning beside the command."""
    for manager in REMOVE:
        found = judged(store, 0, manager)
        if manager == "alone":
            assert "ask" == found["answer"]
            assert found["owner"] is None
            assert all(command.startswith(LOOKS) for command in found["commands"])
        assert manager == "alone" or "instance store" in found["warnings"][0]


def test_what_was_found_is_said(judged, golden, repository):
    """Of each kind, by the guards that hold it back, and of owners; read in review."""
    lines = []
    for name, kind in {"clean": Kind("", CLEAN["nothing else"]), **WRONG}.items():
        found = judged(kind.spoil, 0, "HyperPod" if name in OF_HYPERPOD else "alone")
        said: dict[str, list[str]] = {}
        for result in found["checks"]:
            if result["state"] not in ("ok", "not tried") or name == "clean":
                said.setdefault(f"{result['state']}: {result['found']}", []).append(result["check"])
        lines += [f"{name}: {', '.join(checks)} {what}\n" for what, checks in said.items()]
    for name, (*_, spoil) in OWNED_HISTORIES.items():
        found = judged(spoil, 0, "group")
        lines += [f"{name}: {found['answer']} {found['owner']}: {found['reason']}\n"]
    golden(repository / "tests/data/shown/guards.txt", "".join(lines))


def test_it_asks_what_the_page_allows_and_no_more(repository):
    """Of an instance of ECS in a group, and of a node of HyperPod: only what reads."""
    page = (repository / "docs" / "how-to" / "acting.md").read_text("utf-8")
    allowed = re.findall('"([a-z0-9]+:(?:Describe|List)[A-Z][A-Za-z]+)"', page)
    played = [FakeAws(InstanceWorld(0, manager).answers) for manager in ("ECS", "HyperPod")]
    for aws in played:
        assert not isinstance(read_account_facts(aws, AN_INSTANCE).manager, Unknown)
    assert sorted(allowed) == sorted({action for aws in played for action in aws.asked})
