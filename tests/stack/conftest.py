"""The stack's files as the tests read them."""

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
    """template.yaml as it is written, with views.yaml where it includes it, comments included."""
    return read_template(repository / "template.yaml")


@pytest.fixture(scope="session")
def template(template_text: str) -> dict[str, Any]:
    """template.yaml with its functions unresolved."""
    return load(template_text)


@pytest.fixture(scope="session")
def deployed(template: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """The resources that a deployment with these parameters makes, functions resolved."""

    def resources(**parameters: str) -> dict[str, Any]:
        resolved = Template(template, parameters)
        return {
            logical_id: resolved.resolve(resource)
            for logical_id, resource in template["Resources"].items()
            if "Condition" not in resource or resolved.condition(resource["Condition"])
        }

    return resources


class SamBuild(NamedTuple):
    """What `make build` made of template.yaml, and the SAM CLI that deploys it."""

    sam: SamCli
    template: Path


@pytest.fixture(scope="session")
def sam_build(
    programs: list[Path], built: Path, tmp_path_factory: pytest.TempPathFactory
) -> SamBuild:
    """For everything that deploys; no test builds, because a build fetches packages."""
    sam = SamCli(programs[1], tmp_path_factory.mktemp("sam"), lambda: None)
    return SamBuild(sam, built / "template.yaml")


@pytest.fixture(scope="session")
def queries(template: dict[str, Any]) -> dict[str, Any]:
    """The properties of every saved query as deployed, by logical id."""
    return dict(Template(template).resources("AWS::Logs::QueryDefinition"))


@pytest.fixture(scope="session")
def dashboards(deployed: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The properties of the dashboard of a deployment with these parameters, by logical id."""
    return lambda **parameters: of_type(deployed(**parameters), "AWS::CloudWatch::Dashboard")


@pytest.fixture(scope="session")
def body(dashboards: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """The body of the dashboard of a default deployment, to be read only."""
    found: dict[str, Any] = json.loads(dashboards()["ClusterDashboard"]["DashboardBody"])
    return found
