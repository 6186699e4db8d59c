"""The name of an ECS task: who is asked, and what is believed."""

from __future__ import annotations

import played_machines as machines
import pytest
from played_machines import CONTAINER, METADATA_ID, OTHER_CONTAINER, name_of, owner_of, told

from emitter.owners.naming import Naming, ProcessOwner
from emitter.owners.process import open_process

SHORT = f"container:{CONTAINER[:12]}"
METADATA_URI = f"ECS_CONTAINER_METADATA_URI_V4=http://169.254.170.2/v4/{METADATA_ID}"
TASK = {
    "Arn": "arn:aws:ecs:us-east-1:123456789012:task/blue/" + machines.TASK,
    "Family": "llama",
    "Version": "7",
    "Containers": [
        {"DockerId": OTHER_CONTAINER, "DockerName": "ecs-llama-7-proxy-9", "Name": "proxy"},
        {"DockerId": CONTAINER, "DockerName": "ecs-llama-7-server-8", "Name": "server"},
    ],
}


@pytest.mark.parametrize("form", ["ECS_V1", "ECS_V2", "DOCKER_V1", "DOCKER_V2"])
def test_the_ecs_agent_knows_its_containers(played, play, form):
    """By the id that Docker gave them, whether or not the task has a group of its own."""
    agent = play({f"/v1/tasks?dockerid={CONTAINER}": TASK})
    played.urls["ecs_agent_url"] = agent.url
    played.process(groups=getattr(machines, form))
    assert ProcessOwner("ecs:llama/server") == told(played)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({**TASK, "ServiceName": "search"}, "ecs:search/llama/server"),
        (TASK, "ecs:llama/server"),
        ({**TASK, "ServiceName": "a/b"}, "ecs:llama/server"),
        ({**TASK, "ServiceName": "search", "Containers": []}, "ecs:agents/server"),
        ({**TASK, "ServiceName": "search", "Containers": [TASK["Containers"][0]]},
         "ecs:agents/server"),
        ({**TASK, "Family": "a\nb"}, "ecs:agents/server"),
        (500, "ecs:agents/server"),
    ],
)  # fmt: skip
def test_the_task_says_its_service(played, play, answer, expected):
    """
    Its metadata count when they name the very container that the kernel says; else the agent does.
    """
    played.urls["ecs_agent_url"] = play(
        {f"/v1/tasks?dockerid={CONTAINER}": {**TASK, "Family": "agents"}}
    ).url
    metadata = play({f"/v4/{METADATA_ID}/task": answer})
    played.urls["ecs_metadata_url"] = metadata.url
    played.process(groups=machines.ECS_V2, variables=["A=b", METADATA_URI])
    owner = owner_of(played)
    assert expected == owner.name
    assert owner.is_final == ("agents" not in expected)
    paths = [f"/v4/{METADATA_ID}/task"]
    if owner.is_final:
        paths.append(f"/v4/{METADATA_ID}/taskWithTags")
    assert paths == metadata.paths()


@pytest.mark.parametrize(
    ("answer", "team"),
    [
        ({"TaskTags": {"Name": "x", "Team": "search"}}, "search"), ({"TaskTags": {}}, None),
        ({"TaskTags": {"team": "a\nb" + "x" * 70}}, "a?b" + "x" * 60), ({}, None),
        ({"TaskTags": ["team"]}, None), (500, None), (404, None),
    ],
)  # fmt: skip
def test_the_tag_of_a_task_is_its_team(played, play, answer, team):
    """Without it, and where the agent may not ask for tags, the task has its name all the same."""
    routes = {f"/v4/{METADATA_ID}/task": TASK, f"/v4/{METADATA_ID}/taskWithTags": answer}
    played.urls["ecs_metadata_url"] = play(routes).url
    played.process(groups=machines.ECS_V2, variables=["A=b", METADATA_URI])
    owner = owner_of(played)
    assert ("ecs:llama/server", team) == (owner.name, owner.team)


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/v4/" + METADATA_ID,
        "http://169.254.170.2.evil.example/v4/" + METADATA_ID,
        "http://169.254.170.2@evil.example/v4/" + METADATA_ID,
        "http://169.254.170.2:8080/v4/" + METADATA_ID, "https://169.254.170.2/v4/" + METADATA_ID,
        "http://169.254.170.2/v4/../v2/credentials/" + METADATA_ID,
        "http://169.254.170.2/v4/" + METADATA_ID + "/..",
        "http://169.254.170.2/v4/" + METADATA_ID + "?x=y",
        "http://169.254.170.2/v4/" + METADATA_ID + "\r\nX: y",
        "http://169.254.170.2/v4/" + METADATA_ID + "\n", "http://169.254.170.2/v4/short",
        "http://169.254.170.2/v4/" + "a" * 81, " http://169.254.170.2/v4/" + METADATA_ID, "",
    ],
)  # fmt: skip
def test_no_other_address_of_an_environment_is_asked(played, play, address):
    """Whoever writes an environment would choose where we send requests from this host."""
    metadata = play({f"/v4/{METADATA_ID}/task": {**TASK, "ServiceName": "search"}})
    played.urls["ecs_metadata_url"] = metadata.url
    played.process(groups=machines.ECS_V2, variables=[f"ECS_CONTAINER_METADATA_URI_V4={address}"])
    assert SHORT == name_of(played)
    assert [] == metadata.asked


def test_the_labels_of_a_task_are_read_while_the_agent_starts(played):
    """The agent wrote family and container on it; with the agent back the name may get better."""
    labels = {
        "com.amazonaws.ecs.task-definition-family": "llama",
        "com.amazonaws.ecs.container-name": "server",
        "com.amazonaws.ecs.task-arn": "arn:aws:ecs:x",
    }
    played.process(groups=machines.ECS_V2, variables=[METADATA_URI])
    played.file(
        f"var/lib/docker/containers/{CONTAINER}/config.v2.json",
        {"Name": "/ecs-llama-7-server-8", "Config": {"Labels": labels}},
    )
    assert ProcessOwner("ecs:llama/server", is_final=False) == told(played)


@pytest.mark.parametrize("label", ["family", "container"])
def test_a_label_that_no_task_has_names_nobody(played, label):
    """Both are names that ECS takes, or neither counts."""
    labels = {
        "com.amazonaws.ecs.task-definition-family": "a/b" if label == "family" else "llama",
        "com.amazonaws.ecs.container-name": "a/b" if label == "container" else "server",
    }
    played.process(groups=machines.ECS_V2)
    played.file(
        f"var/lib/docker/containers/{CONTAINER}/config.v2.json", {"Config": {"Labels": labels}}
    )
    assert SHORT == name_of(played)


@pytest.mark.parametrize(
    "answer",
    [
        *(404, {}, [], {**TASK, "Family": ""}, "x" * 70_000),
        {**TASK, "Containers": [{"DockerId": CONTAINER[:12]}]},
    ],
)
def test_an_agent_that_does_not_know_a_container_costs_nothing(played, play, answer):
    """A container that somebody started by hand on an ECS instance keeps its own name."""
    played.urls["ecs_agent_url"] = play({f"/v1/tasks?dockerid={CONTAINER}": answer}).url
    played.process(groups=machines.DOCKER_V2)
    played.file(f"var/lib/docker/containers/{CONTAINER}/config.v2.json", {"Name": "/by-hand"})
    assert "container:by-hand" == name_of(played)


def test_an_agent_that_is_starting_is_asked_again(played, play):
    """A task without a group of its own would keep the name of a plain container for ever."""
    for status, is_final in ((404, True), (500, False), (503, False)):
        path = f"/v1/tasks?dockerid={CONTAINER}"
        played.urls["ecs_agent_url"] = play({path: status}).url
        played.process(groups=machines.DOCKER_V2)
        assert ProcessOwner(SHORT, is_final=is_final) == told(played)


def test_an_agent_that_does_not_answer_is_left_alone_for_a_while(played, play, asked_at):
    """One try for all processes of a minute, and another after it."""
    agent = play({f"/v1/tasks?dockerid={CONTAINER}": lambda request: request.wfile.write(b"?")})
    played.urls["ecs_agent_url"] = agent.url
    played.process(groups=machines.ECS_V2)
    naming = Naming(played.places)
    for _ in range(3):
        with open_process(played.proc, 42) as process:
            assert ProcessOwner(SHORT, is_final=False) == naming.name_owner(process, "x")
    assert 1 == len(agent.asked)
    asked_at(0.0)
    naming = Naming(played.places)
    for _ in range(3):
        with open_process(played.proc, 42) as process:
            naming.name_owner(process, "x")
    assert 4 == len(agent.asked)


def test_an_environment_that_may_not_be_read_costs_what_is_in_it(played, play, monkeypatch):
    """The service is unknown, the rest is not; and somebody is told."""
    played.urls["ecs_agent_url"] = play({f"/v1/tasks?dockerid={CONTAINER}": TASK}).url
    played.process(groups=machines.ECS_V2, variables=[METADATA_URI])
    naming = Naming(played.places)
    assert not naming.was_denied
    with open_process(played.proc, 42) as process:
        monkeypatch.setattr(process, "variables", refused)
        assert ProcessOwner("ecs:llama/server") == naming.name_owner(process, "x")
    assert naming.was_denied


def refused(*_names):
    """As the kernel refuses."""
    raise PermissionError
