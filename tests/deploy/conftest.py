"""Programs that check deployed files, and Helm's chart as Helm renders it."""

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
    """Return the programs of .venv-tools: Helm, shellcheck, hadolint, the schemas of Kubernetes."""
    return program_of(".venv-tools", "python").parent


@pytest.fixture(scope="session")
def programs_of_ecs() -> tuple[ModuleType, ModuleType]:
    """Return the modules `task_definition` and `task_files` of deploy/ecs."""
    return importlib.import_module("task_definition"), importlib.import_module("task_files")


CHART_VALUES = {
    "clusterName": "my-cluster",
    "image": {"repository": "111122223333.dkr.ecr.us-east-1.amazonaws.com/neuron-emf"},
}
"""The values of the chart without a default."""


class Rendered(NamedTuple):
    """Helm's output for the chart, or its error."""

    text: str
    refusal: str

    def documents(self) -> list[dict[str, Any]]:
        """Return every Kubernetes object."""
        assert "" == self.refusal
        return [document for document in yaml.safe_load_all(self.text) if document]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Return the objects of one kind."""
        return [document for document in self.documents() if document["kind"] == kind]

    @property
    def pod(self) -> dict[str, Any]:
        """Return the pod specification of the only DaemonSet."""
        (daemon,) = self.of_kind("DaemonSet")
        return daemon["spec"]["template"]["spec"]

    @property
    def container(self) -> dict[str, Any]:
        """Return the emitter's container, which `kubectl` uses by default."""
        return self.pod["containers"][0]

    @property
    def variables(self) -> dict[str, str]:
        """Return the emitter's environment variables."""
        return {variable["name"]: variable["value"] for variable in self.container["env"]}


@pytest.fixture(scope="session")
def chart(repository: Path) -> Path:
    """Return the chart's folder."""
    return repository / "deploy" / "eks" / "chart"


@pytest.fixture(scope="session")
def helm(
    deploy_programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs Helm, which may write only to a folder of its own."""
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
    """Return a function that runs `helm template` with these values and the required ones."""

    def rendered(values: Mapping[str, Any] | None = None) -> Rendered:
        words = ("template", "neuron-emf", chart, "--namespace", "neuron-emf")
        run = helm(*words, values=values or {})
        return Rendered(run.stdout, run.stderr if run.returncode else "")

    return rendered
