"""
The stack's files as the tests read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from local.alarms.template import Template, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def template_text(repository: Path) -> str:
    """
    template.yaml as it is written, comments included.
    """
    return (repository / "template.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def template(template_text: str) -> dict[str, Any]:
    """
    template.yaml with its functions unresolved.
    """
    return load(template_text)


@pytest.fixture(scope="session")
def deployed(template: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """
    The resources that a deployment with these parameters makes, functions resolved.
    """

    def resources(**parameters: str) -> dict[str, Any]:
        resolved = Template(template, parameters)
        return {
            logical_id: resolved.resolve(resource)
            for logical_id, resource in template["Resources"].items()
            if "Condition" not in resource or resolved.condition(resource["Condition"])
        }

    return resources
