"""Each source of the cluster's name alone: what it takes for a name, and what it says otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from played_services import TAGS_PATH, TOKEN_PATH, redirect_to

from emitter.instance import ecs_cluster
from emitter.instance.cluster import WANTED_TAGS, auto_scaling
from emitter.instance.cluster_source import FoundCluster, NotFound, Surroundings, name_in
from emitter.instance.ecs_cluster import ecs_agent, ecs_task
from emitter.instance.eks import eks, eks_in_tags
from emitter.instance.instance_tags import InstanceTags
from emitter.instance.metadata_service import MetadataService
from emitter.instance.slurm import slurm

ARN = "arn:aws:ecs:us-west-2:111122223333:cluster/"
URI = "ECS_CONTAINER_METADATA_URI_V4"
NO_TAGS = "tags in instance metadata are not enabled"


@pytest.fixture
def around(imds, machine, closed_url):
    """Surroundings with the played metadata service and these variables and files."""

    def build(environ=(), files=None, agent_url=None):
        service = MetadataService(imds.url)
        return Surroundings(
            dict(environ),
            machine(files),
            agent_url or closed_url,
            service,
            InstanceTags(service, WANTED_TAGS),
        )

    return build


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    """Ask again at once."""
    monkeypatch.setattr(ecs_cluster, "WAITS_S", (0.0, 0.0))


@given(st.text(st.characters(codec="ascii", exclude_characters="/ \t\r\n\v\f\x1c\x1d\x1e\x1f")))
def test_an_arn_and_a_name_are_one_cluster(name):
    """ECS says either, and both must be one series."""
    assert name == name_in(f"{ARN}{name}")
    assert "training" == name_in(" training ")


@pytest.mark.parametrize("found", [None, 1, [], {}, "", " "])
def test_what_is_no_text_is_no_name(found):
    """JSON can say anything."""
    assert "" == name_in(found)


# --- ECS ---


@pytest.mark.parametrize("cluster", ["training", f"{ARN}training"])
def test_an_ecs_task_knows_its_cluster(cluster, play, around):
    """By name or by ARN, from the endpoint that the variable holds."""
    service = play({"/v4/abc/task": {"Cluster": cluster, "LaunchType": "EC2"}})
    found = ecs_task(around({URI: f"{service.url}/v4/abc"}))
    assert FoundCluster("training", "the ECS task metadata endpoint") == found


def test_outside_ecs_the_endpoint_is_not_asked(around):
    """The variable is set in every ECS container, and only there."""
    assert NotFound(f"{URI} is not set") == ecs_task(around())


def test_an_ecs_task_asks_again_before_it_gives_up(play, around):
    """The agent may be starting again just now."""
    service = play({"/task": 500})
    answers = iter([500, 404, {"Cluster": "training"}])
    service.routes = type("Answers", (), {"get": lambda *_arguments: next(answers)})()
    assert ecs_task(around({URI: service.url})).name == "training"


@pytest.mark.parametrize(
    ("why", "route"),
    [
        ("status 500", 500),
        ("status 302", redirect_to("http://127.0.0.1:9/")),
        ("no cluster in its response", {"TaskARN": "arn"}),
        ("no cluster in its response", {"Cluster": None}),
        ("the response is not JSON", "training"),
        ("the response is not a JSON object", '["training"]'),
        ("the response is larger than 64 KiB", b" " * 70_000),
    ],
)
def test_an_ecs_task_without_an_answer_belongs_to_nobody_else(why, route, play, around):
    """Its records would go to another cluster for weeks, because one answer was late."""
    service = play({"/task": route})
    found = ecs_task(around({URI: service.url}))
    assert found.is_final
    assert found.why.startswith(f"{why} (in an ECS task")
    assert 3 == len(service.asked)


@pytest.mark.parametrize("cluster", ["training", f"{ARN}training"])
def test_the_ecs_agent_knows_its_cluster(cluster, play, around):
    """An emitter on the container instance itself has no task."""
    agent = play({"/v1/metadata": {"Cluster": cluster, "ContainerInstanceArn": None}})
    assert FoundCluster("training", "the ECS agent") == ecs_agent(around(agent_url=agent.url))


@pytest.mark.parametrize("route", [500, "{", {"Cluster": ""}])
def test_an_agent_that_is_not_up_yet_has_a_configuration(route, play, around):
    """After a boot the emitter may be the first to run."""
    agent = play({"/v1/metadata": route})
    files = {"etc/ecs/ecs.config": "ECS_LOGLEVEL=info\nECS_CLUSTER=training\n"}
    expected = FoundCluster("training", "ECS_CLUSTER in /etc/ecs/ecs.config")
    assert expected == ecs_agent(around(files=files, agent_url=agent.url))


# --- EKS ---


def test_a_variable_names_the_eks_cluster(imds, around):
    """EKS sets none itself: a person did, so nobody else is asked."""
    found = eks(around({"EKS_CLUSTER_NAME": "serving"}))
    assert FoundCluster("serving", "the variable EKS_CLUSTER_NAME") == found
    assert [] == imds.asked


def test_a_common_variable_counts_only_in_a_pod(around):
    """CLUSTER_NAME means many things on a host."""
    assert isinstance(eks(around({"CLUSTER_NAME": "other"})), NotFound)
    pod = {"CLUSTER_NAME": "serving", "KUBERNETES_SERVICE_HOST": "172.20.0.1"}
    assert FoundCluster("serving", "the variable CLUSTER_NAME") == eks(around(pod))


@pytest.mark.parametrize(
    "tag", ["aws:eks:cluster-name", "eks:cluster-name", "eks:eks-cluster-name"]
)
def test_a_tag_names_the_eks_cluster(tag, imds, around):
    """EKS and Karpenter tag the nodes that they start."""
    imds.tag({"Name": "node", tag: "serving"})
    assert FoundCluster("serving", f"the tag {tag}") == eks(around())


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
    """A node of two clusters is not guessed into one."""
    found = eks_in_tags(tags)
    assert expected == (found.name if found else None)


# --- ParallelCluster and Slurm ---

PARALLELCLUSTER = "etc/parallelcluster/cfnconfig"
SLURM_CONF = "opt/slurm/etc/slurm.conf"


def test_parallelcluster_writes_its_name_to_a_file(around):
    """Slurm calls each of its clusters the same."""
    files = {
        PARALLELCLUSTER: "stack_name=hpc-a\ncfn_region=eu-north-1\n",
        SLURM_CONF: "ClusterName=parallelcluster\n",
    }
    found = slurm(around({"SLURM_CLUSTER_NAME": "parallelcluster"}, files))
    assert FoundCluster("hpc-a", f"stack_name in /{PARALLELCLUSTER}") == found


def test_parallelcluster_tags_its_instances(imds, around):
    """The tag counts before what Slurm says."""
    imds.tag({"parallelcluster:cluster-name": "hpc-a"})
    found = slurm(around({"SLURM_CLUSTER_NAME": "else"}))
    assert FoundCluster("hpc-a", "the tag parallelcluster:cluster-name") == found


def test_the_name_of_all_parallelclusters_names_none(around):
    """Two clusters under one name would be one."""
    files = {SLURM_CONF: "ClusterName=parallelcluster"}
    assert isinstance(slurm(around({"SLURM_CLUSTER_NAME": "parallelcluster"}, files)), NotFound)


def test_a_slurm_job_knows_its_cluster(around):
    """From the environment of every job."""
    found = slurm(around({"SLURM_CLUSTER_NAME": "hpc-b"}, {SLURM_CONF: "ClusterName=c"}))
    assert FoundCluster("hpc-b", "the variable SLURM_CLUSTER_NAME") == found


@pytest.mark.parametrize("path", ["etc/slurm/slurm.conf", SLURM_CONF, "run/slurm/conf/slurm.conf"])
@pytest.mark.parametrize("line", ["ClusterName=hpc-c", "CLUSTERNAME = hpc-c # ours"])
def test_slurms_configuration_names_the_cluster(line, path, around, tmp_path):
    """In any case, says slurm.conf(5), with a comment behind it or not."""
    found = slurm(around(files={path: f"# slurm.conf\n{line}\nSlurmUser=slurm\n"}))
    assert FoundCluster("hpc-c", f"ClusterName in {tmp_path / path}") == found


def test_slurm_conf_is_where_its_variable_says(around, tmp_path):
    """SLURM_CONF wins over the usual places."""
    files = {"srv/slurm.conf": "ClusterName=moved", SLURM_CONF: "ClusterName=usual"}
    found = slurm(around({"SLURM_CONF": "/srv/slurm.conf"}, files))
    assert FoundCluster("moved", f"ClusterName in {tmp_path / 'srv/slurm.conf'}") == found


# --- tags ---


@pytest.mark.parametrize("source", [eks, slurm, auto_scaling])
def test_tags_that_are_not_allowed_are_said_to_be_so(source, imds, around):
    """The person who reads it can allow them."""
    imds.routes[TAGS_PATH] = 404
    assert NO_TAGS in source(around()).why


def test_tags_are_asked_for_once(imds, around):
    """Three sources look at them; an unreachable service is waited for by the first."""
    imds.routes[TOKEN_PATH] = 503
    surroundings = around()
    for source in (eks, slurm, auto_scaling):
        assert "503" in source(surroundings).why
    assert 1 == len(imds.asked)


def test_only_tags_that_name_a_cluster_are_read(imds):
    """The other values are none of our business."""
    imds.tag({"Secret": "x", "eks:cluster-name": "serving", "../escape": "x"})
    found = InstanceTags(MetadataService(imds.url), (*WANTED_TAGS, "../escape")).read()
    assert {"eks:cluster-name": "serving"} == found
    assert [TAGS_PATH, f"{TAGS_PATH}/eks:cluster-name"] == imds.paths()
