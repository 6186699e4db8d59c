"""
The kubelet's other sources: what a container hands over, checkpoints, and pods that have ended.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys

import pytest
from played_kubelet import CORE, DEVICE, EFA, PLUGIN, TRAINER, answers, listed, message
from played_machines import BARE, EKS_CGROUPFS_V1, EKS_SYSTEMD_V2, POD

from emitter.owners.given import Allocation, UnreadError
from emitter.owners.kubelet import FRESH_S, HandedOver, hand_over, is_here, verified
from emitter.owners.kubelet_checkpoint import CLAIMS_FILE, PLUGINS_FILE, KubeletCheckpoint
from emitter.owners.pod_resources import PodResources

OTHER_POD = "00000000-0000-0000-0000-000000000001"
LOGS = f"var/log/pods/ml_trainer-0_{POD}"
TRAINER_CORES = Allocation("ml/trainer-0/main", "ml", cores=frozenset({0, 1}))


def failure(source):
    with pytest.raises(UnreadError) as raised:
        source.read_allocations()
    return str(raised.value), raised.value.remedy


# --- pods that have ended ---


@pytest.mark.parametrize(
    ("processes", "logs", "expected"),
    [
        ([EKS_SYSTEMD_V2], [f"{LOGS}/main/0.log"], True),
        ([EKS_CGROUPFS_V1], [f"{LOGS}/main/0.log"], True),
        ([EKS_SYSTEMD_V2.replace(POD.replace("-", "_"), "other")], [f"{LOGS}/main/0.log"], False),
        # A user may name groups of his own as he likes.
        ([EKS_SYSTEMD_V2.replace("kubepods.slice", "user@1000.service/kubepods.slice", 1),
          EKS_CGROUPFS_V1.replace(POD, OTHER_POD)], [f"{LOGS}/main/0.log"], False),
        # It pulls its image: no container began.
        ([EKS_CGROUPFS_V1.replace(POD, OTHER_POD)], [f"{LOGS}/"], True),
        # Of two of the same name one waits.
        ([EKS_CGROUPFS_V1.replace(POD, OTHER_POD)],
         [f"{LOGS}/main/0.log", f"var/log/pods/ml_trainer-0_{OTHER_POD}/"], True),
        # Nothing says which id it has; control groups of pods cannot be seen.
        ([EKS_CGROUPFS_V1.replace(POD, OTHER_POD)], [], True),
        ([BARE], [f"{LOGS}/main/0.log"], True),
        ([], [f"{LOGS}/main/0.log"], True),
    ],
)  # fmt: skip
def test_a_pod_without_a_process_that_does_not_wait_to_start_has_ended(
    played, processes, logs, expected
):
    """Until Kubernetes 1.34 finished pods are listed, too; where nobody sees, none has ended."""
    for pid, groups in enumerate(processes, 42):
        played.process(pid, groups=groups)
    for file in logs:
        (played.root / file).parent.mkdir(parents=True, exist_ok=True)
        played.file(file, "") if file.endswith("log") else (played.root / file).mkdir()
    assert [TRAINER_CORES._replace(is_verified=expected)] == verified(
        [TRAINER_CORES], played.places
    )


def test_where_processes_are_hidden_no_pod_has_ended(played):
    """As with hidepid, where the processes of other users are not there."""
    played.process(42, groups=EKS_CGROUPFS_V1.replace(POD, OTHER_POD))
    played.file(f"{LOGS}/main/0.log", "")
    (played.proc / "1" / "cgroup").unlink()
    assert [TRAINER_CORES] == verified([TRAINER_CORES], played.places)


@pytest.mark.parametrize(
    ("file", "variables", "expected"),
    [
        (None, {}, False), ("var/lib/kubelet/x", {}, True), ("var/log/pods/x", {}, True),
        ("run/neuron-emf/x", {}, True), (None, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, True),
    ],
)  # fmt: skip
def test_a_kubelet_is_seen_by_its_folders_and_from_its_pods(
    played, monkeypatch, file, variables, expected
):
    """Also from a pod that has none of them: then what it gave is unread, not nothing."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if file:
        played.file(file, "")
    assert expected == is_here(played.places)


# --- handed over ---


def handed(node, now_s):
    return HandedOver(node.places, clock=lambda: now_s)


def test_what_one_container_is_told_another_reads(node, kubelet):
    """While it is fresh, by the time in the file; the same as the socket tells."""
    kubelet(answers(listed(TRAINER)))
    file = node.places.handed_over
    assert "cannot be read" in failure(handed(node, 0))[0]
    file.parent.mkdir(parents=True)
    hand_over(PodResources(node.places), file, 1000.0)
    assert [file] == list(file.parent.iterdir())
    for now_s in (1000 - FRESH_S, 1000 + FRESH_S):
        assert [TRAINER_CORES] == handed(node, now_s).read_allocations()
    for now_s in (999 - FRESH_S, 1001 + FRESH_S):
        reason, remedy = failure(handed(node, now_s))
        assert "more than 30 s ago" in reason
        assert "container `reservations`" in remedy


def test_why_there_is_no_answer_is_handed_over(node):
    """Reason and remedy are those of the socket, which the reader cannot see."""
    file = node.places.handed_over
    file.parent.mkdir(parents=True)
    hand_over(PodResources(node.places), file, 1000.0)
    assert failure(PodResources(node.places)) == failure(handed(node, 1000.0))


@pytest.mark.parametrize("content", ["", "{}", '{"at_s":1000,"allocations":[["a"],7]}', "[" * 9999])
def test_a_file_of_another_form_is_unread(node, content):
    """Whoever wrote it."""
    node.file("run/neuron-emf/reservations.json", content)
    assert "cannot be read" in failure(handed(node, 1000.0))[0]


def test_more_than_the_file_may_hold_is_a_reason(played):
    """Its volume is small, and a pod that fills it is evicted."""

    class Huge:
        name = "huge"

        def read_allocations(self):
            return [TRAINER_CORES] * 40_000

    file = played.places.handed_over
    file.parent.mkdir(parents=True)
    hand_over(Huge(), file, 1000.0)
    assert file.stat().st_size < 1000
    assert "larger than 1 MiB" in failure(handed(played, 1000.0))[0]


def test_the_container_ends_when_it_is_asked_to():
    """As the first process of its namespace, too, which signals end only where it says so."""
    script = (
        "import os, signal; from emitter.owners import __main__ as it; "
        "it.hand_over = lambda *_: os.kill(os.getpid(), signal.SIGTERM); it.main()"
    )
    command = ["unshare", "--pid", "--fork", sys.executable, "-c", script]
    ended = subprocess.run(
        command, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True, check=False
    )
    if "unshare" in ended.stderr:
        pytest.skip("this machine does not allow it")
    assert (0, "") == (ended.returncode, ended.stderr)


# --- checkpoints ---


def entry(resource, ids, *, uid=POD, container="main", files=()):
    """An entry of the device manager; *files* are those that the plugin gave."""
    given = [
        (3, message((1, f"/dev/neuron{n}"), (2, file), (3, "rw"))) for n, file in enumerate(files)
    ]
    variables = (1, message((1, "NEURON_RT_VISIBLE_CORES"), (2, "0-1")))
    response = base64.b64encode(message(variables, *given)).decode()
    return {
        "PodUID": uid, "ContainerName": container, "ResourceName": resource,
        "DeviceIDs": ids, "AllocResp": response,
    }  # fmt: skip


def claims(*names, uid=POD, member="Entries"):
    """The claims of one pod."""
    driver = {
        "Devices": [{"PoolName": "p", "DeviceName": one, "RequestNames": None} for one in names]
    }
    claim = {
        "ClaimName": "c",
        "Namespace": "ml",
        "PodUIDs": {uid: {}},
        "DriverState": {PLUGIN: driver},
    }
    return {"Data": json.dumps({"kind": "DRACheckpoint", member: [claim]}), "Checksum": 1}


def checkpoint(played, *entries, claimed=None):
    """The source on a machine with these files."""
    data = {"PodDeviceEntries": list(entries) or None, "RegisteredDevices": {CORE: ["0", "1"]}}
    played.file(PLUGINS_FILE, {"Data": data, "Checksum": 1})
    if claimed is not None:
        played.file(CLAIMS_FILE, claimed)
    return KubeletCheckpoint(played.places)


def to_trainer(*, cores=(), devices=(), name="ml/trainer-0/main", **others):
    return [Allocation(name, "ml", cores=frozenset(cores), devices=frozenset(devices), **others)]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], []),
        ([entry(EFA, ["rdma0"])], []),
        ([entry(CORE, {"-1": ["0"], "1": ["1"]})], to_trainer(cores=[0, 1])),
        ([entry(CORE, ["0", "1"])], to_trainer(cores=[0, 1])),  # before 1.20
        ([entry(CORE, ["2"], files=["/dev/neuron1"])], to_trainer(cores=[2])),
        ([entry(DEVICE, ["0", "1"], files=["/dev/neuron4", "/dev/neuron5"])],
         to_trainer(devices=[4, 5], is_exact=True)),
        ([entry(DEVICE, ["0"], files=["/dev/fuse", "/dev/neuron4", "/dev/neuron5"])],
         to_trainer(devices=[0])),
        ([entry(DEVICE, ["3"])], to_trainer(devices=[3])),
        ([entry(CORE, ["0"]), entry(CORE, ["1"], container="b")],
         to_trainer(cores=[0, 1], name="ml/trainer-0")),
        ([entry(CORE, ["0::1"])], to_trainer(odd_ids=1)),
        ([entry(CORE, ["0"], uid=OTHER_POD)], []),  # deleted, and not yet written again
    ],
)  # fmt: skip
def test_the_checkpoint_tells_of_pods_that_are_here(played, entries, expected):
    """The plugin's own answer decides which devices they are; cores it numbers from 0."""
    played.file(f"{LOGS}/main/0.log", "")
    assert expected == checkpoint(played, *entries).read_allocations()


@pytest.mark.parametrize("member", ["Entries", "ClaimInfoStateList"])
def test_claims_tell_of_devices(played, member):
    """Under either name that releases give the list."""
    played.file(f"{LOGS}/main/0.log", "")
    found = checkpoint(played, claimed=claims("neuron-device-3", "neurondevice4", member=member))
    assert to_trainer(devices=[3, 4], is_exact=True, name="ml/trainer-0") == (
        found.read_allocations()
    )


def test_a_pod_of_which_only_the_id_is_known_has_that_name(played):
    """As its processes are called."""
    (played.root / f"var/lib/kubelet/pods/{POD}").mkdir(parents=True)
    (found,) = checkpoint(played, entry(CORE, ["0"])).read_allocations()
    assert (f"pod:{POD}", None) == (found.name, found.team)


def test_a_checkpoint_that_does_not_tell_is_a_reason_and_a_remedy(played):
    """Not there, of another form, or without a folder that says which pods are still here."""
    source = KubeletCheckpoint(played.places)
    assert "there is no " in failure(source)[0]
    for content in ("", "{}", '{"Data": 7}', '{"Data": {"PodDeviceEntries": [{}]}}'):
        played.file(PLUGINS_FILE, content)
        assert "not the form" in failure(source)[0]
    checkpoint(played, entry(CORE, ["0"]))
    reason, remedy = failure(source)
    assert "no pod has a folder" in reason
    assert "Mount the node's folders" in remedy
