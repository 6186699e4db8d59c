"""The programs that look at what is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def program_of(repository: Path, request: pytest.FixtureRequest) -> Callable[[str, str], Path]:
    """A program of one of the environments that `make venvs` makes."""

    def found(environment: str, name: str) -> Path:
        program = repository / environment / "bin" / name
        if not program.exists():
            problem = pytest.fail if request.config.getoption("--built") else pytest.skip
            problem(f"{program} is missing: run `make venvs`")
        return program

    return found


@pytest.fixture(scope="session")
def deploy_programs(program_of: Callable[[str, str], Path]) -> Path:
    """The programs of .venv-deploy: Helm, shellcheck, hadolint, the schemas of Kubernetes."""
    return program_of(".venv-deploy", "python").parent
