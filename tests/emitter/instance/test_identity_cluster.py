"""The cluster's name: the first source in order that has one, or a list of what was tried."""

from __future__ import annotations

import itertools

import pytest
from played_services import TAGS_PATH

from emitter.errors import EXIT_WRONG_USE, SettingsError
from emitter.instance import cluster as cluster_module
from emitter.instance import ecs_cluster
from emitter.instance.cluster import find_cluster
from emitter.instance.cluster_source import FoundCluster
from emitter.instance.instance_tags import TagsUnavailableError
from emitter.instance.machine import ASSET_TAG_FILE

URI = "ECS_CONTAINER_METADATA_URI_V4"
ENDPOINT = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
BOARD_ID = "i-0fedcba9876543210"


@pytest.fixture(autouse=True)
def api(monkeypatch):
    """The EC2 API denies access unless a test says otherwise; gives the calls."""
    calls = []

    def describe_tags(instance_id, region, *, environ):
        calls.append((instance_id, region))
        if "TAGGED" in environ:
            return {"aws:autoscaling:groupName": environ["TAGGED"]}
        msg = "access denied"
        raise TagsUnavailableError(msg)

    monkeypatch.setattr(cluster_module, "describe_tags", describe_tags)
    monkeypatch.setattr(ecs_cluster, "WAITS_S", ())
    return calls


def test_whichever_sources_have_a_name_the_first_of_them_wins(
    play, imds, machine, tmp_path, closed_url
):
    """All 128 ways in which seven sources may have a name or none."""
    task = play({"/task": {"Cluster": "task"}})
    agent = play({"/v1/metadata": {"Cluster": "agent"}})
    slurm_conf = tmp_path / "etc/slurm/slurm.conf"
    machine({ASSET_TAG_FILE: BOARD_ID, "etc/slurm/slurm.conf": ""})
    expected_names = ("given", "task", "agent", "eks", "slurm", "group", "api")
    for has in itertools.product([True, False], repeat=7):
        given, of_task, of_agent, of_eks, of_slurm, of_group, of_api = has
        environ = {ENDPOINT: imds.url, "AWS_REGION": "eu-north-1"}
        environ.update({URI: task.url} if of_task else {})
        environ.update({"TAGGED": "api"} if of_api else {})
        slurm_conf.write_text("ClusterName=slurm" if of_slurm else "")
        tags = {"eks:cluster-name": "eks"} if of_eks else {}
        tags.update({"aws:autoscaling:groupName": "group"} if of_group else {})
        imds.tag(tags)
        found = _name(
            "given" if given else "",
            environ=environ,
            root=tmp_path,
            agent_url=agent.url if of_agent else closed_url,
        )
        first = next((name for name, it_has in zip(expected_names, has, strict=True) if it_has), "")
        assert first == found, has


def test_a_name_that_was_given_asks_nobody(imds):
    """Nothing on the network can delay or change it."""
    environ = {URI: imds.url, ENDPOINT: imds.url}
    found = find_cluster("training", environ=environ, agent_url=imds.url)
    assert FoundCluster("training", "--cluster") == found
    assert [] == imds.asked


def test_when_nobody_knows_the_list_says_what_each_one_said(imds, machine, closed_url):
    """One sentence with what to do, then every source in its order; exit 2."""
    imds.routes[TAGS_PATH] = 404
    agent_url = closed_url
    with pytest.raises(SettingsError) as raised:
        find_cluster(environ={ENDPOINT: imds.url}, root=machine(), agent_url=agent_url)
    tags = "tags in instance metadata are not enabled"
    assert [
        (
            "No cluster name is set. Use --cluster NAME, NEURON_EMF_CLUSTER, or "
            'cluster = "NAME" in the configuration file. Tried, in this order:'
        ),
        "  --cluster, NEURON_EMF_CLUSTER, configuration file: not given",
        "  ECS task metadata: ECS_CONTAINER_METADATA_URI_V4 is not set",
        (
            f"  ECS agent: nothing is listening at {agent_url.removeprefix('http://')}, and "
            "/etc/ecs/ecs.config has no ECS_CLUSTER"
        ),
        f"  EKS: EKS_CLUSTER_NAME is not set; cannot read instance tags: {tags}",
        (
            "  ParallelCluster and Slurm: /etc/parallelcluster/cfnconfig has no stack_name; cannot "
            f"read instance tags: {tags}; neither SLURM_CLUSTER_NAME nor slurm.conf has a name"
        ),
        f"  auto-scaling group: cannot read instance tags: {tags}",
        "  ec2:DescribeTags: access denied",
    ] == str(raised.value).split("\n")
    assert EXIT_WRONG_USE == raised.value.exit_code


def test_an_ecs_task_that_does_not_learn_its_cluster_takes_no_other(play, imds, machine):
    """The list ends there, although the group would have had a name."""
    imds.tag({"aws:autoscaling:groupName": "group"})
    environ = {URI: play({"/task": 500}).url, ENDPOINT: imds.url}
    with pytest.raises(SettingsError, match=r"no other source is tried\)$"):
        find_cluster(environ=environ, root=machine())
    assert [] == imds.asked


@pytest.mark.parametrize("name", ["x" * 256, "träning", "a\tb"])
def test_a_name_that_cannot_be_a_dimension_is_refused_wherever_it_comes_from(name, play, machine):
    """As the settings refuse it; the message says who gave it, and not what."""
    agent = play({"/v1/metadata": {"Cluster": name}})
    with pytest.raises(SettingsError, match="1 to 255 printable ASCII"):
        find_cluster(name, environ={})
    with pytest.raises(SettingsError, match=r"^the ECS agent has .*1 to 255 printable") as raised:
        find_cluster(environ={}, root=machine(), agent_url=agent.url)
    assert name not in str(raised.value)


def test_the_api_is_asked_for_the_instance_on_the_board(api, machine, closed_url):
    """
    A pod that cannot reach the metadata service still knows its instance, and often its region.
    """
    environ = {ENDPOINT: closed_url, "AWS_REGION": "eu-north-1", "TAGGED": "group"}
    root = machine({ASSET_TAG_FILE: BOARD_ID})
    found = find_cluster(environ=environ, root=root, agent_url=closed_url)
    assert "group" == found.name
    assert [(BOARD_ID, "eu-north-1")] == api


def test_the_region_that_was_given_is_the_one_that_is_asked(api, imds, machine, closed_url):
    """Else the variable's, else the metadata service's."""
    environ = {ENDPOINT: imds.url, "TAGGED": "group"}
    common = {"root": machine(), "agent_url": closed_url}
    find_cluster(environ=environ, **common)
    find_cluster(environ={**environ, "AWS_REGION": "us-east-1"}, **common)
    find_cluster(environ={**environ, "AWS_REGION": "us-east-1"}, region="us-west-2", **common)
    assert ["eu-north-1", "us-east-1", "us-west-2"] == [region for _id, region in api]


def test_without_an_instance_id_the_api_is_not_asked(api, machine, closed_url):
    """There is nothing to ask it for."""
    with pytest.raises(SettingsError, match="the instance ID is unknown"):
        find_cluster(environ={ENDPOINT: closed_url}, root=machine(), agent_url=closed_url)
    assert [] == api


def test_what_was_found_is_said_once(play, machine, caplog):
    """A person must be able to see where a name came from."""
    agent = play({"/v1/metadata": {"Cluster": "training"}})
    with caplog.at_level("INFO", "emitter"):
        find_cluster(environ={}, root=machine(), agent_url=agent.url)
    (record,) = caplog.records
    assert ("cluster found", "training", "the ECS agent") == (
        record.getMessage(),
        record.cluster,
        record.where,
    )


def _name(given, **around):
    try:
        return find_cluster(given, **around).name
    except SettingsError:
        return ""
