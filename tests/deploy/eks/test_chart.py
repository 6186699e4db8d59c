"""The chart is valid on each supported release, and has exactly the permissions of its values."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import click
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emf.cli import cli
from neuron_emitter.owners.places import HANDED_OVER
from neuron_emitter.settings.run_settings import RunSettings
from tests.programs import run_program

REFUSALS_PROGRAM = """
import json, sys, kubernetes_validate as v
for document in json.load(sys.stdin):
    for release in sys.argv[1:]:
        try:
            v.validate(document, release, strict=True)
        except v.ValidationError as error:
            print(release, document["kind"], *error.path, error.message)
"""
RELEASES = ["1.25", "1.28", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35"]
ALL_RIGHTS = {
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
NO_RIGHTS = {
    "attribution": {"enabled": False},
    "privileged": False,
    "spool": {"type": "emptyDir"},
    "serviceAccount": {"create": False, "name": "mine"},
    "tolerations": [],
    "priorityClass": {"create": False},
    "nodes": {"instanceFamilies": [], "labels": None},
}
COMBINATIONS = {"defaults": {}, "everything": ALL_RIGHTS, "nothing": NO_RIGHTS}


@pytest.mark.slow
def test_every_release_of_kubernetes_takes_what_the_chart_makes(deploy_programs, render):
    """
    The strict schemas of each Kubernetes release accept the chart: they refuse an unknown member.
    """
    documents = [part for values in COMBINATIONS.values() for part in render(values).documents()]
    kinds = {"DaemonSet", "NetworkPolicy", "PriorityClass", "ServiceAccount"}
    assert kinds == {part["kind"] for part in documents}
    command = [deploy_programs / "python", "-c", REFUSALS_PROGRAM, *RELEASES]
    run = run_program(command, input=json.dumps(documents))
    assert 0 == run.returncode, run.stderr
    assert "" == run.stdout


def test_the_plain_manifests_are_the_chart(chart, render, golden):
    """manifests.yaml is Helm's output for a cluster `my-cluster`, for a reader without Helm."""
    head = (
        "# Written by Helm from deploy/eks/chart, for who has no Helm: change the cluster's name,\n"
        "# the image and, with IRSA, the service account; make the namespace neuron-emf.\n"
    )
    rendered = render()
    assert "" == rendered.refusal
    golden(chart.parent / "manifests.yaml", head + rendered.text)


# --- permissions ---

ALL_VALUES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "attribution": st.fixed_dictionaries(
            {
                "enabled": st.booleans(),
                "hostPID": st.booleans(),
                "names": st.sampled_from(["owner", "team"]),
            }
        ),
        "kernelMessages": st.fixed_dictionaries({"enabled": st.booleans()}),
        "privileged": st.booleans(),
        "spool": st.fixed_dictionaries({"type": st.sampled_from(["hostPath", "emptyDir"])}),
        "networkPolicy": st.fixed_dictionaries({"enabled": st.booleans()}),
        "user": st.integers(1, 4294967294),
    }
)
POSSIBLE_VALUES = ALL_VALUES.filter(
    lambda values: values["privileged"] or not values["kernelMessages"]["enabled"]
)


def host_paths(pod):
    """Return the node's folders that a pod has."""
    return {volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}


def mounted(container, *, is_read_only=False):
    """Return the mount paths of a container's volumes."""
    mounts = container["volumeMounts"]
    return {part["mountPath"] for part in mounts if part.get("readOnly", False) == is_read_only}


@settings(
    max_examples=25,
    # an example is small, but rendering it takes long, so shrinking would not pay
    phases=(Phase.explicit, Phase.generate),
)
@given(POSSIBLE_VALUES)
def test_no_combination_gives_a_right_that_was_not_asked_for(render, values):
    """
    Any values give only the permissions that they need.

    Attribution needs the kubelet's socket, hostPID the node's processes and names of pods,
    `privileged` all devices, and the kernel log needs root. Otherwise a pod has only the spool's
    folder of the node.
    """
    rendered = render(values)
    pod = rendered.pod
    container = rendered.container
    security = container["securityContext"]
    asks_kubelet = values["attribution"]["enabled"]
    names_pods = asks_kubelet and values["attribution"]["hostPID"]
    reads_kernel = values["kernelMessages"]["enabled"]
    on_host = values["spool"]["type"] == "hostPath"

    assert names_pods == pod.get("hostPID", False)
    assert values["privileged"] == security["privileged"]
    assert (0 if reads_kernel else values["user"]) == security["runAsUser"]
    assert security["runAsNonRoot"] is not reads_kernel
    assert security["readOnlyRootFilesystem"] is True
    if not values["privileged"]:
        assert {"drop": ["ALL"]} == security["capabilities"]
    escalation = None if values["privileged"] else False  # Kubernetes refuses both together
    assert escalation is security.get("allowPrivilegeEscalation")
    assert {"hostNetwork", "hostIPC", "shareProcessNamespace"}.isdisjoint(pod)
    assert pod["automountServiceAccountToken"] is False
    names = {"/var/log/pods", "/var/log/containers"} if names_pods else set()
    socket = {"/var/lib/kubelet/pod-resources"} if asks_kubelet else set()
    spool = {"/var/lib/neuron-emf"} if on_host else set()
    assert names | socket | spool == host_paths(pod)
    handed_over = {str(HANDED_OVER.parent)} if asks_kubelet else set()
    assert names | handed_over == mounted(container, is_read_only=True)
    for asking in pod["containers"][1:]:
        assert asks_kubelet
        assert ["python", "-m", "neuron_emitter.owners"] == asking["command"]
        assert handed_over == mounted(asking)
        assert socket == mounted(asking, is_read_only=True)
        assert {
            "runAsUser": 0,
            "runAsNonRoot": False,
            "privileged": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        } == asking["securityContext"]
    for init in pod.get("initContainers", []):  # runs as root to give the spool to the user
        assert on_host
        assert not reads_kernel
        assert ["chown", "-R"] == init["command"][:2]
        assert "privileged" not in init["securityContext"]
        capabilities = init["securityContext"]["capabilities"]
        assert {"drop": ["ALL"], "add": ["CHOWN", "DAC_READ_SEARCH"]} == capabilities
    assert values["networkPolicy"]["enabled"] == bool(rendered.of_kind("NetworkPolicy"))
    named = {"owner": "auto", "team": "team"}[values["attribution"]["names"]]
    assert (named if asks_kubelet else "none") == rendered.variables["NEURON_EMF_ATTRIBUTION"]
    assert ("kmsg" if reads_kernel else "none") == rendered.variables["NEURON_EMF_KERNEL_MESSAGES"]


@pytest.mark.parametrize(
    ("values", "ingress"),
    [
        (ALL_RIGHTS, [{"ports": [{"protocol": "TCP", "port": 8008}]}]),
        ({"networkPolicy": {"enabled": True}}, []),
    ],
)
def test_the_network_policy_lets_nothing_in_but_scrapes(render, values, ingress):
    """
    The network policy admits only scrapes, and permits names, HTTPS and two addresses of the node.
    """
    (policy,) = render(values).of_kind("NetworkPolicy")
    assert ["Ingress", "Egress"] == policy["spec"]["policyTypes"]
    assert ingress == policy["spec"]["ingress"]
    ports = {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}
    assert {53, 80, 443} == ports
    (daemon,) = render(values).of_kind("DaemonSet")
    labels = daemon["spec"]["template"]["metadata"]["labels"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()


@pytest.mark.parametrize(
    ("values", "name", "class_names"),
    [
        ({}, "neuron-emf", ["neuron-emf"]),
        ({"priorityClassName": "mine"}, "mine", []),
        ({"priorityClass": {"create": False}}, None, []),
    ],
)
def test_a_pod_has_the_class_of_the_chart_or_the_one_that_was_named(
    render, values, name, class_names
):
    """
    A pod has the chart's priority class or the given one; the chart's is above 0 and preempts no
    pod.
    """
    rendered = render(values)
    assert name == rendered.pod.get("priorityClassName")
    classes = rendered.of_kind("PriorityClass")
    assert class_names == [priority_class["metadata"]["name"] for priority_class in classes]
    for row in classes:
        assert "Never" == row["preemptionPolicy"]
        assert 0 < row["value"]
        assert "globalDefault" not in row


# --- values ---

OF_THE_CHART = {
    "attribution",
    "cluster",
    "kernel_messages",
    "log_group",
    "prometheus",
    "proc_dir",
    "region",
    "spool_dir",
}
"""
Settings that have a value of the chart and are therefore not keys of `settings`; hostPID sets
/proc.
"""
SCHEMA_TYPES = {
    "bool": "boolean",
    "int": "integer",
    "float": "number",
    "str": "string",
    "Path": "string",
}


def setting_schema(field):
    """Return the JSON schema of a setting."""
    if isinstance(field.default, tuple):
        schema: dict[str, Any] = {
            "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
        }
    else:
        schema = {"type": SCHEMA_TYPES[str(field.type).removesuffix(" | None")]}
    option_type = field.metadata.get("kind")
    if isinstance(option_type, click.Choice):
        schema["enum"] = list(option_type.choices)
    return {"description": field.metadata["help"], **schema}


def test_the_schema_knows_every_setting_of_run(chart, golden):
    """
    The schema has each setting of `run` with its flag, type and help, except settings of the chart.
    """
    fields = {field.name: field for field in dataclasses.fields(RunSettings)}
    assert fields.keys() >= OF_THE_CHART
    path = chart / "values.schema.json"
    schema = json.loads(path.read_text("utf-8"))
    schema["properties"]["settings"]["properties"] = {
        name.replace("_", "-"): setting_schema(field)
        for name, field in fields.items()
        if name not in OF_THE_CHART
    }
    golden(path, f"{json.dumps(schema, indent=2)}\n")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"clusterNam": "x"}, "clusterNam"), ({"image": {"repository": "x", "tagg": "x"}}, "tagg"),
        ({"settings": {"metrcs": "x"}}, "metrcs"), ({"settings": {"metrics": "every"}}, "metrics"),
        ({"attribution": {"names": "person"}}, "names"), ({"user": 0}, "user"),
        ({"clusterName": "a b"}, "clusterName"), ({"maxUnavailable": "0%"}, "maxUnavailable"),
        ({"serviceAccount": {"roleArn": "neuron-emf"}}, "roleArn"),
        ({"prometheus": {"port": 8008, "address": "::"}}, "address"),
        ({"kernelMessages": {"enabled": True}, "privileged": False}, "privileged"),
        ({"nodes": {"instanceTypes": [], "instanceFamilies": [], "labels": None}}, "every node"),
        ({"serviceAccount": {"create": False}}, "serviceAccount.name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_misspelt_key_and_an_impossible_value_are_refused(render, values, word):
    """
    The schema or a sentence of the chart refuses a misspelled key and an impossible value at every
    depth.
    """
    assert word in render(values).refusal


def test_every_setting_reaches_the_command_line(render, monkeypatch):
    """
    The emitter reads the pod's variables as the given settings. By default it defines no metric,
    because the stack has them.
    """
    asked = {
        "tag": ["team=search", "tier=gold"],
        "period": 15,
        "idle-below-percent": 0.5,
        "spool-max-mib": 100000000,
        "high-resolution-metrics": True,
        "runtime-lines": "all",
    }
    for name, value in render({"settings": asked, "region": "us-west-2"}).variables.items():
        monkeypatch.setenv(name, value)
    seen = cli.get_command(None, "run").make_context("run", []).params
    expected = {name.replace("-", "_"): value for name, value in asked.items()} | {
        "tag": ("team=search", "tier=gold"),
        "region": "us-west-2",
        "metrics": "none",
        "attribution": "auto",
        "kernel_messages": "none",
        "log_group": "/neuron-emf/records",
    }
    assert expected == {name: seen[name] for name in expected}
    assert "/var/lib/neuron-emf" == str(seen["spool_dir"])


def test_a_node_of_each_instance_type_gets_an_emitter(repository):
    """The chart selects a node of each instance type; types of HyperPod have the prefix `ml.`."""
    values = (repository / "deploy/eks/chart/values.yaml").read_text("utf-8")
    listed = re.findall(r"^    - (?:ml\.)?([a-z0-9-]+\.[a-z0-9]+)$", values, re.MULTILINE)
    assert INSTANCE_TYPES.keys() == {*listed}
