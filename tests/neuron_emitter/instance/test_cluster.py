"""The cluster's name comes from the first source that has one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.errors import EXIT_WRONG_USE, SettingsError
from neuron_emitter.instance import cluster
from neuron_emitter.instance.cluster import (
    WANTED_TAGS,
    ClusterSearch,
    FoundCluster,
    NotFound,
    eks_in_tags,
    find_cluster,
    name_in,
)
from neuron_emitter.instance.instance_tags import TagsUnavailableError, read_metadata_tags
from neuron_emitter.instance.machine import ASSET_TAG_FILE
from neuron_emitter.instance.metadata_service import MetadataService
from tests.neuron_emitter.instance_services import TAGS_PATH

URI = "ECS_CONTAINER_METADATA_URI_V4"
BOARD_ID = "i-0fedcba9876543210"
CLUSTER_ARN = "arn:aws:ecs:us-west-2:111122223333:cluster/"
SERVICE_VARIABLE = "AWS_EC2_METADATA_SERVICE_ENDPOINT"


@pytest.fixture(autouse=True)
def api(monkeypatch):
    """Let the EC2 API deny access unless a test sets TAGGED; return the list of calls."""
    calls = []

    def describe_tags(instance_id, region, *, environ):
        calls.append((instance_id, region))
        if "TAGGED" in environ:
            return {"aws:autoscaling:groupName": environ["TAGGED"]}
        msg = "access denied"
        raise TagsUnavailableError(msg)

    monkeypatch.setattr(cluster, "describe_tags", describe_tags)
    monkeypatch.setattr(cluster, "ECS_TASK_WAITS_S", (0.0, 0.0))
    return calls


def test_the_first_source_with_a_name_wins(play, imds, machine, tmp_path, closed_url):
    """The first source with a name wins, in all 128 combinations of seven sources."""
    task = play({"/task": {"Cluster": "task"}})
    agent = play({"/v1/metadata": {"Cluster": "agent"}})
    slurm_conf = tmp_path / "etc/slurm/slurm.conf"
    machine({ASSET_TAG_FILE: BOARD_ID, "etc/slurm/slurm.conf": ""})
    expected_names = ("given", "task", "agent", "eks", "slurm", "group", "api")
    for has in itertools.product([True, False], repeat=7):
        given, of_task, of_agent, of_eks, of_slurm, of_group, of_api = has
        environ = {SERVICE_VARIABLE: imds.url, "AWS_REGION": "eu-north-1"}
        environ.update({URI: task.url} if of_task else {})
        environ.update({"TAGGED": "api"} if of_api else {})
        slurm_conf.write_text("ClusterName=slurm" if of_slurm else "")
        tags = {"eks:cluster-name": "eks"} if of_eks else {}
        tags.update({"aws:autoscaling:groupName": "group"} if of_group else {})
        imds.tag(tags)
        found_name = _name(
            "given" if given else "",
            environ=environ,
            root=tmp_path,
            agent_url=agent.url if of_agent else closed_url,
        )
        first = next((name for name, it_has in zip(expected_names, has, strict=True) if it_has), "")
        assert first == found_name, has


def test_a_given_name_needs_no_request(imds):
    """A given name needs no request on the network."""
    environ = {URI: imds.url, SERVICE_VARIABLE: imds.url}
    given_cluster = find("training", environ=environ, agent_url=imds.url)
    assert FoundCluster("training", "--cluster") == given_cluster
    assert [] == imds.asked


def test_without_a_name_the_error_lists_the_answer_of_each_source(imds, machine, closed_url):
    """Without a name, the error lists what each source answered, in order, with exit code 2."""
    imds.routes[TAGS_PATH] = 404
    agent_url = closed_url
    with pytest.raises(SettingsError) as raised:
        find(environ={SERVICE_VARIABLE: imds.url}, root=machine(), agent_url=agent_url)
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


@pytest.mark.parametrize("name", ["x" * 256, "träning", "a\tb"])
def test_a_name_that_cannot_be_a_dimension_is_refused(name, play, machine):
    """A name that cannot be a dimension is refused. The error names its source, not the name."""
    agent = play({"/v1/metadata": {"Cluster": name}})
    with pytest.raises(SettingsError, match="1 to 255 printable ASCII"):
        find(name, environ={})
    with pytest.raises(SettingsError, match=r"^the ECS agent has .*1 to 255 printable") as raised:
        find(environ={}, root=machine(), agent_url=agent.url)
    assert name not in str(raised.value)


def test_the_given_region_is_used(api, imds, machine, closed_url):
    """The search uses the given region, else the variable's, else the metadata service's."""
    environ = {SERVICE_VARIABLE: imds.url, "TAGGED": "group"}
    common = {"root": machine(), "agent_url": closed_url}
    find(environ=environ, **common)
    find(environ={**environ, "AWS_REGION": "us-east-1"}, **common)
    find(environ={**environ, "AWS_REGION": "us-east-1"}, region="us-west-2", **common)
    assert ["eu-north-1", "us-east-1", "us-west-2"] == [region for _id, region in api]


def find(given="", **around):
    """Return the cluster for *given*, or for the surroundings in *around*."""
    return find_cluster(given, ClusterSearch(**around))


def _name(given, **around):
    try:
        return find(given, **around).name
    except SettingsError:
        return ""


@pytest.fixture
def search(imds, machine, closed_url):
    """Return a function that makes a search with the fake metadata service, variables and files."""

    def build(environ=(), files=None, agent_url=None):
        environ = {SERVICE_VARIABLE: imds.url, **dict(environ)}
        return ClusterSearch(environ, machine(files), agent_url or closed_url)

    return build


@given(st.text(st.characters(codec="ascii", exclude_characters="/ \t\r\n\v\f\x1c\x1d\x1e\x1f")))
def test_an_arn_and_a_name_are_one_cluster(name):
    """A cluster's ARN and its name are one cluster, because ECS reports both."""
    assert name == name_in(f"{CLUSTER_ARN}{name}")
    assert "training" == name_in(" training ")


@pytest.mark.parametrize("cluster", ["training", f"{CLUSTER_ARN}training"])
def test_an_ecs_task_reads_its_cluster(cluster, play, search):
    """An ECS task reads its cluster, a name or an ARN, from the endpoint in its variable."""
    service = play({"/v4/abc/task": {"Cluster": cluster, "LaunchType": "EC2"}})
    found_cluster = search({URI: f"{service.url}/v4/abc"}).ask_ecs_task()
    assert FoundCluster("training", "the ECS task metadata endpoint") == found_cluster


@pytest.mark.parametrize(
    ("why", "route"),
    [
        ("status 500", 500), ("no cluster in its response", {"Cluster": None}),
        ("the response is not JSON", "training"),
        ("the response is not a JSON object", '["training"]'),
    ],
)  # fmt: skip
def test_an_ecs_task_without_an_answer_takes_no_other_name(why, route, play, imds, machine):
    """An ECS task without an answer uses no other source, to keep records out of other clusters."""
    imds.tag({"aws:autoscaling:groupName": "group"})
    service = play({"/task": route})
    with pytest.raises(SettingsError, match=rf"{why} \(in an ECS task no other source is tried"):
        find(environ={URI: service.url, SERVICE_VARIABLE: imds.url}, root=machine())
    assert 3 == len(service.asked)
    assert [] == imds.asked


@pytest.mark.parametrize("route", [500, "{", {"Cluster": ""}])
def test_an_agent_that_has_not_started_is_named_by_its_configuration(route, play, search):
    """If the ECS agent has not started, its configuration names the cluster."""
    agent = play({"/v1/metadata": route})
    files = {"etc/ecs/ecs.config": "ECS_LOGLEVEL=info\nECS_CLUSTER=training\n"}
    expected = FoundCluster("training", "ECS_CLUSTER in /etc/ecs/ecs.config")
    assert expected == search(files=files, agent_url=agent.url).ask_ecs_agent()


def test_a_common_variable_counts_only_in_a_pod(search):
    """CLUSTER_NAME counts only in a pod, because it has other meanings on a host."""
    assert isinstance(search({"CLUSTER_NAME": "other"}).find_eks_cluster(), NotFound)
    pod = {"CLUSTER_NAME": "serving", "KUBERNETES_SERVICE_HOST": "172.20.0.1"}
    assert FoundCluster("serving", "the variable CLUSTER_NAME") == search(pod).find_eks_cluster()


@pytest.mark.parametrize(
    "tag", ["aws:eks:cluster-name", "eks:cluster-name", "eks:eks-cluster-name"]
)
def test_a_tag_names_the_eks_cluster(tag, imds, search):
    """A tag of EKS or Karpenter names the cluster."""
    imds.tag({"Name": "node", tag: "serving"})
    assert FoundCluster("serving", f"the tag {tag}") == search().find_eks_cluster()


@pytest.mark.parametrize(
    ("expected", "tags"),
    [
        ("a", {"kubernetes.io/cluster/a": "owned"}),
        ("a", {"kubernetes.io/cluster/a": "owned", "kubernetes.io/cluster/b": "shared"}),
        ("b", {"kubernetes.io/cluster/b": "shared", "kubernetes.io/role/elb": "1"}),
        ("c", {"alpha.eksctl.io/cluster-name": "c", "kubernetes.io/cluster/a": "owned"}),
        (None, {"kubernetes.io/cluster/a": "owned", "kubernetes.io/cluster/b": "owned"}),
        (None, {"kubernetes.io/cluster/a": ""}),
        (None, {"eks:cluster-name": " "}),
    ],
)
def test_of_several_tags_one_names_the_cluster_or_none_does(expected, tags):
    """A node with tags of two clusters belongs to neither."""
    eks_cluster = eks_in_tags(tags)
    assert expected == (eks_cluster.name if eks_cluster else None)


PARALLELCLUSTER = "etc/parallelcluster/cfnconfig"


SLURM_CONF_PATH = "opt/slurm/etc/slurm.conf"


def test_parallelcluster_writes_its_name_to_a_file(search):
    """ParallelCluster's file names the cluster: Slurm calls all ParallelClusters the same."""
    files = {
        PARALLELCLUSTER: "stack_name=hpc-a\ncfn_region=eu-north-1\n",
        SLURM_CONF_PATH: "ClusterName=parallelcluster\n",
    }
    slurm_cluster = search({"SLURM_CLUSTER_NAME": "parallelcluster"}, files).find_slurm_cluster()
    assert FoundCluster("hpc-a", f"stack_name in /{PARALLELCLUSTER}") == slurm_cluster


def test_the_name_of_all_parallelclusters_names_none(search):
    """The name `parallelcluster`, which all ParallelClusters have, is not a cluster name."""
    files = {SLURM_CONF_PATH: "ClusterName=parallelcluster"}
    assert isinstance(
        search({"SLURM_CLUSTER_NAME": "parallelcluster"}, files).find_slurm_cluster(), NotFound
    )


@pytest.mark.parametrize(
    "path", ["etc/slurm/slurm.conf", SLURM_CONF_PATH, "run/slurm/conf/slurm.conf"]
)
@pytest.mark.parametrize("line", ["ClusterName=hpc-c", "CLUSTERNAME = hpc-c # ours"])
def test_slurms_configuration_names_the_cluster(line, path, search, tmp_path):
    """slurm.conf names the cluster in any letter case, with or without a comment."""
    slurm_cluster = search(
        files={path: f"# slurm.conf\n{line}\nSlurmUser=slurm\n"}
    ).find_slurm_cluster()
    assert FoundCluster("hpc-c", f"ClusterName in {tmp_path / path}") == slurm_cluster


def test_slurm_conf_is_at_the_path_in_its_variable(search, tmp_path):
    """SLURM_CONF wins over the usual places of slurm.conf."""
    files = {"srv/slurm.conf": "ClusterName=moved", SLURM_CONF_PATH: "ClusterName=usual"}
    slurm_cluster = search({"SLURM_CONF": "/srv/slurm.conf"}, files).find_slurm_cluster()
    assert FoundCluster("moved", f"ClusterName in {tmp_path / 'srv/slurm.conf'}") == slurm_cluster


def test_only_tags_that_name_a_cluster_are_read(imds):
    """Only tags that can name a cluster are read."""
    imds.tag({"Secret": "x", "eks:cluster-name": "serving", "../escape": "x"})
    tags = read_metadata_tags(MetadataService(imds.url), (*WANTED_TAGS, "../escape"))
    assert {"eks:cluster-name": "serving"} == tags
    assert [TAGS_PATH, f"{TAGS_PATH}/eks:cluster-name"] == imds.paths()
