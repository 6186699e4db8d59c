"""Names of containers: pods from the node's files, ECS tasks from the agent."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from neuron_emitter.owners import places
from neuron_emitter.owners.naming import Naming
from neuron_emitter.owners.process import open_process
from tests.neuron_emitter.owners import fake_machine as machines
from tests.neuron_emitter.owners.fake_machine import (
    CONTAINER,
    METADATA_ID,
    OTHER_CONTAINER,
    POD_ID,
    SHORT_CONTAINER,
    name_of,
    named,
    owner_of,
)

DOCKER_FILE = f"var/lib/docker/containers/{CONTAINER}/config.v2.json"


def test_docker_names_a_container(machine):
    """A Docker container has the name in its file. The environment in the file is not decoded."""
    machine.process(groups=machines.DOCKER_V2)
    content = {"Name": "/llama_1", "Config": {"Env": ["KEY=secret"], "Labels": None}}
    machine.file(DOCKER_FILE, content)
    assert "container:llama_1" == name_of(machine)
    for broken in ("", "[]", '{"Name": 7}', '{"Name": "/\\u001b[2J"}', "[" * 100_000):
        machine.file(DOCKER_FILE, broken)
        assert SHORT_CONTAINER == name_of(machine)


# --- pods ---

LLAMA_LOGS = f"var/log/pods/search_llama-0_{POD_ID}"
CONTAINER_LOG = f"var/log/containers/llama-0_search_server-{CONTAINER}.log"
CONTAINERD_BUNDLE = f"run/containerd/io.containerd.runtime.v2.task/k8s.io/{CONTAINER}/config.json"
CRI_O_BUNDLE = f"run/containers/storage/overlay-containers/{CONTAINER}/userdata/config.json"
CONTAINERD_KEYS = (
    *("io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-name"),
    "io.kubernetes.cri.container-name",
)
CRI_O_KEYS = (
    *("io.kubernetes.pod.namespace", "io.kubernetes.pod.name"),
    "io.kubernetes.container.name",
)


def pod_keys(keys, *names):
    return dict(zip(keys, names or ("search", "llama-0", "server"), strict=True))


@pytest.mark.parametrize("form", ["EKS_SYSTEMD_V2", "EKS_SEEN_FROM_THE_SAME_POD"])
@pytest.mark.parametrize(
    ("file", "content"),
    [
        (CONTAINER_LOG, ""),
        (
            CONTAINERD_BUNDLE,
            {"process": {"env": ["KEY=secret"]}, "annotations": pod_keys(CONTAINERD_KEYS)},
        ),
        (CRI_O_BUNDLE, {"annotations": pod_keys(CRI_O_KEYS)}),
        (DOCKER_FILE, {"Name": "/k8s_server_x", "Config": {"Labels": pod_keys(CRI_O_KEYS)}}),
    ],
    ids=["log links", "containerd", "CRI-O", "Docker"],
)
def test_each_file_that_a_runtime_leaves_names_the_pod(machine, form, file, content):
    """Each runtime's file names the pod, also if the group shows only the container."""
    machine.process(groups=getattr(machines, form))
    machine.file(f"var/log/containers/other-0_search_server-{OTHER_CONTAINER}.log", "")
    machine.file(file, content)
    owner = owner_of(machine)
    assert "search/llama-0/server" == owner.name
    assert owner.is_final


def test_the_kubelets_log_folders_name_the_pod(machine):
    """
    The kubelet's log folders name the pod, and its container if it is the only one.

    Otherwise a later lookup may find the container.
    """
    machine.process(groups=machines.EKS_SYSTEMD_V2)
    machine.file(f"{LLAMA_LOGS}/server/0.log", "")
    owner = owner_of(machine)
    assert "search/llama-0/server" == owner.name
    assert owner.is_final
    machine.file(f"{LLAMA_LOGS}/proxy/0.log", "")
    owner = owner_of(machine)
    assert "search/llama-0" == owner.name
    assert not owner.is_final


@pytest.mark.parametrize(
    ("file", "content"),
    [
        *(
            (f"var/log/{path}", "")
            for path in (
                f"containers/llama-0_search_server-{CONTAINER}",
                f"containers/llama-0_sea_rch_server-{CONTAINER}.log",
                f"containers/llama-0_search_\x1b[2J-{CONTAINER}.log",
                f"pods/search_Llama_{POD_ID}/server/0.log",
            )
        ),
        (CRI_O_BUNDLE, {"annotations": pod_keys(CRI_O_KEYS, "search", "../evil", "x")}),
        (CONTAINERD_BUNDLE, "{"),
        (CONTAINERD_BUNDLE, "[" * 100_000),
    ],
)
def test_a_name_that_kubernetes_does_not_allow_is_dropped(machine, file, content):
    """A name that Kubernetes does not permit is dropped: the pod's ID is the name for now."""
    machine.process(groups=machines.EKS_SYSTEMD_V2)
    machine.file(file, content)
    owner = owner_of(machine)
    assert f"pod:{POD_ID}" == owner.name
    assert not owner.is_final
    machine.file(CONTAINER_LOG, "")
    assert "search/llama-0/server" == name_of(machine)


@pytest.mark.parametrize(("before", "is_found"), [(9_999, True), (10_000, False)])
def test_the_first_ten_thousand_entries_of_a_folder_give_names(
    machine, monkeypatch, before, is_found
):
    """Names are searched among the first 10,000 entries of a folder."""
    names = [*(f"x{number}" for number in range(before)), CONTAINER_LOG.rpartition("/")[2], "y"]
    entries = [SimpleNamespace(name=name) for name in names]
    machine.process(groups=machines.EKS_SYSTEMD_V2)
    with monkeypatch.context() as patch:
        patch.setattr("os.scandir", lambda _folder: nullcontext(iter(entries)))
        assert is_found == (name_of(machine) == "search/llama-0/server")


# --- ECS tasks ---

ECS_VARIABLE = f"ECS_CONTAINER_METADATA_URI_V4=http://169.254.170.2/v4/{METADATA_ID}"
AGENT_PATH = f"/v1/tasks?dockerid={CONTAINER}"
TASK_METADATA = {
    "Arn": "arn:aws:ecs:us-east-1:123456789012:task/blue/" + machines.TASK_ID,
    "Family": "llama",
    "Version": "7",
    "Containers": [
        {"DockerId": OTHER_CONTAINER, "DockerName": "ecs-llama-7-proxy-9", "Name": "proxy"},
        {"DockerId": CONTAINER, "DockerName": "ecs-llama-7-server-8", "Name": "server"},
    ],
}


def labels(family="llama", container="server"):
    """Return the ECS agent's labels for a container."""
    prefix = "com.amazonaws.ecs."
    return {
        f"{prefix}task-definition-family": family,
        f"{prefix}container-name": container,
        f"{prefix}task-arn": "arn:aws:ecs:x",
    }


@pytest.mark.parametrize(
    ("form", "answer", "expected"),
    [
        *(
            (form, TASK_METADATA, ("ecs:llama/server", True))
            for form in ("ECS_V1", "ECS_V2", "DOCKER_V2")
        ),
        *(
            ("DOCKER_V2", answer, (SHORT_CONTAINER, True))
            for answer in (
                404,
                {},
                [],
                {**TASK_METADATA, "Family": ""},
                {**TASK_METADATA, "Containers": [{"DockerId": CONTAINER[:12]}]},
            )
        ),
        # The agent is starting. Otherwise the task would keep a container's name.
        *(("DOCKER_V2", answer, (SHORT_CONTAINER, False)) for answer in (500, 503, "x" * 70_000)),
    ],
)
def test_the_ecs_agent_names_its_containers(machine, play, form, answer, expected):
    """The ECS agent names its tasks by Docker's ID. An unknown container keeps its own name."""
    machine.urls["ecs_agent_url"] = play({AGENT_PATH: answer}).url
    machine.process(groups=getattr(machines, form))
    assert expected == named(machine)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({**TASK_METADATA, "ServiceName": "search"}, "ecs:search/llama/server"),
        (TASK_METADATA, "ecs:llama/server"),
        (
            {
                **TASK_METADATA,
                "ServiceName": "search",
                "Containers": [TASK_METADATA["Containers"][0]],
            },
            "ecs:agents/server",
        ),
        ({**TASK_METADATA, "Family": "a\nb"}, "ecs:agents/server"),
    ],
)
def test_the_metadata_of_a_task_have_its_service(machine, play, answer, expected):
    """Task metadata adds the service if it has the container; otherwise the agent's name counts."""
    machine.urls["ecs_agent_url"] = play({AGENT_PATH: {**TASK_METADATA, "Family": "agents"}}).url
    metadata = play({f"/v4/{METADATA_ID}/task": answer})
    machine.urls["ecs_metadata_url"] = metadata.url
    machine.process(groups=machines.ECS_V2, variables=["A=b", ECS_VARIABLE])
    is_final = "agents" not in expected
    owner = owner_of(machine)
    assert expected == owner.name
    assert is_final == owner.is_final
    paths = ["task", "taskWithTags"] if is_final else ["task"]
    assert [f"/v4/{METADATA_ID}/{path}" for path in paths] == metadata.paths()


@pytest.mark.parametrize(
    ("answer", "team"),
    [
        ({"TaskTags": {"Name": "x", "Team": "search"}}, "search"),
        ({"TaskTags": {}}, None),
        ({"TaskTags": ["team"]}, None),
        (500, None),
    ],
)
def test_the_tag_of_a_task_is_its_team(machine, play, answer, team):
    """A task's tag is its team. A task without the tag still has its name."""
    routes = {f"/v4/{METADATA_ID}/task": TASK_METADATA, f"/v4/{METADATA_ID}/taskWithTags": answer}
    machine.urls["ecs_metadata_url"] = play(routes).url
    machine.process(groups=machines.ECS_V2, variables=["A=b", ECS_VARIABLE])
    owner = owner_of(machine)
    assert "ecs:llama/server" == owner.name
    assert team == owner.team


@pytest.mark.parametrize(
    "address",
    [
        f"http://169.254.169.254/v4/{METADATA_ID}",
        f"http://169.254.170.2@evil.example/v4/{METADATA_ID}",
        f"http://169.254.170.2:8080/v4/{METADATA_ID}",
        f"https://169.254.170.2/v4/{METADATA_ID}",
        f"http://169.254.170.2/v4/../v2/credentials/{METADATA_ID}",
        *(
            f"http://169.254.170.2/v4/{METADATA_ID}{end}"
            for end in ("/..", "?x=y", "\r\nX: y", "\n")
        ),
        f" http://169.254.170.2/v4/{METADATA_ID}",
        "",
    ],
)
def test_only_the_metadata_address_of_ecs_is_requested(machine, play, address):
    """Only the metadata address of ECS is requested: processes can set their environment."""
    metadata = play({f"/v4/{METADATA_ID}/task": {**TASK_METADATA, "ServiceName": "search"}})
    machine.urls["ecs_metadata_url"] = metadata.url
    machine.process(groups=machines.ECS_V2, variables=[f"ECS_CONTAINER_METADATA_URI_V4={address}"])
    assert SHORT_CONTAINER == name_of(machine)
    assert [] == metadata.asked


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (labels(), "ecs:llama/server"),
        (labels("a/b"), SHORT_CONTAINER),
        (labels(container="a/b"), SHORT_CONTAINER),
    ],
)
def test_the_labels_of_a_task_name_it_while_the_agent_starts(machine, label, expected):
    """A task's labels, if they are valid ECS names, name it while the ECS agent starts."""
    machine.process(groups=machines.ECS_V2, variables=[ECS_VARIABLE])
    machine.file(DOCKER_FILE, {"Config": {"Labels": label}})
    owner = owner_of(machine)
    assert expected == owner.name
    assert not owner.is_final


def test_an_agent_that_does_not_answer_is_asked_once(machine, play, monkeypatch):
    """An ECS agent without an answer is asked once for all processes of a minute."""
    agent = play({AGENT_PATH: lambda request: request.wfile.write(b"?")})
    machine.urls["ecs_agent_url"] = agent.url
    machine.process(groups=machines.ECS_V2)
    for rest_s, asked in ((places.REST_S, 1), (0.0, 4)):
        monkeypatch.setattr(places, "REST_S", rest_s)
        naming = Naming(machine.places)
        for _ in range(3):
            with open_process(machine.proc, 42) as process:
                assert SHORT_CONTAINER == naming.name_owner(process, "x").name
        assert asked == len(agent.asked)
