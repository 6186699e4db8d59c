"""
Let the tests of these folders import what stands beside this file, and keep them on this machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(autouse=True)
def _no_metadata_service(monkeypatch):
    """
    An instance that these tests run on is not asked who it is.
    """
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
