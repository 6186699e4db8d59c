"""The programs that look at what is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def deploy_programs(program_of: Callable[[str, str], Path]) -> Path:
    """The programs of .venv-tools: Helm, shellcheck, hadolint, the schemas of Kubernetes."""
    return program_of(".venv-tools", "python").parent
