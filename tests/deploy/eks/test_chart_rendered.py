"""
What the chart makes of its values: valid on every release that it says, and with no right too many.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import emitter
from emitter.reports.child import STOP_WITHIN_S
from emitter.run.outlet import FLUSH_WITHIN_S
from tests.programs import run_program

SCHEMAS = Path(__file__).with_name("kubernetes_schemas.py")
RELEASES = ["1.25", "1.28", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35"]
EVERYTHING = {
    "region": "us-west-2",
    "settings": {"metrics": "none", "tag": ["team=search"]},
    "kernelMessages": {"enabled": True},
    "imagePullSecrets": [{"name": "registry"}],
    "serviceAccount": {"roleArn": "arn:aws:iam::111122223333:role/neuron-emf"},
    "networkPolicy": {"enabled": True},
    "prometheus": {"port": 8008},
    "podLabels": {"team": "search"},
    "podAnnotations": {"note": "1"},
    "maxUnavailable": 3,
    "priorityClassName": "system-node-critical",
}
NOTHING = {
    "attribution": {"enabled": False},
    "privileged": False,
    "spool": {"type": "emptyDir"},
    "serviceAccount": {"create": False, "name": "mine"},
    "tolerations": [],
    "nodes": {"instanceFamilies": [], "labels": None},
}
COMBINATIONS = {"defaults": {}, "everything": EVERYTHING, "nothing": NOTHING}
COMBINATION = pytest.mark.parametrize("name", COMBINATIONS)


@pytest.mark.slow
def test_every_release_of_kubernetes_takes_what_the_chart_makes(deploy_programs, render):
    """By the strict schemas of the releases: a member that a release does not know is refused."""
    documents = [one for values in COMBINATIONS.values() for one in render(values).documents()]
    assert {"DaemonSet", "NetworkPolicy", "ServiceAccount"} == {one["kind"] for one in documents}
    command = [deploy_programs / "python", SCHEMAS, *RELEASES]
    run = run_program(command, input=json.dumps(documents))
    assert (0, "[]") == (run.returncode, run.stdout), run.stderr


@COMBINATION
def test_helm_lint_has_nothing_to_say(helm, chart, name):
    """Beyond that the chart has no icon."""
    given_values = {"clusterName": "my-cluster", "image": {"repository": "r"}, **COMBINATIONS[name]}
    run = helm("lint", "--strict", chart, values=given_values)
    assert 0 == run.returncode, run.stdout
    lines = [one for one in run.stdout.splitlines() if one.startswith("[")]
    assert ["[INFO] Chart.yaml: icon is recommended"] == lines


def test_memory_is_as_in_the_task_definition(render, programs_of_ecs):
    """Measured once, written in two places."""
    definition = programs_of_ecs[0]
    rendered = render()
    resources = rendered.container["resources"]
    assert f"{definition.RESERVED_MIB}Mi" == resources["requests"]["memory"]
    assert f"{definition.LIMIT_MIB}Mi" == resources["limits"]["memory"]
    assert definition.MONITOR_HEAP == rendered.variables["GOMEMLIMIT"]


def test_a_stop_leaves_time_to_flush_on_eks(render):
    """neuron-monitor ends, the minute is closed and sent, before the kubelet kills."""
    assert FLUSH_WITHIN_S + STOP_WITHIN_S < render().pod["terminationGracePeriodSeconds"]


def test_a_digest_wins_over_a_tag(render):
    """And without either the chart's own version is the tag."""
    digest = "sha256:" + "0" * 64
    image = {"repository": "registry/neuron-emf"}
    assert (
        f"registry/neuron-emf:{emitter.__version__}" == render({"image": image}).container["image"]
    )
    assert "registry/neuron-emf:9" == render({"image": {**image, "tag": "9"}}).container["image"]
    both = render({"image": {**image, "tag": "9", "digest": digest}})
    assert f"registry/neuron-emf@{digest}" == both.container["image"]


def test_the_plain_manifests_are_the_chart(chart, render, golden):
    """
    deploy/eks/manifests.yaml is what Helm makes for a cluster `my-cluster`, for who has no Helm.
    """
    head = (
        "# Written by Helm from deploy/eks/chart, for who has no Helm: change the cluster's name,\n"
        "# the image and, with IRSA, the service account; make the namespace neuron-emf.\n"
    )
    rendered = render()
    assert "" == rendered.refusal
    golden(chart.parent / "manifests.yaml", head + rendered.text)
