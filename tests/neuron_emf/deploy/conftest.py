"""Fixtures of `neuron-emf deploy`: both packages, and the command on a fake account."""

from __future__ import annotations

import pytest

from neuron_emf.deploy import command, package
from neuron_emf.deploy import stack as stacks
from tests.stack.stack_template import release_template


@pytest.fixture
def release(repository):
    """Return this tree's template, with a placeholder zip."""
    return package.Package(release_template(repository / "template.yaml"), b"zip")


@pytest.fixture
def emitters(repository):
    """Return the template for emitters only."""
    return package.Package((repository / "emitters.yaml").read_text("utf-8"))


@pytest.fixture
def deploy(monkeypatch, release, emitters, typed):
    """Return a function that deploys to a fake account and returns exit code and output."""
    kinds = {False: release, True: emitters}
    monkeypatch.setattr(command, "carried", lambda emitters_only: kinds[emitters_only])
    monkeypatch.setattr(stacks, "STACK_POLL_S", 0.0)

    def call(fake, *words, asks=False):
        monkeypatch.setattr(command, "account", lambda _: fake)
        return typed("deploy", *([] if asks else ["--yes"]), *words)

    return call
