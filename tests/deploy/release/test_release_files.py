"""What a release publishes: the same bytes from the same commit, and one version everywhere."""

from __future__ import annotations

import json
import shutil
import tarfile
import zipfile

import pytest

from tests.deploy.release.release_scripts import ROOT, archive, artefacts, versions

TOOLS = ROOT / ".venv-tools/bin"
needs_tools = pytest.mark.skipif(not TOOLS.exists(), reason="needs make venvs")


def test_every_place_says_the_same_version():
    """Chart, image, manifests, task definitions, pages; a planted other one is named."""
    assert [] == versions.faults(ROOT)
    assert {"Chart.yaml", "daemon.json", "container.md", "cluster.yaml"} <= {
        path.name for path, _ in versions.repeated(ROOT)
    }


@pytest.fixture
def tree(tmp_path):
    """A copy of what says the version."""
    for path in {path for path, _ in versions.repeated(ROOT)} | {
        ROOT / versions.HOME,
        ROOT / versions.CHANGELOG,
    }:
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tmp_path


def test_a_release_is_cut_by_one_command_and_its_tag_is_held_against_it(tree):
    """The version goes everywhere, and what was unreleased gets the version and a date."""
    versions.set_version(tree, "7.8.9")
    assert "7.8.9" == versions.version(tree)
    assert [] == versions.faults(tree, "v7.8.9")
    notes = versions.notes(tree, "7.8.9")
    assert notes.startswith("### Added")
    assert "## Unreleased\n\n## 7.8.9 (" in (tree / versions.CHANGELOG).read_text("utf-8")
    (wrong,) = versions.faults(tree, "v7.9.0")
    assert "The tag is v7.9.0, not v7.8.9." in wrong
    chart = tree / "deploy/eks/chart/Chart.yaml"
    chart.write_text(chart.read_text("utf-8").replace("version: 7.8.9", "version: 7.8.8"), "utf-8")
    assert ["deploy/eks/chart/Chart.yaml says 7.8.8, not 7.8.9"] == [
        fault.partition(". Write")[0] for fault in versions.faults(tree)
    ]


def test_an_archive_says_nothing_about_who_made_it(tmp_path):
    """The same files in another order, by another name, are the same bytes."""
    files = [("a/run", b"#!/bin/sh\n", True), ("a/text", b"text\n", False)]
    first, second = tmp_path / "first.tar.gz", tmp_path / "second.tar.gz"
    archive.write_tar_gz(first, files, 86_400)
    archive.write_tar_gz(second, files[::-1], 86_400)
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as made:
        (run, text) = made.getmembers()
    assert (0o755, 0o644, 86_400, "", 0) == (run.mode, text.mode, run.mtime, run.uname, run.uid)


@needs_tools
@pytest.mark.bench  # minutes: before a release
def test_wheel_sdist_chart_and_materials_are_the_same_bytes_twice(tmp_path):
    """And the wheel of the sdist is the wheel."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
        artefacts.distributions(folder)
        artefacts.chart(folder)
        artefacts.bill_of_materials(folder)
    sums = artefacts.sums(folders[0])
    assert sums == artefacts.sums(folders[1])
    names = {line.split("  ")[1] for line in sums.splitlines()}
    version = versions.version()
    assert {
        f"neuron-emf-{version}-functions.zip",
        f"neuron-emf-{version}-template.yaml",
        f"neuron-emf-{version}-emitters.yaml",
        f"neuron-emf-{version}.cdx.json",
        f"neuron-emf-chart-{version}.tgz",
        f"neuron_emf-{version}-py3-none-any.whl",
        f"neuron_emf-{version}.tar.gz",
    } == names
    with zipfile.ZipFile(folders[0] / f"neuron_emf-{version}-py3-none-any.whl") as wheel:
        assert {"neuron_emf/deploy/functions.zip", "neuron_emf/deploy/template.yaml"} <= set(
            wheel.namelist()
        )
    materials = json.loads((folders[0] / f"neuron-emf-{version}.cdx.json").read_text("utf-8"))
    pinned = (ROOT / "requirements/emitter.txt").read_text("utf-8")
    assert {one["name"] for one in materials["components"]} == {
        line.split("==")[0].split("[")[0] for line in pinned.splitlines() if line[:1].isalpha()
    }
