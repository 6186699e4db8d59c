"""What stands in deploy/ecs, as the tests read it."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

from local.alarms.template import Template, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

GIVEN = {
    "Cluster": "training",
    "Image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/neuron-emf:0.1.0",
    "EmitterPolicyArn": "arn:aws:iam::111122223333:policy/neuron-emf-EmitterPolicy",
}
"""The parameters without a default."""


def lower_first(name: str) -> str:
    """A property's name as the API of ECS spells it."""
    return name[:1].lower() + name[1:]


def as_api(value: Any, *, is_map: bool = False) -> Any:
    """Properties of CloudFormation as members of a call; the keys of a map are data."""
    if isinstance(value, dict):
        return {
            key if is_map else lower_first(key): as_api(one, is_map=key == "Options")
            for key, one in value.items()
        }
    return [as_api(one) for one in value] if isinstance(value, list) else value


@pytest.fixture(scope="session")
def ecs_folder(repository: Path) -> Path:
    """The folder deploy/ecs."""
    return repository / "deploy" / "ecs"


@pytest.fixture(scope="session")
def programs_of_ecs(ecs_folder: Path) -> tuple[ModuleType, ModuleType]:
    """The modules `task_definition` and `task_files`."""
    sys.path.insert(0, str(ecs_folder))
    try:
        definition = importlib.import_module("task_definition")
        return definition, importlib.import_module("task_files")
    finally:
        sys.path.remove(str(ecs_folder))


@pytest.fixture(scope="session")
def service_template(ecs_folder: Path) -> dict[str, Any]:
    """service.yaml with its functions unresolved."""
    return load((ecs_folder / "service.yaml").read_text("utf-8"))


@pytest.fixture(scope="session")
def ecs_deployed(service_template: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """The properties of every resource that a deployment with these parameters makes."""

    def resources(**parameters: str) -> dict[str, Any]:
        resolved = Template(service_template, {**GIVEN, **parameters})
        return {
            name: resolved.resolve(resource)["Properties"]
            for name, resource in service_template["Resources"].items()
        }

    return resources
