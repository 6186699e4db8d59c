"""The name of a pod: what the kubelet and the runtimes leave on the node."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import played_machines as machines
import pytest
from played_machines import CONTAINER, OTHER_CONTAINER, POD, name_of, told

from emitter.owners import membership
from emitter.owners.naming import ProcessOwner

POD_LOGS = f"var/log/pods/search_llama-0_{POD}"
CONTAINER_LOG = f"var/log/containers/llama-0_search_server-{CONTAINER}.log"
CONTAINERD_BUNDLE = f"run/containerd/io.containerd.runtime.v2.task/k8s.io/{CONTAINER}/config.json"
CRI_O_BUNDLE = f"run/containers/storage/overlay-containers/{CONTAINER}/userdata/config.json"
CONTAINERD_KEYS = (
    "io.kubernetes.cri.sandbox-namespace",
    "io.kubernetes.cri.sandbox-name",
    "io.kubernetes.cri.container-name",
)
CRI_O_KEYS = (
    "io.kubernetes.pod.namespace",
    "io.kubernetes.pod.name",
    "io.kubernetes.container.name",
)


@pytest.mark.parametrize(
    "form",
    ["EKS_SYSTEMD_V2", "EKS_GUARANTEED_V2", "EKS_CGROUPFS_V1", "EKS_MIXED_V1",
     "EKS_SEEN_FROM_A_POD", "EKS_SEEN_FROM_THE_SAME_POD", "CRI_O"],
)  # fmt: skip
def test_the_kubelets_log_links_name_the_container(played, form):
    """In every form of group, also for a reader in a pod of its own."""
    played.process(groups=getattr(machines, form))
    played.file(f"var/log/containers/other-0_search_server-{OTHER_CONTAINER}.log", "")
    played.file(CONTAINER_LOG, "")
    assert ProcessOwner("search/llama-0/server") == told(played)


def test_the_kubelets_log_folders_name_the_pod(played):
    """The container too when the pod has only one; else the name may still get better."""
    played.process(groups=machines.EKS_SYSTEMD_V2)
    played.file(f"{POD_LOGS}/server/0.log", "")
    assert ProcessOwner("search/llama-0/server") == told(played)
    played.file(f"{POD_LOGS}/proxy/0.log", "")
    assert ProcessOwner("search/llama-0", is_final=False) == told(played)


@pytest.mark.parametrize("file", [CONTAINERD_BUNDLE, CRI_O_BUNDLE])
@pytest.mark.parametrize("keys", [CONTAINERD_KEYS, CRI_O_KEYS], ids=["containerd", "cri-o"])
def test_the_bundle_of_a_container_names_it(played, file, keys):
    """What containerd and CRI-O wrote for runc, where nobody may list the logs."""
    played.process(groups=machines.EKS_SYSTEMD_V2)
    names = dict(zip(keys, ("search", "llama-0", "server"), strict=True))
    played.file(file, {"process": {"env": ["KEY=secret"]}, "annotations": names})
    assert ProcessOwner("search/llama-0/server") == told(played)


def test_docker_below_kubernetes_has_labels(played):
    """The kubelet labels the containers that it starts by Docker."""
    played.process(groups=machines.EKS_CGROUPFS_V1)
    labels = {
        "io.kubernetes.pod.namespace": "search",
        "io.kubernetes.pod.name": "llama-0",
        "io.kubernetes.container.name": "server",
    }
    played.file(
        f"var/lib/docker/containers/{CONTAINER}/config.v2.json",
        {"Name": "/k8s_server_llama-0_search", "Config": {"Labels": labels}},
    )
    assert "search/llama-0/server" == name_of(played)


@pytest.mark.parametrize(
    "file",
    [
        f"var/log/containers/llama-0_search_server-{CONTAINER}",
        f"var/log/containers/llama-0_sea_rch_server-{CONTAINER}.log",
        f"var/log/containers/llama-0_search_\x1b[2J-{CONTAINER}.log",
        f"var/log/containers/\n_search_server-{CONTAINER}.log",
        f"var/log/pods/search_llama_0_{POD}/server/0.log",
        f"var/log/pods/_llama-0_{POD}/server/0.log",
        f"var/log/pods/search_Llama_{POD}/server/0.log",
    ],
)
def test_a_log_that_no_kubelet_would_write_is_left_out(played, file):
    """Names are those that Kubernetes allows, or none."""
    played.process(groups=machines.EKS_SYSTEMD_V2)
    played.file(file, "")
    assert ProcessOwner(f"pod:{POD}", is_final=False) == told(played)


@pytest.mark.parametrize("broken", ["{", "[" * 100_000])
def test_a_bundle_that_cannot_be_read_hides_no_other(played, broken):
    """One file of the two runtimes, left behind or half written."""
    played.process(groups=machines.EKS_SYSTEMD_V2)
    names = dict(zip(CRI_O_KEYS, ("search", "llama-0", "server"), strict=True))
    played.file(CONTAINERD_BUNDLE, broken)
    played.file(CRI_O_BUNDLE, {"annotations": names})
    assert "search/llama-0/server" == name_of(played)


@pytest.mark.parametrize("names", [("search", "../evil", "x"), ("a b", "llama-0", "x")])
def test_an_annotation_that_kubernetes_would_not_write_is_left_out(played, names):
    """Namespace and pod are names, or neither counts."""
    played.process(groups=machines.EKS_SYSTEMD_V2)
    played.file(CRI_O_BUNDLE, {"annotations": dict(zip(CRI_O_KEYS, names, strict=True))})
    assert f"pod:{POD}" == name_of(played)


@pytest.mark.parametrize(("before", "is_found"), [(9_999, True), (10_000, False)])
def test_a_folder_is_listed_within_bounds(played, monkeypatch, before, is_found):
    """Who fills it with files delays nobody for ever."""
    names = [*(f"x{number}" for number in range(before)), CONTAINER_LOG.rpartition("/")[2]]
    entries = [SimpleNamespace(name=name) for name in names]
    monkeypatch.setattr(membership.os, "scandir", lambda _folder: nullcontext(iter(entries)))
    played.process(groups=machines.EKS_SYSTEMD_V2)
    assert is_found == (name_of(played) == "search/llama-0/server")
