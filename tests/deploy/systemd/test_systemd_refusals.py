"""What install.sh refuses, before anything is made or taken away."""

from __future__ import annotations

import sys

import pytest
from installer import files, install, run_installer, small_bundle

pytestmark = [pytest.mark.slow]


@pytest.mark.parametrize("what", ["install", "uninstall"])
@pytest.mark.parametrize("prefix", ["/usr/local", "/usr", "/opt", "/srv/venv", "/srv/linked"])
def test_a_folder_that_is_not_ours_is_never_deleted(prefix, what, repository, tmp_path):
    """
    It is replaced and taken away as a whole, so it must be an environment with our command in it:
    neither a folder of the system, nor another environment, nor one that links to the command.
    """
    root = tmp_path / "root"
    for name in (
        "usr/local/bin/other",
        "opt/other/file",
        "srv/venv/pyvenv.cfg",
        "srv/linked/pyvenv.cfg",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "srv/linked/bin").mkdir()
    (root / "srv/linked/bin/neuron-emf").symlink_to(sys.executable)
    before = files(root)
    bundle = small_bundle(repository, tmp_path / "bundle")
    run = run_installer(bundle, what, DESTDIR=str(root), PREFIX=prefix)
    assert run.returncode
    assert "Use a" in run.stderr
    assert 1 == len(run.stderr.splitlines())
    assert before == files(root)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"PYTHON": "/bin/false"}, "/bin/false is not Python 3.10 or later"),
        ({"PREFIX": "opt/x"}, "Use an absolute path"),
        ({"PREFIX": "/opt/x|y"}, "Use an absolute path"),
        ({"PREFIX": "/"}, "Use an absolute path"),
        ({"PREFIX": "/usr/local/"}, "Use an absolute path"),
        ({"PREFIX": "/usr//local"}, "Use an absolute path"),
        ({"PREFIX": "/usr/./local"}, "Use an absolute path"),
        ({"PREFIX": "/opt/../usr/local"}, "Use an absolute path"),
        ({"PREFIX": "/usr/local"}, "where the command /usr/local/bin/neuron-emf is installed"),
        ({"CLUSTER": 'a"\nlog-group="x'}, "Invalid CLUSTER or REGION"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_made(
    given, expected, repository, tmp_path
):
    """One sentence; a quote in a name must not become another setting."""
    run = install(repository, "install", DESTDIR=str(tmp_path / "root"), **given)
    assert run.returncode
    assert expected in run.stderr
    assert not (tmp_path / "root").exists()
