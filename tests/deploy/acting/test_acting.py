"""docs/how-to/acting.md: its two programs look again, and take nothing of an event but an ID."""

from __future__ import annotations

import json
import os
import shlex

import pytest

from tests.docs.shown_blocks import DOCS, files_of
from tests.programs import run_program

PROGRAMS = files_of(DOCS / "how-to" / "acting.md")
INSTANCE = "i-0123456789abcdef0"
PLAYED = """#!/bin/sh
printf '%s\\n' "${0##*/} $*" >> "$CALLS"
case "${0##*/} $*" in
"""
SLURM = {
    f"aws ec2 describe-instances --instance-ids {INSTANCE} *": "10.0.0.8",
    "scontrol show nodes *": "NodeName=trn-1 NodeAddr=10.0.0.80\nNodeName=trn-2 NodeAddr=10.0.0.8",
    "sinfo *--nodes=trn-2 *": "idle\nidle",
    "squeue *--nodelist=trn-2 *": "",
    "scontrol update *": "",
}
NODE = {"metadata": {"name": "ip-10-0-0-8"}, "spec": {"providerID": f"aws:///zone/{INSTANCE}"}}
OTHER = {"metadata": {"name": "other"}, "spec": {}}
CONTAINER = {"resources": {"limits": {"aws.amazon.com/neurondevice": "1"}}}


def pods(phase):
    """One that asks for a device, beside one that asks for nothing."""
    asking = {"spec": {"containers": [{}], "initContainers": [CONTAINER]}}
    system = {"spec": {"containers": [{}]}, "status": {"phase": "Running"}}
    return json.dumps({"items": [{**asking, "status": {"phase": phase}}, system]})


EKS = {
    "kubectl get nodes *": json.dumps({"items": [OTHER, NODE]}),
    "kubectl get pods *spec.nodeName=ip-10-0-0-8 *": pods("Succeeded"),
    "kubectl cordon *": "",
}
DRAINED = "scontrol update NodeName=trn-2 State=DRAIN Reason=neuron-emf"
CORDONED = "kubectl cordon -- ip-10-0-0-8"
GOOD = {"Schema": 1, "Kind": "idle-instance", "Change": "opened", "InstanceId": INSTANCE}


@pytest.fixture
def calls(tmp_path):
    """Give an event to a program of the page where these commands answer; what was typed."""

    def made(program, answers, detail, **event):
        typed = tmp_path / "calls"
        typed.write_text("")
        for name in {one.split()[0] for one in {**SLURM, **EKS}}:
            cases = "".join(
                f"{shlex.quote(one).replace('*', chr(39) + '*' + chr(39))})"
                f" printf '%s\\n' {shlex.quote(said)} ;;\n"
                for one, said in answers.items()
            )
            (tmp_path / name).write_text(f"{PLAYED}{cases}*) exit 9 ;;\nesac\n")
            (tmp_path / name).chmod(0o755)
        document = {"source": "neuron-emf", "detail-type": "Neuron Finding", "detail": detail}
        ended = run_program(
            ["bash", "-c", PROGRAMS[program]],
            input=json.dumps({**document, **event}),
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(typed)},
        )
        return ended.returncode, typed.read_text().splitlines()

    return made


@pytest.mark.parametrize(
    ("program", "answers", "done"),
    [("drain.sh", SLURM, DRAINED), ("cordon.sh", EKS, CORDONED)],
)
def test_an_idle_instance_is_taken_out_of_the_scheduler(calls, program, answers, done):
    """By one call, after it has looked; a hostile event makes no call at all."""
    code, typed = calls(program, answers, GOOD)
    assert (0, done) == (code, typed[-1])
    assert 1 == sum(one.startswith(("scontrol update", "kubectl cordon")) for one in typed)
    hostile = ("--endpoint-url=https://stranger.example", "i-0123456789abcdef0 --act", "i-0",
               "i-0123456789abcdef0\n--no-verify-ssl", "$(touch x)", "i-0123456789ABCDEF0", 7,
               ["i-0123456789abcdef0"], None)  # fmt: skip
    for word in hostile:
        assert (0, []) == calls(program, answers, {**GOOD, "InstanceId": word}), word
    for member in ({"Kind": "idle-owner"}, {"Change": "closed"}, {"Schema": 2}):
        assert (0, []) == calls(program, answers, {**GOOD, **member}), member
    assert (0, []) == calls(program, answers, GOOD, source="somebody")


@pytest.mark.parametrize(
    ("program", "answers", "changed"),
    [
        ("drain.sh", SLURM, {"sinfo *--nodes=trn-2 *": "mixed"}),
        ("drain.sh", SLURM, {"squeue *--nodelist=trn-2 *": "4711"}),
        ("drain.sh", SLURM, {"scontrol show nodes *": "NodeName=--all NodeAddr=10.0.0.8"}),
        ("cordon.sh", EKS, {"kubectl get pods *spec.nodeName=ip-10-0-0-8 *": pods("Running")}),
        ("cordon.sh", EKS, {"kubectl get nodes *": json.dumps({"items": [OTHER]})}),
    ],
)
def test_what_is_in_use_or_not_found_is_left_alone(calls, program, answers, changed):
    """And one whose scheduler does not answer fails, so that the event comes again."""
    code, typed = calls(program, {**answers, **changed}, GOOD)
    assert 0 == code
    assert [] == [one for one in typed if one.startswith(("scontrol update", "kubectl cordon"))]
    silent = {name: said for name, said in answers.items() if name not in changed}
    code, typed = calls(program, silent, GOOD)
    assert 0 != code
    assert [] == [one for one in typed if one.startswith(("scontrol update", "kubectl cordon"))]
