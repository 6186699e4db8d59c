"""The programs that look at what is deployed, and Helm's chart as it renders it."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.programs import run_program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import ModuleType


@pytest.fixture(scope="session")
def deploy_programs(program_of: Callable[[str, str], Path]) -> Path:
    """The programs of .venv-tools: Helm, shellcheck, hadolint, the schemas of Kubernetes."""
    return program_of(".venv-tools", "python").parent


@pytest.fixture(scope="session")
def programs_of_ecs() -> tuple[ModuleType, ModuleType]:
    """The modules `task_definition` and `task_files` of deploy/ecs."""
    return importlib.import_module("task_definition"), importlib.import_module("task_files")


CHART_VALUES = {
    "clusterName": "my-cluster",
    "image": {"repository": "111122223333.dkr.ecr.us-east-1.amazonaws.com/neuron-emf"},
}
"""The values of the chart without a default."""


class Rendered(NamedTuple):
    """What Helm made of the chart, or why it did not."""

    text: str
    refusal: str

    def documents(self) -> list[dict[str, Any]]:
        """Every object of Kubernetes."""
        assert "" == self.refusal
        return [document for document in yaml.safe_load_all(self.text) if document]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Those of one kind."""
        return [document for document in self.documents() if document["kind"] == kind]

    @property
    def pod(self) -> dict[str, Any]:
        """The specification of the pods of the one DaemonSet."""
        (daemon,) = self.of_kind("DaemonSet")
        return daemon["spec"]["template"]["spec"]

    @property
    def container(self) -> dict[str, Any]:
        """The emitter's, which `kubectl` takes where none is named."""
        return self.pod["containers"][0]

    @property
    def variables(self) -> dict[str, str]:
        """The variables that the emitter is given."""
        return {variable["name"]: variable["value"] for variable in self.container["env"]}


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
        command = [deploy_programs / "helm", *arguments, "--values", "-"]
        variables = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        return run_program(command, input=json.dumps({**CHART_VALUES, **values}), env=variables)

    return run


@pytest.fixture(scope="session")
def render(
    helm: Callable[..., subprocess.CompletedProcess[str]], chart: Path
) -> Callable[..., Rendered]:
    """`helm template` with these values beside those that must be given."""

    def rendered(values: Mapping[str, Any] | None = None) -> Rendered:
        words = ("template", "neuron-emf", chart, "--namespace", "neuron-emf")
        run = helm(*words, values=values or {})
        return Rendered(run.stdout, run.stderr if run.returncode else "")

    return rendered
