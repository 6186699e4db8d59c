"""What the rehearsal says of `neuron-emf stoppable` is held against the fleet's cast."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from local.embedded_aws import EmbeddedAws
from local.embedded_aws.clients import REGION
from local.rehearsal.described_fleet import DAY_S, described_fleet
from local.rehearsal.expectation import idle_members
from local.rehearsal.fleet import FLEET
from local.rehearsal.guard_answers import (
    NOT_EMULATED,
    GuardAnswer,
    GuardAnswers,
    against_events,
    stoppable_jobs,
)
from local.rehearsal.page import AccountEndpoint
from neuron_emf.account import rehearsed_account
from neuron_emf.check.aws_client import AwsClient
from neuron_emf.stoppable.account_reading import read_account_facts
from neuron_emf.stoppable.facts import AccountFacts, Ec2Facts, Untold
from neuron_emf.stoppable.guard import failed, passed
from neuron_emf.stoppable.line_reading import line_facts
from neuron_emf.stoppable.listing import document
from neuron_emf.stoppable.verdict import GUARDS, verdict
from tests.hour import END_S

HELD, FREE = "i-06f58c76ba1c4c2e7", "i-0dca61c356ef14800"
NOW_MS = END_S * 1000 + 60_000
UNTOLD = Untold("nobody answers")

pytestmark = pytest.mark.timeout(90)  # whoever comes first simulates the hour


def described(member):
    """What the embedded AWS says of *member*, launched a day before."""
    zone = str(member.simulated.identity_block()["instance_availability_zone"])
    launched_ms = NOW_MS - DAY_S * 1000
    ec2 = Ec2Facts("running", member.instance_type, zone, "000000000000", launched_ms)
    return AccountFacts(
        ec2=ec2, has_stop_protection=UNTOLD, has_termination_protection=False,
        has_instance_store=False, group=None, ecs_clusters=(), sessions=UNTOLD,
    )  # fmt: skip


@pytest.fixture
def answered(hour):
    """What `stoppable` says with *guards* after the hour, whose emitters have shut down."""

    def answers(guards=GUARDS):
        found = []
        for member in idle_members():
            facts = line_facts(hour.lines, hour.rollups, member.instance_id, NOW_MS, {})
            *before, last = facts.minutes
            gone = replace(last, record=replace(last.record, bye=True))
            judged = verdict(replace(facts, minutes=[*before, gone]), described(member), guards)
            found.append(GuardAnswer(member, document(judged)))
        return GuardAnswers(found)

    return answers


def planted(name, judgement):
    """All guards, one of which judges wrongly."""
    return [
        replace(guard, judge=lambda *_: judgement) if guard.name == name else guard
        for guard in GUARDS
    ]


def test_both_idle_instances_are_explained_in_a_few_lines(answered):
    """Who says no, who cannot tell, and the command that says all of it."""
    found = answered()
    assert [] == found.problems()
    assert [
        f"{HELD} (trn1.32xlarge, research) may not be stopped: 23 of 28 guards passed",
        "  no       newest-line: the emitter has shut down",
        "  no       no-holder: slurm:4711 ml-user at 2026-11-20 08:59 UTC",
        "  no       host-cpu: at most 19.6 %",
        "  unknown  stop-protection, sessions",
        f"  .venv/bin/neuron-emf stoppable {HELD} --rehearsal",
        f"{FREE} (trn1.2xlarge, research) may not be stopped: 25 of 28 guards passed",
        "  no       newest-line: the emitter has shut down",
        "  unknown  stop-protection, sessions",
        f"  .venv/bin/neuron-emf stoppable {FREE} --rehearsal",
    ] == found.text().splitlines()


@pytest.mark.parametrize(
    ("name", "judgement", "wrong"),
    [
        ("no-holder", passed("nobody"), {HELD: "no: slurm:4711 ml-user, found ok"}),
        (
            "no-holder",
            failed("unit:ada"),
            {HELD: "no: slurm:4711 ml-user, found no: unit:ada", FREE: "ok, found no: unit:ada"},
        ),
        ("sessions", passed("0 sessions"), dict.fromkeys((HELD, FREE), "unknown, found ok")),
    ],
)
def test_a_planted_wrong_guard_is_said(answered, name, judgement, wrong):
    """One that passes, one that holds back, one that claims to know."""
    assert [
        f"{instance}, neuron-emf stoppable, {name}: expected {said}"
        for instance, said in wrong.items()
    ] == answered(planted(name, judgement)).problems()


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ([FREE, HELD], []),
        ([HELD], [f"{FREE} was idle all the hour, and no event says so"]),
        ([FREE, HELD, "i-1"], ["an event says that i-1 is idle, and it works"]),
    ],
)
def test_events_name_the_idle_instances_and_no_others(told, wrong):
    """By the cast: one is held by a job, the other by nobody."""
    assert wrong == against_events(told)


def test_the_command_is_asked_about_each(tmp_path):
    """Both exit codes that are an answer are one."""
    place = AccountEndpoint("http://127.0.0.1:1", REGION, "lines", "rollups", "stack")
    jobs = [job for (job,) in stoppable_jobs(tmp_path, {}, place)]
    assert [HELD, FREE] == [job.command[4] for job in jobs]
    assert {(0, 1)} == {job.exit_codes for job in jobs}
    for job in jobs:
        job.output.write_text(json.dumps({"guards": []}), "utf-8")
    assert [HELD, FREE] == [one.member.instance_id for one in GuardAnswers.read(tmp_path).answers]


@pytest.mark.embedded
def test_the_embedded_aws_describes_the_fleet(programs, tmp_path):
    """Each under its own id, with what its lines say; what nobody answers is untold."""
    now_s = float(int(time.time()))
    aws = EmbeddedAws(programs[0], tmp_path, described_fleet(now_s))
    aws.start()
    try:
        names = {"log_group": "", "rollups_log_group": "", "stack_name": "", "region": REGION}
        client = AwsClient(rehearsed_account({**names, "endpoint_url": aws.endpoint_url}))
        for number, member in enumerate(FLEET):
            found = read_account_facts(client, member.instance_id)
            untold = [name for name in AccountFacts.__slots__
                      if isinstance(getattr(found, name), Untold)]  # fmt: skip
            assert ["has_stop_protection", "sessions"] == untold
            expected = described(member)
            ec2 = replace(
                expected.ec2,
                launched_ms=int(now_s - DAY_S) * 1000,
                tags={"Name": f"{member.cluster}-{number}"},
            )
            told = replace(found, has_stop_protection=UNTOLD, sessions=UNTOLD)
            assert replace(expected, ec2=ec2) == told
    finally:
        aws.stop()
    assert {"stop-protection", "sessions"} == set(NOT_EMULATED)
