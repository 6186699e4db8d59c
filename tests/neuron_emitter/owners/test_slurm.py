"""Slurm's assignments: from scontrol, or from jobs with every CPU."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.owners import scontrol, slurm
from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.scontrol import Gres, JobRecord, UnknownJobError, parse_job
from neuron_emitter.owners.slurm import ASKED_EVERY_S, JOB_SPREAD_S, SlurmJobs, is_here
from neuron_wire.names import MAX_CORES
from tests.neuron_emitter.owners.fake_machine import MACHINE_SLUID, SLURM_V2, FakeMachine

SCOPE = "sys/fs/cgroup/system.slice/slurmstepd.scope"
SCONTROL_PATH = "opt/slurm/bin/scontrol"
SLUID_JOB = f"sluid={MACHINE_SLUID}"

# The order of lines in Slurm 22.05.8 and 26.11.0; some lines are left out.
JOB_TEXT = """JobId={job} JobName={name}
{sluid}   UserId={user} GroupId=ada(1000) MCS_label=N/A
   Priority=4294901734 Nice=0 Account=physics QOS=(null)
   JobState={state} Reason=None Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   NodeList=trn1
   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   {tres}
   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*
   JOB_GRES=gpu:2
{nodes}   MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0
   Features=(null) DelayBoot=00:00:00
   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)
   Command=(null)
{submit}   WorkDir=/tmp
   Comment={comment}
   StdOut=/tmp/out
"""
NODE_DETAIL = "     Nodes={nodes} CPU_IDs=0-127 Mem=0 GRES={gres}\n"
OLD_FORM = {"sluid": "", "tres": "TRES=cpu=1,node=1,billing=1", "submit": ""}
NEW_FORM = {
    "sluid": f"   SLUID={MACHINE_SLUID}\n",
    "tres": "ReqTRES=cpu=1,node=1,billing=1\n   AllocTRES=cpu=1,node=1,billing=1",
    "submit": "   SubmitLine=sbatch -A physics --wrap sleep 300\n",
}
# Three lines as they are above a job's state.
FORGED_LINES = """x
   UserId=eve(1000) GroupId=eve(6) MCS_label=N/A
   Priority=1 Nice=0 Account=evil QOS=y
   JobState=RUNNING Reason=None Dependency=(null)"""


def record(*entries, version=OLD_FORM, **members):
    """Return scontrol's answer about a job with *entries*: nodes and their assignments."""
    lines = "".join(NODE_DETAIL.format(nodes=nodes, gres=gres) for nodes, gres in entries)
    usual = {"job": "4711", "name": "train", "comment": "", "state": "RUNNING"}
    return JOB_TEXT.format(**version, **{**usual, "user": "ada(1000)", **members}, nodes=lines)


class Slurmctld:
    """slurmctld as scontrol shows it; a job outside `jobs` has no answer."""

    def __init__(self):
        self.jobs = {}
        self.private = "none"
        self.asked = []

    def ask(self, _places, *words):
        """Return scontrol's output, or raise `UnknownAssignmentsError` for its exit code 1."""
        self.asked.append(" ".join(words))
        if words == ("show", "config"):
            return f"PluginDir               = /x\nPrivateData             = {self.private}\n"
        answer = self.jobs.get(words[-1])
        if answer is None:
            msg = "slurm_load_jobs error: Invalid job id specified"
            raise UnknownJobError(msg, "PrivateData")
        if isinstance(answer, Exception):
            raise answer
        lines = answer.splitlines(keepends=True)
        is_detail = [line.lstrip().startswith(("JOB_GRES=", "Nodes=")) for line in lines]
        details = "-d" in words
        return "".join(
            line for line, is_one in zip(lines, is_detail, strict=True) if details or not is_one
        )


@pytest.fixture
def slurmctld(monkeypatch):
    """Return a slurmctld without jobs, for an emitter whose user has neither jobs nor rights."""
    fake = Slurmctld()
    monkeypatch.setattr(scontrol, "_ask", fake.ask)
    monkeypatch.setattr(os, "geteuid", lambda: 991)
    return fake


def gres_of(name, *indexes, count=0):
    return Gres(name, frozenset(indexes), count or len(indexes))


@pytest.mark.parametrize("version", [OLD_FORM, NEW_FORM])
@pytest.mark.parametrize(
    ("entries", "members", "gres"),
    [
        ([("trn1", "gpu:trainium:4(IDX:3,5-7)")], {}, [gres_of("gpu", 3, 5, 6, 7)]),
        (
            [("trn1", "neuron:1(S:0)(IDX:0),nvme(CNT:2),gpu:a:3(IDX:N/A)")],
            {},
            [gres_of("neuron", 0), gres_of("nvme", count=2), gres_of("gpu", count=3)],
        ),
        ([("trn1", "")], {}, []),
        ([("trn1", "(null)")], {}, []),
        (
            [("t-[1-3]", "gpu:1(IDX:0)"), ("t-4,n-st-[1-2,09]", "gpu:1(IDX:5)")],
            {},
            [gres_of("gpu", 5)],
        ),
        ([("t1", ""), ("n-[st]-09", "gpu:1(IDX:0)"), ("n-st-[001-009]", "")], {}, []),
        ([("t1.local", ""), ("n-st-09.local", "gpu:1(IDX:3)")], {}, [gres_of("gpu", 3)]),
        ([("a", "gpu:1(IDX:1)")], {"state": "TIMEOUT"}, None),
        # Line breaks in a user's text hide and change nothing.
        (
            [("a", "gpu:1(IDX:1)")],
            {"comment": f"x\n   JOB_GRES=\n{NODE_DETAIL}   MinCPUsNode=1"},
            [gres_of("gpu", 1)],
        ),
        (
            [("a", "gpu:1(IDX:1)")],
            {"comment": "x\n\nJobId=4711 JobName=y\n   JobState=FAILED"},
            [gres_of("gpu", 1)],
        ),
        (
            [("a", "gpu:1(IDX:1)")],
            {"name": "x\n   UserId=root(0) GroupId=root(0) MCS_label=N/A"},
            [gres_of("gpu", 1)],
        ),
        ([("a", "")], {"name": "x\nJobId=4711 y"}, []),
        # Lines that a user may have written, or of another job or node.
        *(
            ([("a", "")], members, "unknown")
            for members in (
                {"job": "47110"},
                {"name": FORGED_LINES},
                {"comment": FORGED_LINES},
                {"name": f"{FORGED_LINES}\nJobId=9 JobName=y"},
            )
        ),
        ([], {}, "unknown"),
        ([("a", ""), ("b", "gpu:1(IDX:0)")], {}, "unknown"),
    ],
)
def test_the_answer_of_scontrol_is_read_or_refused(version, entries, members, gres):
    """A job's record has each member from its place, and the resources of this node only."""
    text = record(*entries, version=version, **members)
    if gres == "unknown":
        with pytest.raises(UnknownAssignmentsError):
            parse_job(text, "4711", "n-st-09.local")
        return
    has_ended = gres is None
    expected = JobRecord(4711, 1000, "ada", "physics", has_ended, None if has_ended else (*gres,))
    assert expected == parse_job(text, "4711", "n-st-09.local")


def test_one_of_several_jobs_is_read_by_its_number_or_sluid():
    """The job is found by number or SLUID among several jobs in an answer."""
    first = record(("a", ""), job="7 ArrayJobId=7 ArrayTaskId=2", version=OLD_FORM)
    both = f"{first}\n{record(('a', 'gpu:1(IDX:1)'), job='4711 ArrayJobId=7', version=NEW_FORM)}"
    for job in ("4711", SLUID_JOB):
        assert 4711 == parse_job(both, job, "a").number
    with pytest.raises(UnknownAssignmentsError, match="sluid=s0"):
        parse_job(both, "sluid=s0", "a")
    for text in ("", "No jobs in the system\n"):
        with pytest.raises(UnknownAssignmentsError, match="does not show job 7, which"):
            parse_job(text, "7", "a")


def running_slurmd(machine, gres_conf="Name=gpu File=/dev/neuron[0-3]\n"):
    """Return *machine* as a node with 4 devices and 8 CPUs that runs slurmd."""
    machine.file(f"{SCOPE}/system/x", "")
    for device in range(4):
        machine.file(f"dev/neuron{device}", "")
    machine.file("sys/devices/system/cpu/online", "0-7\n")
    machine.file("proc/sys/kernel/hostname", "trn1.example\n")
    machine.file("etc/slurm/gres.conf", gres_conf)
    return machine


@pytest.fixture
def node(machine):
    """Return a node that runs slurmd."""
    return running_slurmd(machine)


def start(node, job, *, cpus="0-3", pids="9\n"):
    """Create the control group of a job."""
    group = job if job.startswith("s") else f"job_{job}"
    node.file(f"{SCOPE}/{group}/cpuset.cpus", cpus)
    node.file(f"{SCOPE}/{group}/step_0/user/cgroup.procs", pids)


def end(node, job):
    """Remove the control group of a job."""
    shutil.rmtree(node.root / SCOPE / f"job_{job}")


def install(node, script="exit 0"):
    """Install a scontrol that runs *script*."""
    node.file(SCONTROL_PATH, f"#!/bin/sh\n{script}\n")
    (node.root / SCONTROL_PATH).chmod(0o755)


def assigned_to(node):
    """Return the allocations of a first read."""
    return list(SlurmJobs(node.places).read_allocations())


def allocation_of(job, *, cores=(), devices=(), exact=False, odd=0):
    """Return the allocation of a job of ada."""
    return Allocation(
        f"slurm:{job} ada",
        "physics",
        frozenset(cores),
        frozenset(devices),
        is_exact=exact,
        odd_ids=odd,
        job=job,
    )


DEVICE_BY_DEVICE = "".join(f"Name=neuroncore File=/dev/neuron{device}\n" for device in range(4))


@pytest.mark.parametrize(
    ("jobs", "gres_conf", "allocations"),
    [
        ({}, "", []),
        (
            {"4711": ("0-3", "gpu:2(IDX:0-1)"), "4712": ("4-7", "gpu:2(IDX:2-3)")},
            None,
            [allocation_of("4711", devices=(0, 1)), allocation_of("4712", devices=(2, 3))],
        ),
        ({"4711": ("0-7", "gpu:1(IDX:2)")}, None, [allocation_of("4711", devices=(2,))]),
        ({"4711": ("0-7", "")}, None, [allocation_of("4711", devices=range(4), exact=True)]),
        (
            {"4711": ("0-7", ""), "4712": ("0-7", "")},
            "",
            [allocation_of("4711"), allocation_of("4712")],
        ),
        ({"4711": ("0-3", "gpu:2(IDX:3-4)")}, None, [allocation_of("4711", devices=(3,), odd=1)]),
        (
            {"9": ("0", "neuroncore(CNT:2)"), "10": ("1", "neuroncore(CNT:1)")},
            None,
            [allocation_of("9", cores=(0, 1)), allocation_of("10", cores=(2,))],
        ),
        # Without a certain order of files, only the number counts.
        (
            {"4711": ("0-3", "neuroncore:3(IDX:1-3)")},
            None,
            [allocation_of("4711", cores=(0, 1, 2))],
        ),
        ({"4711": ("0-3", "gpu:2(IDX:2-3)")}, "", [allocation_of("4711", devices=(0, 1))]),
        (
            {"4711": ("0-3", "neuroncore:2(IDX:1-2)")},
            DEVICE_BY_DEVICE,
            [allocation_of("4711", devices=(1, 2))],
        ),
        # A device that gres.conf lists twice has an entry for each of its cores.
        (
            {"4711": ("0-3", "neuroncore:2(IDX:1,4)")},
            DEVICE_BY_DEVICE * 2,
            [allocation_of("4711", cores=(1, 2))],
        ),
    ],
)
def test_each_job_has_its_assignment(node, slurmctld, jobs, gres_conf, allocations):
    """
    A job has its GRES; a job with every CPU and no GRES has all devices.

    Otherwise it has none, and reservations are known.
    """
    if gres_conf is not None:
        node.file("etc/slurm/gres.conf", gres_conf)
    for job, (cpus, gres) in jobs.items():
        start(node, job, cpus=cpus)
        slurmctld.jobs[job] = record(("trn1", gres), job=job)
    assert sorted(allocations) == sorted(assigned_to(node))


GRES_NUMBERS = st.integers(0, 9)
ANY_GRES = st.builds(
    Gres,
    st.sampled_from(["gpu", "neuron", "neuroncore", "x"]),
    st.frozensets(GRES_NUMBERS),
    GRES_NUMBERS,
)


@given(
    st.lists(st.lists(ANY_GRES, max_size=3), max_size=4), st.sampled_from(["", DEVICE_BY_DEVICE])
)
def test_no_two_jobs_share_and_none_has_more_than_the_machine(tmp_path_factory, jobs, gres_conf):
    """For any answers, no two jobs share a device or core, and all exist on the machine."""
    node = running_slurmd(FakeMachine(tmp_path_factory.mktemp("node"), ""), gres_conf)
    records = {str(job): JobRecord(job, 7, gres=gres) for job, gres in enumerate(jobs, start=1)}
    for job in records:
        start(node, job)
    with patch.object(slurm, "show_job", lambda job, _, **_options: records[job]):
        allocations = assigned_to(node)
    for kind, most in (("devices", range(4)), ("cores", range(MAX_CORES))):
        ids = [index for allocation in allocations for index in getattr(allocation, kind)]
        assert len(set(ids)) == len(ids)
        assert set(most) >= set(ids)


class Minutes:
    """Reads of a node at chosen seconds."""

    def __init__(self, node):
        self.now_s = 0.0
        self._jobs = SlurmJobs(node.places, clock=lambda: self.now_s, jitter=lambda: 0.5)

    def read_at(self, second):
        """Return the known allocations by job, and the reason for unknown ones."""
        self.now_s = second
        try:
            known = self._jobs.read_allocations()
            reason = ""
        except UnknownAssignmentsError as error:
            known = error.known
            reason = str(error)
        return {allocation.job: allocation for allocation in known}, reason


def test_slurmctld_is_asked_for_devices_once_per_job(node, slurmctld):
    """
    The emitter asks slurmctld for a new job's devices once, within a minute.

    Later it asks for the job's state only, at most every ten minutes.
    """
    minutes = Minutes(node)
    start(node, "1")
    slurmctld.jobs.update({job: record(("trn1", ""), job=job) for job in "123"})
    minutes.read_at(0)
    start(node, "2")
    for second in (1, ASKED_EVERY_S - 1):
        known, reason = minutes.read_at(second)
        assert ["1"] == list(known)
        assert "has not run since" in reason
    assert {"1", "2"} == set(minutes.read_at(ASKED_EVERY_S)[0])
    for second in (1.05, 2.04, 2.05):
        minutes.read_at(second * ASKED_EVERY_S)
    start(node, "3")
    for second in (0, JOB_SPREAD_S / 2 - 1, JOB_SPREAD_S / 2):
        minutes.read_at(2.2 * ASKED_EVERY_S + second)
    asked = ["-d 1", *("1", "-d 2"), *("1", "2"), *("-d 3", "1", "2")]
    assert [f"show job {job}" for job in asked] == slurmctld.asked


JOB_ANSWERS = st.sampled_from(
    [
        None,
        UnknownAssignmentsError("it failed", "Repair it"),
        "No jobs in the system\n",
        record(("a", ""), job="5", comment=FORGED_LINES),
        record(("a", ""), job="5", state="FAILED"),
        record(("a", ""), ("b", "gpu:1(IDX:3)"), job="5"),
        record(("a", "gpu:1(IDX:3)"), job="5"),
    ]
)


@settings(max_examples=15)
@given(st.lists(JOB_ANSWERS, min_size=27, max_size=27), st.sampled_from("19"), st.booleans())
def test_a_job_does_not_depend_on_answers_about_others(
    tmp_path_factory, answers, first, has_process
):
    """
    A job's assignment does not depend on answers about other jobs.

    Each of 27 minutes has a new job of 55 s and any answer about a dead job.
    """
    machine = FakeMachine(tmp_path_factory.mktemp("host"), "")
    node = running_slurmd(machine, "Name=gpu File=/dev/neuron[3,0-2]\n")
    slurmctld = Slurmctld()
    old = {first: (0, 3), "4": (1,)}
    for job, devices in old.items():
        start(node, job)
        indexes = ",".join(str([3, 0, 1, 2].index(device)) for device in devices)
        slurmctld.jobs[job] = record(("a", f"gpu:{len(devices)}(IDX:{indexes})"), job=job)
    start(node, "5", pids="9" if has_process else "")
    minutes = Minutes(node)
    with patch.object(scontrol, "_ask", slurmctld.ask):
        for minute, answer in enumerate(answers):
            start(node, f"1{minute:02}")
            slurmctld.jobs["5"] = answer
            for second in (0, 30):
                known, reason = minutes.read_at(60 * minute + second)
                assert reason or f"1{minute:02}" in known, (
                    "the new job is neither unknown nor known"
                )
                for job, devices in old.items():
                    assert allocation_of(job, devices=devices) == known[job]._replace(
                        team="physics"
                    )
            end(node, f"1{minute:02}")
    assert len(slurmctld.asked) <= 3 * (4 + 1), (
        "3 calls for each of 4 jobs and for the configuration"
    )


@pytest.mark.parametrize(
    ("answer", "private", "other_user", "pids", "expected"),
    [
        (None, "none", "", "9", (True, "")),
        (None, "cloud,jobs", "bob(1001)", "9", (True, "")),
        (None, "cloud,jobs", "neuron-emf(991)", "9", (False, "Invalid job id")),
        (None, "cloud,jobs", "", "9", (False, "Invalid job id")),
        (None, "cloud,jobs", "", "", (False, "")),
        (record(job="7", state="NODE_FAIL"), "jobs", "", "9", (True, "")),
        (record(job="7", state="PENDING"), "jobs", "", "9", (True, "")),
        ("", "none", "", "9", (False, "does not show job 7")),
        (record(("a", ""), job="7", state="COMPLETING"), "none", "", "9", (False, "")),
    ],
)
def test_a_job_has_ended_only_if_slurmctld_reports_it(
    node, slurmctld, *, answer, private, other_user, pids, expected
):
    """
    Only slurmctld can report that a job has ended. A job that slurmctld hides is unknown.

    A job without a process is ignored if slurmctld hides it.
    """
    has_ended, reason = expected
    slurmctld.private = private
    if answer is not None:
        slurmctld.jobs["7"] = answer
    start(node, "7", pids=pids)
    if other_user:
        start(node, "9")
        slurmctld.jobs["9"] = record(("a", "gpu:1(IDX:2)"), job="9", user=other_user)
    known, unknown_reason = Minutes(node).read_at(0)
    assert reason in unknown_reason
    assert bool(reason) == bool(unknown_reason)
    assert has_ended == (known["7"].has_ended if "7" in known else False)
    if other_user:
        assert {2} == known["9"].devices


def test_a_job_that_ended_is_noticed_and_may_run_again(node, slurmctld):
    """A failed call changes no known job. A requeued job gets its new devices."""
    minutes = Minutes(node)
    start(node, "7")
    answers = [
        record(("a", f"gpu:1(IDX:{index})"), job="7", state=state)
        for state, index in (("RUNNING", 1), ("FAILED", 1), ("RUNNING", 2), ("RUNNING", 2))
    ]
    answers.insert(1, UnknownAssignmentsError("it failed", "Repair it"))
    history = []
    for place, slurmctld.jobs["7"] in enumerate(answers):
        known, _ = minutes.read_at(1.1 * ASKED_EVERY_S * place)
        history.append((known["7"].has_ended, *known["7"].devices))
    assert [(False, 1), (False, 1), (True,), (False,), (False, 2)] == history


def test_a_job_is_known_by_its_sluid(node, slurmctld):
    """A job with a SLUID has number, user and account from slurmctld."""
    start(node, MACHINE_SLUID)
    slurmctld.jobs[MACHINE_SLUID] = record(
        ("a", "gpu:1(IDX:1)"), version=NEW_FORM, user="zoe(7777)"
    )
    (job_allocation,) = assigned_to(node)
    assert (
        allocation_of("4711", devices=(1,))._replace(name="slurm:4711 zoe", job=SLUID_JOB)
        == job_allocation
    )


def _hang(monkeypatch, node):
    monkeypatch.setattr(scontrol, "SCONTROL_TIMEOUT_S", 0.05)
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
def test_a_failed_command_has_its_words_and_a_remedy(node, monkeypatch, words, remedy):
    """A failed command has its words and a remedy. More rights are advised only for hidden jobs."""
    monkeypatch.setattr(os, "geteuid", lambda: 991)
    install(node, f"printf '{words}\\a\\nmore\\n' >&2; exit 3")
    start(node, "4711")
    with pytest.raises(UnknownAssignmentsError) as error:
        assigned_to(node)
    assert f"it failed with exit code 3: {words}?" == str(error.value)
    assert remedy in error.value.remedy
    assert ("operator" in error.value.remedy) == ("PrivateData" in remedy)


@pytest.mark.parametrize(
    ("break_it", "remedy"),
    [
        (lambda _, node: (node.root / SCONTROL_PATH).chmod(0o777), "link it"),
        (lambda _, node: (node.root / SCONTROL_PATH).chmod(0o644), "not in a container"),
        (lambda _, node: install(node, "yes | head -c 3000000"), "PrivateData"),
        (_hang, "scontrol ping"),
    ],
)
def test_an_unknown_job_has_a_remedy(node, monkeypatch, break_it, remedy):
    """A job is unknown with a remedy if scontrol hangs, writes too much or cannot run."""
    install(node)
    start(node, "4711")
    break_it(monkeypatch, node)
    with pytest.raises(UnknownAssignmentsError) as error:
        assigned_to(node)
    assert remedy in error.value.remedy


def test_a_job_with_every_cpu_has_all_devices_without_an_answer(node):
    """A job with every CPU has all devices. Its user comes from its processes, or it is `?`."""
    start(node, "4711", cpus="0-7")
    no_process = allocation_of("4711", devices=range(4), exact=True)._replace(
        name="slurm:4711 ?", team=None
    )
    assert [no_process] == assigned_to(node)
    node.process(43, groups=SLURM_V2, user_id=0)
    node.process(42, groups=SLURM_V2, variables=["SLURM_JOB_ACCOUNT=physics"])
    node.file(f"{SCOPE}/job_4711/step_0/slurm/cgroup.procs", "43\n")
    node.file(f"{SCOPE}/job_4711/step_0/user/task_0/cgroup.procs", "0\n9\n42\n")
    assert [allocation_of("4711", devices=range(4), exact=True)] == assigned_to(node)


def test_a_saved_machine_runs_no_command(node):
    """No program of a saved machine is started."""
    install(node, f"touch {node.root}/asked")
    start(node, "4711")
    with pytest.raises(UnknownAssignmentsError, match="saved"):
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
    """Slurm is present if slurmd runs. Without its control groups, its jobs are unknown."""
    machine.file(sign, "")
    assert here == is_here(machine.places)
    if reads:
        assert [] == assigned_to(machine)
    else:
        with pytest.raises(UnknownAssignmentsError, match="control groups"):
            assigned_to(machine)
