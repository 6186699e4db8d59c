"""The stack's files for the tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from local.alarms.template import Template, load
from local.embedded_aws.sam_deployment import SamCli
from neuron_emf.deploy.package import read_template
from tests.stack.stack_template import of_type

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def template_text(repository: Path) -> str:
    """Return the text of template.yaml with views.yaml included, with comments."""
    return read_template(repository / "template.yaml")


@pytest.fixture(scope="session")
def template(template_text: str) -> dict[str, Any]:
    """Return template.yaml with unresolved functions."""
    return load(template_text)


@pytest.fixture(scope="session")
def deployed(template: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """
    Return a function that returns the resources of a deployment with these parameters, resolved.
    """

    def resources(**parameters: str) -> dict[str, Any]:
        resolved = Template(template, parameters)
        return {
            logical_id: resolved.resolve(resource)
            for logical_id, resource in template["Resources"].items()
            if "Condition" not in resource or resolved.condition(resource["Condition"])
        }

    return resources


class SamBuild(NamedTuple):
    """The output of `make build` from template.yaml, and the SAM CLI that deploys it."""

    sam: SamCli
    template: Path


@pytest.fixture(scope="session")
def sam_build(
    programs: list[Path], built: Path, tmp_path_factory: pytest.TempPathFactory
) -> SamBuild:
    """Return the build for every deployment; no test builds, because a build fetches packages."""
    sam = SamCli(programs[1], tmp_path_factory.mktemp("sam"), lambda: None)
    return SamBuild(sam, built / "template.yaml")


@pytest.fixture(scope="session")
def queries(template: dict[str, Any]) -> dict[str, Any]:
    """Return the deployed properties of every saved query by logical ID."""
    return dict(Template(template).resources("AWS::Logs::QueryDefinition"))


@pytest.fixture(scope="session")
def dashboards(deployed: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """
    Return the properties of the dashboards of a deployment with these parameters, by logical ID.
    """
    return lambda **parameters: of_type(deployed(**parameters), "AWS::CloudWatch::Dashboard")


@pytest.fixture(scope="session")
def body(dashboards: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """Return the dashboard's body in a default deployment; tests only read it."""
    document: dict[str, Any] = json.loads(dashboards()["ClusterDashboard"]["DashboardBody"])
    return document
