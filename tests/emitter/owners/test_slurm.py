"""What Slurm gave: by its own command, by what is exclusive, or unread."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from fake_machine import SLUID, SLURM_V2
from hypothesis import given
from hypothesis import strategies as st

from emitter.owners import slurm
from emitter.owners.given import Allocation, UnreadError
from emitter.owners.slurm import (
    ASKED_EVERY_S,
    SPREAD_S,
    Gres,
    JobRecord,
    SlurmJobs,
    is_here,
    parse_job,
)

SCOPE = "sys/fs/cgroup/system.slice/slurmstepd.scope"
COMMAND = "opt/slurm/bin/scontrol"

# As Slurm 25.11 prints it; what is not looked at is left out.
RECORD = """JobId={job} JobName={name}
   UserId=ada(1000) GroupId=ada(1000) MCS_label=N/A
   Priority=4294901734 Nice=0 Account=physics QOS=normal
   JOB_GRES=gpu:2
{nodes}   MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0
   Comment={comment}
"""
NODE = "     Nodes={nodes} CPU_IDs=0-127 Mem=0 GRES={gres}\n"


def record(*entries, job="4711", name="train", comment=""):
    """An answer about a job with *entries*, nodes and what was given there."""
    lines = "".join(NODE.format(nodes=nodes, gres=gres) for nodes, gres in entries)
    return RECORD.format(job=job, name=name, nodes=lines, comment=comment)


def gres_of(name, *indexes, count=0):
    return Gres(name, frozenset(indexes), count)


@pytest.mark.parametrize(
    ("text", "gres"),
    [
        (record(("trn1", "gpu:trainium:4(IDX:3,5-7)")), (gres_of("gpu", 3, 5, 6, 7),)),
        (record(("trn1", "neuron:1(IDX:0),nvme(CNT:2)")),
         (gres_of("neuron", 0), gres_of("nvme", count=2))),
        (record(("trn1", "")), ()), (record(("trn1", "(null)")), ()),
        (record(("t-[1-3]", "gpu:1(IDX:0)"), ("t-4,n-st-[1-2,09]", "gpu:1(IDX:5)")),
         (gres_of("gpu", 5),)),
        (record(("t1", ""), ("n-[st]-09", "gpu:1(IDX:0)"), ("n-st-[001-009]", "")), ()),
        (record(("a", ""), job="4710") + "\n" + record(("a", "gpu:1(IDX:1)")),
         (gres_of("gpu", 1),)),
        # Nothing of this job or node, or something twice: a user wrote it into name or comment.
        *((text, None) for text in (
            "", "slurm_load_jobs error: Invalid job id specified\n", record(("a", ""), job="47110"),
            record(("a", ""), ("b", "gpu:1(IDX:0)")), record(),
            record(("a", ""), name="x\n   UserId=root(0) GroupId=root(0) MCS_label=N/A"),
            record(("a", "gpu:1(IDX:0)"), comment=f"x\n   JOB_GRES=\n{NODE}"),
            record(("a", "")) + "\n" + record(("a", "gpu:16(IDX:0-15)")))),
    ],
)  # fmt: skip
def test_the_answer_of_scontrol_is_read_or_refused(text, gres):
    """By the entry of this node alone, however nodes are written together; all of its resources."""
    if gres is None:
        with pytest.raises(UnreadError):
            parse_job(text, "4711", "n-st-09")
    else:
        assert JobRecord(1000, "physics", gres) == parse_job(text, "4711", "n-st-09")


@given(
    st.lists(st.sampled_from(["", "gpu:1(IDX:0)", "gpu:2(IDX:1-2)"]), min_size=1, max_size=4),
    st.sampled_from(["{}", "{}.cluster.local", "other-{}"]),
    st.sampled_from(["n-1", "n-1.cluster.local"]),
)
def test_a_node_is_found_by_either_form_of_its_host_name(gres, form, host):
    """Entries that are equal need no name; otherwise the full name counts, then its first label."""
    text = record(*((form.format(f"n-{place}"), given) for place, given in enumerate(gres, 1)))
    label = host.partition(".")[0]
    is_named = form.format("n-1") in (host, label)
    if is_named or len(set(gres)) == 1:
        assert parse_job(record(("x", gres[0])), "4711", "x") == parse_job(text, "4711", host)
    else:
        with pytest.raises(UnreadError, match=host) as error:
            parse_job(text, "4711", host)
        assert "Give the nodes of a job the same devices" in error.value.remedy


@pytest.fixture
def node(machine):
    """A node of 4 devices and 8 CPUs on which slurmd runs."""
    machine.file(f"{SCOPE}/system/x", "")
    for device in range(4):
        machine.file(f"dev/neuron{device}", "")
    machine.file("sys/devices/system/cpu/online", "0-7\n")
    machine.file("proc/sys/kernel/hostname", "trn1.example\n")
    return machine


def start(node, job, *, cpus="0-3", answer=None):
    """A job begins; *answer* is what scontrol will say of it."""
    node.file(f"{SCOPE}/job_{job}/cpuset.cpus", cpus)
    if answer is not None:
        node.file(f"answers/{job}", answer)


def install(node, script='cat "$root/answers/$4" 2>/dev/null'):
    """A scontrol that notes what it was asked."""
    node.file(COMMAND, f'#!/bin/sh\nroot={node.root}\necho "$@" >> "$root/asked"\n{script}\n')
    (node.root / COMMAND).chmod(0o755)


def given_to(node):
    """The allocations of a first reading."""
    return list(SlurmJobs(node.places).read_allocations())


def gave(job, *, cores=(), devices=(), exact=False, odd=0):
    """What a job of ada's has."""
    indexes = (frozenset(cores), frozenset(devices))
    return Allocation(f"slurm:{job} ada", "physics", *indexes, is_exact=exact, odd_ids=odd)


@pytest.mark.parametrize(
    ("jobs", "gres_conf", "allocations"),
    [
        ({}, "", []),
        ({"4711": ("0-3", "gpu:2(IDX:0-1)"), "4712": ("4-7", "gpu:2(IDX:2-3)")}, "",
         [gave("4711", devices=(0, 1)), gave("4712", devices=(2, 3))]),
        ({"4711": ("0-7", "gpu:1(IDX:2)")}, "", [gave("4711", devices=(2,))]),
        ({"4711": ("0-7", "")}, "", [gave("4711", devices=range(4), exact=True)]),
        ({"4711": ("0-7", ""), "4712": ("0-7", "")}, "", []),  # any job may use any core
        ({"4711": ("0-3", "neuroncore:3(IDX:1-3)")}, "", [gave("4711", cores=(1, 2, 3))]),
        ({"4711": ("0-3", "neuroncore:2(IDX:1-2)")},
         "# Name=x File=/dev/neuron0\nNodeName=t Name=neuroncore File=/dev/neuron[0-3]\n",
         [gave("4711", devices=(1, 2))]),
        ({"9": ("0", "neuroncore(CNT:2)"), "10": ("1", "neuroncore(CNT:1)"),
          "11": ("2", "neuroncore:1(IDX:1)")}, "",
         [gave("9", cores=(0, 2)), gave("10", cores=(3,)), gave("11", cores=(1,))]),
        ({"4711": ("0-3", "gpu:2(IDX:3-4)")}, "", [gave("4711", devices=(3,), odd=1)]),
    ],
)  # fmt: skip
def test_each_job_has_what_it_was_given(node, jobs, gres_conf, allocations):
    """By GRES, else all to one job with every CPU; else it is read, and nobody has anything."""
    install(node)
    node.file("etc/slurm/gres.conf", gres_conf)
    for job, (cpus, gres) in jobs.items():
        start(node, job, cpus=cpus, answer=record(("trn1", gres), job=job))
    assert sorted(allocations) == sorted(given_to(node))


NUMBERS = st.integers(0, 9)
GRES = st.builds(
    Gres, st.sampled_from(["gpu", "neuron", "neuroncore", "x"]), st.frozensets(NUMBERS), NUMBERS
)


@given(st.lists(st.lists(GRES, max_size=3), max_size=4))
def test_no_two_jobs_share_and_none_has_more_than_the_machine(tmp_path_factory, jobs):
    """For any answer of slurmctld."""
    root = tmp_path_factory.mktemp("node", numbered=True)
    (root / SCOPE / "system").mkdir(parents=True)
    (root / "dev").mkdir()
    for device in range(4):
        (root / f"dev/neuron{device}").touch()
    records = {str(job): JobRecord(0, None, gres) for job, gres in enumerate(jobs, start=1)}
    for job in records:
        (root / SCOPE / f"job_{job}").mkdir()
    places = SimpleNamespace(root=root, ecs_agent_url="", ecs_metadata_url="")
    with patch.object(slurm, "show_job", lambda job, _: records[job]):
        allocations = SlurmJobs(places).read_allocations()
    for kind, most in (("devices", range(4)), ("cores", range(slurm.MAX_CORES))):
        ids = [index for allocation in allocations for index in getattr(allocation, kind)]
        assert len(set(ids)) == len(ids)
        assert set(most) >= set(ids)


def test_slurmctld_is_asked_once_for_a_new_job_and_not_often(node):
    """At once at the start; then within a minute, ten minutes apart; an answer stays."""
    install(node)
    now = SimpleNamespace(s=0.0)
    jobs = SlurmJobs(node.places, clock=lambda: now.s, jitter=lambda: 0.5)

    def names_at(second):
        now.s = second
        try:
            return [allocation.name for allocation in jobs.read_allocations()]
        except UnreadError:
            return None

    def begin(job, device):
        start(node, job, answer=record(("trn1", f"gpu:1(IDX:{device})"), job=job))

    begin("1", 0)
    assert ["slurm:1 ada"] == names_at(0)
    begin("2", 1)
    assert [None, None] == [names_at(1), names_at(ASKED_EVERY_S - 1)]
    assert ["slurm:1 ada", "slurm:2 ada"] == names_at(ASKED_EVERY_S)
    (node.root / SCOPE / "job_1/cpuset.cpus").unlink()
    (node.root / SCOPE / "job_1").rmdir()
    assert ["slurm:2 ada"] == names_at(3 * ASKED_EVERY_S)
    begin("3", 2)
    assert [None, None] == [names_at(5 * ASKED_EVERY_S + offset) for offset in (0, 29)]
    assert ["slurm:2 ada", "slurm:3 ada"] == names_at(5 * ASKED_EVERY_S + SPREAD_S / 2)
    start(node, "4")  # which it will not show
    assert [None, None, None] == [names_at(7 * ASKED_EVERY_S + s) for s in (0, 30, 600)]
    asked = ["1", "2", "3", "4"]
    assert [f"show job -d {job}" for job in asked] == (node.root / "asked").read_text().splitlines()


def _hang(monkeypatch, node):
    monkeypatch.setattr(slurm, "WITHIN_S", 0.05)
    install(node, "exec sleep 60")


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", "ping"),
        ("slurm_load_jobs error: Invalid job id specified", "PrivateData"),
        ("slurm_load_jobs error: Access/permission denied", "PrivateData"),
        ("scontrol: error: Munge encode failed: Failed to access the socket", "munge"),
        ("scontrol: fatal: Could not establish a configuration source", "SLURM_CONF"),
        ("scontrol: error while loading shared libraries", "as the emitter's user"),
    ],
)
def test_a_command_that_fails_has_its_own_words_and_the_remedy_for_them(node, words, remedy):
    """More rights are advised only for jobs that slurmctld may hide."""
    install(node, f"printf '{words}\\a\\nmore\\n' >&2; exit 3")
    start(node, "4711")
    with pytest.raises(UnreadError) as error:
        given_to(node)
    assert f"it failed with exit code 3: {words}?" == str(error.value)
    assert remedy in error.value.remedy
    assert ("operator" in error.value.remedy) == ("PrivateData" in remedy)


@pytest.mark.parametrize(
    ("break_it", "remedy"),
    [
        (lambda _, node: (node.root / COMMAND).chmod(0o777), "link it"),
        (lambda _, node: (node.root / COMMAND).chmod(0o644), "not in a container"),
        (lambda _, node: install(node, "yes | head -c 3000000"), "PrivateData"),
        (_hang, "scontrol ping"),
        (lambda _, node: node.file(f"{SCOPE}/{SLUID}/x", ""), "CgroupJobIdPaths"),
    ],
)
def test_an_unread_job_has_a_remedy(node, monkeypatch, break_it, remedy):
    """Neither a hanging nor a lying command takes more than its time; nothing is guessed."""
    install(node)
    start(node, "4711", answer=record(("trn1", "gpu:1(IDX:0)")))
    break_it(monkeypatch, node)
    with pytest.raises(UnreadError) as error:
        given_to(node)
    assert remedy in error.value.remedy


def test_a_job_with_every_cpu_has_all_devices_without_an_answer(node):
    """Its name is that of its processes; without one its user is unknown."""
    start(node, "4711", cpus="0-7")
    no_process = Allocation("slurm:4711 ?", None, devices=frozenset(range(4)), is_exact=True)
    assert [no_process] == given_to(node)
    node.process(43, groups=SLURM_V2, user_id=0)
    node.process(42, groups=SLURM_V2, variables=["SLURM_JOB_ACCOUNT=physics"])
    node.file(f"{SCOPE}/job_4711/step_0/slurm/cgroup.procs", "43\n")
    node.file(f"{SCOPE}/job_4711/step_0/user/task_0/cgroup.procs", "0\n9\n42\n")
    assert [gave("4711", devices=range(4), exact=True)] == given_to(node)


def test_a_saved_machine_runs_no_command(node):
    """A program in a folder from elsewhere is not started."""
    install(node)
    start(node, "4711", answer=record(("trn1", "gpu:1(IDX:0)")))
    with pytest.raises(UnreadError, match="saved"):
        SlurmJobs(replace(node.places, is_saved=True)).read_allocations()
    assert not (node.root / "asked").exists()


@pytest.mark.parametrize(
    ("sign", "here", "reads"),
    [
        ("etc/slurm/slurm.conf", False, False), ("run/slurmd.pid", True, False),
        ("sys/fs/cgroup/system.slice/slurmd.service/x", True, False),
        (f"{SCOPE}/system/x", True, True),
        ("sys/fs/cgroup/cpuset/slurm/uid_1000/x", True, True),
    ],
)  # fmt: skip
def test_slurm_is_here_where_slurmd_runs(machine, sign, here, reads):
    """Without groups of its own it is not known which jobs are here."""
    machine.file(sign, "")
    assert here == is_here(machine.places)
    if reads:
        assert [] == given_to(machine)
    else:
        with pytest.raises(UnreadError, match="control groups"):
            given_to(machine)
