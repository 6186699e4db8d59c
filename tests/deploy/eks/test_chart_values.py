"""
What may be asked of the chart: a misspelt key, an unknown setting and a contradiction are refused.
"""

from __future__ import annotations

import dataclasses
import json

import click
import pytest

from emitter.settings.run import RunSettings
from neuron_emf.cli import cli
from tests.deploy.eks.conftest import GIVEN

OF_THE_CHART = {
    "attribution": "attribution.enabled and attribution.names",
    "cluster": "clusterName",
    "kernel_messages": "kernelMessages.enabled",
    "log_group": "logGroup",
    "prometheus": "prometheus",
    "proc_dir": "the node's /proc is the pod's with hostPID",
    "region": "region",
    "spool_dir": "spool",
}
"""Settings that have a value of their own, and are no key of `settings`."""

RECORDS = "/neuron-emf/records"
TYPES = {"bool": "boolean", "int": "integer", "float": "number", "str": "string", "Path": "string"}


def setting_schema(field):
    """What JSON schema says of a setting."""
    if isinstance(field.default, tuple):
        found = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    else:
        found = {"type": TYPES[str(field.type).removesuffix(" | None")]}
    kind = field.metadata["kind"]
    if isinstance(kind, click.Choice):
        found["enum"] = list(kind.choices)
    return {"description": field.metadata["help"], **found}


def test_the_schema_knows_every_setting_of_run(chart, golden):
    """Each as its flag is called, with its type and its words; but those the chart gives itself."""
    fields = {one.name: one for one in dataclasses.fields(RunSettings)}
    assert set() == OF_THE_CHART.keys() - fields.keys()
    path = chart / "values.schema.json"
    schema = json.loads(path.read_text("utf-8"))
    schema["properties"]["settings"]["properties"] = {
        name.replace("_", "-"): setting_schema(field)
        for name, field in fields.items()
        if name not in OF_THE_CHART
    }
    golden(path, f"{json.dumps(schema, indent=2)}\n")


@pytest.mark.parametrize(
    "path", ["clusterNam", "image.tagg", "attribution.enable", "settings.metrcs", "nodes.types"]
)
def test_a_misspelt_key_is_refused(render, path):
    """At every depth, also for a setting of the emitter: its variable would be overlooked."""
    first, _, second = path.partition(".")
    values = {first: {**GIVEN.get(first, {}), second: "x"}} if second else {first: "x"}
    assert path.rpartition(".")[2] in render(values).refusal


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"settings": {"metrics": "every"}}, "metrics"),
        ({"settings": {"period": "soon"}}, "period"),
        ({"spool": {"type": "nfs"}}, "type"),
        ({"attribution": {"names": "person"}}, "names"),
        ({"user": 0}, "user"),
        ({"clusterName": "a b"}, "clusterName"),
        ({"serviceAccount": {"roleArn": "neuron-emf"}}, "roleArn"),
        ({"image": {"repository": "x", "digest": "sha256:1"}}, "digest"),
        ({"maxUnavailable": "0%"}, "maxUnavailable"),
        ({"prometheus": {"port": 65536}}, "port"),
        ({"prometheus": {"port": 8008, "address": "::"}}, "address"),
        ({"kernelMessages": {"enabled": True}, "privileged": False}, "privileged"),
        ({"nodes": {"instanceTypes": [], "instanceFamilies": [], "labels": None}}, "every node"),
        ({"serviceAccount": {"create": False}}, "serviceAccount.name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_value_that_cannot_be_meant_is_refused(render, values, word):
    """By the schema, or by a sentence of the chart."""
    assert word in render(values).refusal


def test_every_setting_reaches_the_command_line(render, monkeypatch):
    """
    The variables of a pod are read as the settings that were asked for; unasked it defines no
    metric, because the stack has them.
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
    expected = {name.replace("-", "_"): value for name, value in asked.items()}
    expected |= {"tag": ("team=search", "tier=gold"), "region": "us-west-2", "metrics": "none"}
    expected |= {"attribution": "auto", "kernel_messages": "none", "log_group": RECORDS}
    assert expected == {name: seen[name] for name in expected}
    assert "/var/lib/neuron-emf" == str(seen["spool_dir"])


@pytest.mark.parametrize(
    ("values", "address"),
    [({"port": 8008}, "0.0.0.0:8008"), ({"port": 8008, "address": "[::]"}, "[::]:8008")],
)
def test_the_port_for_prometheus_is_open_on_the_pod_and_off_by_default(render, values, address):
    """A variable, a port with a name for whoever finds pods by it, and nothing else."""
    rendered = render({"prometheus": values})
    assert address == rendered.variables["NEURON_EMF_PROMETHEUS"]
    port = {"name": "metrics", "containerPort": 8008, "protocol": "TCP"}
    assert [port] == rendered.container["ports"]
    plain = render({})
    assert "NEURON_EMF_PROMETHEUS" not in plain.variables
    assert "ports" not in plain.container
