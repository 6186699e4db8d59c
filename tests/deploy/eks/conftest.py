"""The chart, and Helm itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.deploy.ecs.conftest import ecs_folder, programs_of_ecs  # the instance types are theirs
from tests.programs import run_program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["ecs_folder", "programs_of_ecs"]

GIVEN = {
    "clusterName": "my-cluster",
    "image": {"repository": "111122223333.dkr.ecr.us-east-1.amazonaws.com/neuron-emf"},
}
"""The values without a default."""


class Rendered(NamedTuple):
    """What Helm made of the chart, or why it did not."""

    text: str
    refusal: str

    def documents(self) -> list[dict[str, Any]]:
        """Every object of Kubernetes."""
        assert "" == self.refusal
        return [one for one in yaml.safe_load_all(self.text) if one]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Those of one kind."""
        return [one for one in self.documents() if one["kind"] == kind]

    @property
    def pod(self) -> dict[str, Any]:
        """The specification of the pods of the one DaemonSet."""
        (found,) = self.of_kind("DaemonSet")
        return found["spec"]["template"]["spec"]

    @property
    def container(self) -> dict[str, Any]:
        """The emitter's, which `kubectl` takes where none is named."""
        return self.pod["containers"][0]

    @property
    def variables(self) -> dict[str, str]:
        """The variables that the emitter is given."""
        return {one["name"]: one["value"] for one in self.container["env"]}


@pytest.fixture(scope="session")
def chart(repository: Path) -> Path:
    """The chart's folder."""
    return repository / "deploy" / "eks" / "chart"


@pytest.fixture(scope="session")
def helm(
    deploy_programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Helm; it may write to a folder of its own only."""
    home = tmp_path_factory.mktemp("helm")

    def run(*arguments: str | Path, values: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        return run_program(
            [deploy_programs / "helm", *arguments, "--values", "-"],
            input=json.dumps(values),
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        )

    return run


@pytest.fixture(scope="session")
def render(
    helm: Callable[..., subprocess.CompletedProcess[str]], chart: Path
) -> Callable[..., Rendered]:
    """`helm template` with these values beside those that must be given."""

    def rendered(values: Mapping[str, Any] | None = None, *, bare: bool = False) -> Rendered:
        given = dict(values or {}) if bare else {**GIVEN, **(values or {})}
        run = helm("template", "neuron-emf", chart, "--namespace", "neuron-emf", values=given)
        return Rendered(run.stdout, run.stderr if run.returncode else "")

    return rendered
