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
    An instance that these tests run on is not asked who it is, what its kernel says, nor whose
    its processes are.
    """
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NEURON_EMF_KERNEL_MESSAGES", "none")
    monkeypatch.setenv("NEURON_EMF_ATTRIBUTION", "none")
