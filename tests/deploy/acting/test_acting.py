"""The scripts that act on findings look again, do nothing unless told to, and then one thing."""

from __future__ import annotations

import json
import time
from copy import deepcopy
from datetime import datetime, timezone
from typing import NamedTuple

import pytest
from moto.events.models import EventPattern

from neuron_wire.findings import KINDS
from tests.deploy.acting.played_scheduler import SCRIPTS, PlayedScheduler
from tests.programs import run_program

INSTANCE = "i-0123456789abcdef0"
pytestmark = pytest.mark.timeout(60)  # each run starts a dozen small programs


def iso(minutes_ago):
    """A minute as findings have it."""
    moment = datetime.fromtimestamp(time.time() - 60 * minutes_ago, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%MZ")


def finding(kind, **members):
    """An event of EventBridge as the stack sends it, of the last minutes."""
    detail = {
        "Schema": 1, "Id": "3d29990a11d1467bc1d99131f67891af", "Step": 2, "Change": "worsened",
        "Kind": kind, "ClusterName": "research", "Minute": iso(3), "Opened": iso(60),
        "Since": iso(90), "IdleMinutes": 87, "Paid": "avoidable", "NeuronCores": 32,
        "Query": {"LogGroup": "records", "QueryString": "limit 60", "StartTime": 0, "EndTime": 60},
    }  # fmt: skip
    return {
        "version": "0", "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718", "account": "123456789012",
        "source": "neuron-emf", "detail-type": "Neuron Finding", "region": "us-west-2",
        "detail": {**detail, **members},
    }  # fmt: skip


NODE = (
    "NodeName=trn-st-1 Arch=x86_64 State=IDLE+CLOUD NodeAddr=10.0.0.7 NodeHostName=trn-st-1\n"
    "NodeName=trn-st-2 Arch=x86_64 State=IDLE+CLOUD NodeAddr=10.0.0.8 NodeHostName=trn-st-2"
)
SLURM = {
    "aws ec2 describe-instances": "10.0.0.8\tip-10-0-0-8.us-west-2.compute.internal",
    "scontrol show nodes": NODE,
    "scontrol update": "",
    "sinfo": "idle",
    "squeue": "",
}
NEURON_POD = {
    "metadata": {"namespace": "ml", "name": "llama-0"},
    "spec": {"containers": [{"resources": {"limits": {"aws.amazon.com/neurondevice": "16"}}}]},
    "status": {"phase": "Running"},
}
OTHER_POD = {
    "metadata": {"namespace": "kube-system", "name": "aws-node"},
    "spec": {"containers": [{}], "initContainers": [{"resources": {}}]},
    "status": {"phase": "Running"},
}
CORDON = {
    "kubectl get nodes": {
        "items": [
            {"metadata": {"name": "other"}, "spec": {"providerID": "aws:///us-west-2d/i-1"}},
            {"metadata": {"name": "ip-10-0-0-8"},
             "spec": {"providerID": f"aws:///us-west-2d/{INSTANCE}"}},
        ]
    },
    "kubectl get pods": {
        "items": [OTHER_POD, {**NEURON_POD, "status": {"phase": "Succeeded"}}]
    },
    "kubectl cordon": "",
}  # fmt: skip


def controlled_by(kind, name):
    """Owner references of what a controller made."""
    return {"ownerReferences": [{"kind": kind, "name": name, "controller": True}]}


def zero():
    """A pod that was ready long before its cores became idle, of a Deployment that allows it."""
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": f"{iso(300)[:-1]}:30Z"}
    return {
        "kubectl get pod llama-7d9f-x2x": {
            "metadata": controlled_by("ReplicaSet", "llama-7d9f"),
            "status": {"conditions": [ready]},
        },
        "kubectl get replicaset/llama-7d9f": {"metadata": controlled_by("Deployment", "llama")},
        "kubectl get deployment/llama": {
            "metadata": {"annotations": {"neuron-emf/scale-to-zero": "true"}, "generation": 4},
            "spec": {"replicas": 1},
            "status": {"observedGeneration": 4, "updatedReplicas": 1, "replicas": 1},
        },
        "kubectl scale": "",
    }


def service():
    """A service of one task that allows it."""
    return {
        "aws ecs describe-services": {
            "services": [
                {
                    "status": "ACTIVE", "desiredCount": 1, "runningCount": 1, "pendingCount": 0,
                    "deployments": [{}],
                    "tags": [{"key": "neuron-emf:scale-to-zero", "value": "true"}],
                }
            ]
        },
        "aws ecs list-tasks": {"taskArns": ["arn:aws:ecs:us-west-2:123456789012:task/prod/1"]},
        "aws ecs describe-tasks": {"tasks": [{"startedAt": f"{iso(400)[:-1]}:07.123000+00:00"}]},
        "aws ecs update-service": "{}",
    }  # fmt: skip


GIVE_BACK = (
    "aws autoscaling terminate-instance-in-auto-scaling-group --instance-id "
    f"{INSTANCE} --should-decrement-desired-capacity --region us-west-2"
)
GROUP = {
    "neuron-emf stoppable": {"stoppable": True, "held_back_by": [], "command": GIVE_BACK},
    "aws autoscaling terminate-instance-in-auto-scaling-group": "{}",
}


class Way(NamedTuple):
    """A script with its options, the scheduler as it answers, the event, and the one thing done."""

    script: str
    options: tuple[str, ...]
    answers: dict
    event: dict
    done: str


IDLE = finding("idle-instance", InstanceId=INSTANCE, HeldBackBy=[])
CORES = finding("idle-cores", Owner="ml/llama-7d9f-x2x/server", IdleCores=32.0, Instances=1)
OF_ECS = finding("idle-cores", Owner="ecs:search/llama/server", IdleCores=2.0, Instances=1)
WAYS = {
    "drain": Way(
        "slurm.sh", (), SLURM, IDLE,
        "scontrol update NodeName=trn-st-2 State=DRAIN Reason=neuron-emf: idle since "
        + IDLE["detail"]["Since"],
    ),
    "power down": Way(
        "slurm.sh", ("--power-down",), SLURM, IDLE,
        "scontrol update NodeName=trn-st-2 State=POWER_DOWN",
    ),
    "cordon": Way("eks-cordon.sh", (), CORDON, IDLE, "kubectl cordon ip-10-0-0-8"),
    "zero": Way(
        "eks-scale-to-zero.sh", (), zero(), CORES,
        "kubectl scale deployment/llama --namespace ml --current-replicas=1 --replicas=0",
    ),
    "ecs": Way(
        "ecs.sh", (), service(), OF_ECS,
        "aws ecs update-service --cluster research --service search --desired-count 0",
    ),
    "group": Way("group.sh", (), GROUP, IDLE, GIVE_BACK),
}  # fmt: skip
MUTATING = ("scontrol update", "kubectl cordon", "kubectl scale", "aws ecs update", GIVE_BACK[:20])


@pytest.fixture
def acted(tmp_path):
    """Run a way on a scheduler and an event as they are changed; the run, and what it changed."""

    def call(name, change=None, *options, answers=None, **members):
        way = WAYS[name]
        event = deepcopy(way.event)
        event["detail"].update(members)
        played = PlayedScheduler(tmp_path, {**deepcopy(way.answers), **(answers or {})})
        if change is not None:
            change(played.answers)
        run = played.run(way.script, event, *way.options, *options)
        return run, [one for one in played.calls if one.startswith(MUTATING)]

    return call


@pytest.mark.parametrize("name", WAYS)
def test_by_default_it_only_shows_what_it_would_do(acted, name):
    """After it has looked again; nothing is changed."""
    run, changed = acted(name)
    assert (0, []) == (run.returncode, changed), run.stderr
    assert run.stdout.startswith("dry run, --act does it: ")
    assert WAYS[name].done.split(" Reason")[0] in run.stdout


@pytest.mark.parametrize("name", WAYS)
def test_when_told_to_it_does_one_thing(acted, name):
    """Once, as the way says."""
    run, changed = acted(name, None, "--act")
    assert (0, [WAYS[name].done]) == (run.returncode, changed), run.stderr


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize(
    "members",
    [
        {"Minute": "2025-11-24T16:00Z"},
        {"Change": "closed", "Reason": "work"},
        {"Kind": "silent-instance"},
        {"Schema": 2},
    ],
    ids=["old", "closed", "of another kind", "newer schema"],
)
def test_an_event_that_is_not_of_now_is_left_alone(acted, name, members):
    """Before anybody is asked."""
    run, changed = acted(name, None, "--act", **members)
    assert (0, []) == (run.returncode, changed)
    assert "left alone: " in run.stderr


def _service(**members):
    return lambda answers: answers["aws ecs describe-services"]["services"][0].update(members)


def _workload(part, **members):
    return lambda answers: answers["kubectl get deployment/llama"][part].update(members)


def _stoppable(code, **members):
    verdict = {"stoppable": False, "held_back_by": [], "command": None, **members}
    return {"neuron-emf stoppable": [code, json.dumps(verdict)]}


LOADING = {"type": "Ready", "status": "True", "lastTransitionTime": f"{iso(20)[:-1]}:00Z"}
CHANGED = [
    ("drain", {"squeue": "4711"}, "has job 4711"),
    ("drain", {"sinfo": "mixed"}, "is mixed"),
    ("drain", {"sinfo": "drained"}, "is drained"),
    ("drain", {"sinfo": "reserved"}, "is reserved"),
    ("drain", {"scontrol show nodes": NODE.replace("10.0.0.8", "10.0.0.9")}, "no Slurm node"),
    ("power down", {"squeue": "4711"}, "has job 4711"),
    ("power down", {"sinfo": "idle~"}, "is idle~"),
    ("cordon", {"kubectl get nodes": {"items": []}}, "no node"),
    ("cordon", {"kubectl get pods": {"items": [OTHER_POD, NEURON_POD]}}, "pod ml/llama-0"),
    ("cordon", {"kubectl get pods": {"items": [{**NEURON_POD, "status": {"phase": "Pending"}}]}},
     "pod ml/llama-0"),
    ("zero", {"kubectl get pod llama-7d9f-x2x": ""}, "is gone"),
    ("zero", lambda a: a["kubectl get pod llama-7d9f-x2x"]["status"].update(conditions=[LOADING]),
     "was not ready"),
    ("zero", lambda a: a["kubectl get pod llama-7d9f-x2x"]["status"].update(conditions=[]),
     "was not ready"),
    ("zero", _workload("metadata", annotations={}), "no annotation"),
    ("zero", _workload("spec", replicas=2), "not one replica"),
    ("zero", _workload("metadata", generation=5), "rolled out"),
    ("zero", lambda a: a["kubectl get pod llama-7d9f-x2x"].update(
        metadata=controlled_by("Job", "nightly")), "is of job/nightly"),
    ("ecs", {"aws ecs describe-services": {"services": []}}, "no service"),
    ("ecs", _service(tags=[]), "no tag"),
    ("ecs", _service(desiredCount=2, runningCount=2), "not one task"),
    ("ecs", _service(deployments=[{}, {}]), "being deployed"),
    ("ecs", _service(pendingCount=1), "not one task"),
    ("ecs", lambda a: a["aws ecs describe-tasks"]["tasks"][0].update(
        startedAt=f"{iso(20)[:-1]}:00+00:00"), "started after"),
    ("group", _stoppable(1, held_back_by=["no-holder", "host-cpu"]), "no-holder, host-cpu"),
    ("group", _stoppable(0, command="aws ec2 stop-instances"), "no auto-scaling group"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "why"), CHANGED)
def test_what_has_changed_since_the_event_is_seen(acted, name, change, why):
    """A job that started, a pod that came, a service that grew: it is left alone, and says why."""
    answers, change = (change, None) if isinstance(change, dict) else (None, change)
    run, changed = acted(name, change, "--act", answers=answers)
    assert (0, []) == (run.returncode, changed), run.stderr
    assert why in run.stderr


@pytest.mark.parametrize(
    ("name", "members", "why"),
    [
        ("power down", {"Paid": "sunk"}, "is paid for"),
        ("power down", {"Owners": [{"Name": "process:python u", "Cores": "0"}]}, "holds cores"),
        ("zero", {"Owner": "slurm:4711 ml-user"}, "is no pod"),
        ("zero", {"Owner": "[unallocated]"}, "is no pod"),
        ("ecs", {"Owner": "ecs:llama/server"}, "no service of ECS"),
        ("ecs", {"Owner": "ml/llama-0"}, "no service of ECS"),
    ],
)
def test_what_the_event_says_against_it_is_heard(acted, name, members, why):
    """Money that is paid anyway, a process without a job, an owner of another scheduler."""
    run, changed = acted(name, None, "--act", **members)
    assert (0, []) == (run.returncode, changed)
    assert why in run.stderr


@pytest.mark.parametrize(
    ("name", "asked"),
    [(name, asked) for name, way in WAYS.items() for asked in way.answers
     if not asked.startswith(MUTATING)],
)  # fmt: skip
def test_a_scheduler_that_does_not_answer_is_a_failure_and_no_permission(acted, name, asked):
    """The script fails, so that the event comes again, and has changed nothing."""
    run, changed = acted(name, lambda answers: answers.pop(asked), "--act")
    assert [] == changed
    assert run.returncode


@pytest.mark.parametrize(("nodes", "forgotten"), [({"items": []}, 1), ([1, ""], 0)])
def test_an_event_is_forgotten_when_it_was_judged(tmp_path, nodes, forgotten):
    """Left alone or acted on; it stays in the queue when the scheduler did not answer."""
    message = {"Messages": [{"Body": json.dumps(IDLE), "ReceiptHandle": "handle"}]}
    answers = {
        "aws sqs receive-message": {"once": message},
        "aws sqs delete-message": "",
        "kubectl get nodes": nodes,
    }
    played = PlayedScheduler(tmp_path, answers)
    run = played.run("listen.sh", None, "https://sqs/queue", str(SCRIPTS / "eks-cordon.sh"))
    assert 9 == run.returncode
    delete = "aws sqs delete-message --queue-url https://sqs/queue --receipt-handle handle"
    assert forgotten == played.calls.count(delete)
    assert 1 == played.calls.count("kubectl get nodes --output json")


@pytest.mark.parametrize(
    ("pattern", "event", "matches"),
    [
        ("idle-instance", IDLE, True),
        ("idle-instance", finding("idle-instance", IdleMinutes=59), False),
        ("idle-instance", finding("idle-instance", Change="closed"), False),
        ("idle-instance", CORES, False),
        ("idle-instance", {**IDLE, "source": "aws.ec2"}, False),
        ("idle-cores", OF_ECS, True),
        ("idle-cores", finding("fleet-change"), False),
    ],
)
def test_a_rule_chooses_findings_that_are_open_and_an_hour_old(pattern, event, matches):
    """By moto's own matching of event patterns."""
    text = (SCRIPTS / f"{pattern}.json").read_text("utf-8")
    assert matches is EventPattern.load(text).matches_event(event)


@pytest.mark.parametrize("kind", ["idle-instance", "idle-cores"])
def test_of_each_kind_and_change_a_rule_chooses_its_own(kind, repository):
    """Of the golden events: those of its kind that opened or worsened, an hour old, and all."""
    pattern = EventPattern.load((SCRIPTS / f"{kind}.json").read_text("utf-8"))
    events = [
        {**{name: IDLE[name] for name in IDLE if name != "detail"}, "detail": json.loads(line)}
        for path in sorted((repository / "tests/data/findings/v1").glob("*.events.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    details = [one["detail"] for one in events]
    assert {(one, change) for one in KINDS for change in ("opened", "closed")} <= {
        (one["Kind"], one["Change"]) for one in details
    }
    chosen = [one["detail"] for one in events if pattern.matches_event(one)]
    assert [(kind, "worsened", 61)] == [
        (one["Kind"], one["Change"], one["IdleMinutes"]) for one in chosen
    ]
    assert chosen == [
        one for one in details
        if one["Kind"] == kind and one["Change"] != "closed" and one["IdleMinutes"] >= 60
    ]  # fmt: skip


def test_the_scripts_have_no_fault_that_shellcheck_knows(deploy_programs):
    """All of the folder."""
    scripts = sorted(SCRIPTS.glob("*.sh"))
    assert 7 == len(scripts)
    run = run_program([deploy_programs / "shellcheck", "-x", *scripts], cwd=SCRIPTS.parents[1])
    assert 0 == run.returncode, run.stdout


def test_the_aws_cli_knows_what_is_done(fault_of):
    """What the scripts change at AWS, and what they ask, is read as the AWS CLI does."""
    asked = [
        WAYS["ecs"].done,
        GIVE_BACK,
        "aws ecs describe-services --cluster c --services s --include TAGS --output json",
        "aws ecs list-tasks --cluster c --service-name s --output json",
        "aws ecs describe-tasks --cluster c --tasks t --output json",
        "aws ec2 describe-instances --instance-ids i-1 --output text",
        "aws sqs receive-message --queue-url q --wait-time-seconds 20 --output json",
        "aws sqs delete-message --queue-url q --receipt-handle h",
    ]
    assert [] == [fault for one in asked if (fault := fault_of(one.split()[1:], {}))]
