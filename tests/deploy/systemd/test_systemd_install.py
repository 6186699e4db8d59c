"""install.sh and bundle.sh: the files that they install, and the input that they refuse."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

import neuron_emitter
from tests.deploy.systemd.conftest import files, install, run_installer, small_bundle
from tests.programs import run_program


@pytest.mark.proof
def test_everything_is_where_systemd_and_people_look(installed):
    """
    The installation has only the unit, its drop-in, the user, the configuration and the command.
    """
    assert [
        "etc/neuron-emf/config.toml",
        "etc/systemd/system/neuron-emf.service",
        "etc/systemd/system/neuron-emf.service.d/options.conf",
        "etc/sysusers.d/neuron-emf.conf",
        "ready",
        "usr/local/bin/neuron-emf",
    ] == files(installed)
    assert "/opt/neuron-emf/bin/neuron-emf" == str(
        (installed / "usr/local/bin/neuron-emf").readlink()
    )


@pytest.mark.proof
def test_an_uninstallation_leaves_what_was_configured(installed, repository, tmp_path):
    """
    An uninstallation leaves only a changed configuration and the spool, which PURGE=1 removes.
    """
    root = tmp_path / "root"
    for name in ("etc", "usr"):
        shutil.copytree(installed / name, root / name, symlinks=True)
    shutil.copytree(installed / "opt", root / "opt", symlinks=True, copy_function=os.link)
    spool = root / "var/lib/neuron-emf/spool.sqlite"
    spool.parent.mkdir(parents=True)
    spool.touch()
    config = root / "etc/neuron-emf/config.toml"
    config.write_text('cluster = "blue"\n')
    run = install(repository, "uninstall", DESTDIR=str(root))
    assert 0 == run.returncode, run.stderr
    assert ["etc/neuron-emf/config.toml", "var/lib/neuron-emf/spool.sqlite"] == files(root)
    run = install(repository, "uninstall", DESTDIR=str(root), PURGE="1")
    assert [] == files(root)
    assert 0 == install(repository, "uninstall", DESTDIR=str(root)).returncode


@pytest.mark.proof
def test_a_failed_step_prints_the_reason_and_keeps_the_working_program(repository, tmp_path):
    """A failed step, even pip's last one, reports its reason and keeps the working program."""
    program = tmp_path / "root/opt/neuron-emf"
    for name in ("pyvenv.cfg", "bin/neuron-emf"):
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).touch()
    bundle = small_bundle(repository, tmp_path / "bundle")
    python = tmp_path / "python"
    python.write_text(
        f"""#!/bin/bash
[ "$1" != -c ] || {{ echo "$0"; exit; }}
{sys.executable} "$@"
rm "${{@: -1}}/bin/python"
printf '%s\\n' '#!/bin/bash' 'case " $* " in *" uninstall "*) echo pip broke >&2; exit 3;; esac' \\
  'exec {sys.executable} "$@" --target {tmp_path}/away' >"${{@: -1}}/bin/python"
chmod 755 "${{@: -1}}/bin/python"
""",
        encoding="utf-8",
    )
    python.chmod(0o755)
    run = run_installer(bundle, "install", DESTDIR=str(tmp_path / "root"), PYTHON=str(python))
    assert 3 == run.returncode, run.stderr
    assert "pip broke" in run.stderr
    assert {"bin", "neuron-emf", "pyvenv.cfg"} == {path.name for path in program.rglob("*")}
    assert [program] == list(program.parent.iterdir())


@pytest.mark.parametrize("what", ["install", "uninstall"])
@pytest.mark.parametrize("prefix", ["/usr/local", "/usr", "/opt", "/srv/venv", "/srv/linked"])
@pytest.mark.slow
def test_a_folder_that_is_not_ours_is_never_deleted(prefix, what, repository, tmp_path):
    """
    The prefix must be an environment with the project's command, because it is replaced as a whole:
    not a system folder, another environment or one that links to the command.
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
@pytest.mark.slow
def test_what_cannot_be_used_is_refused_before_anything_is_made(
    given, expected, repository, tmp_path
):
    """
    Unusable input is refused with one sentence before any change; a quote in a name never becomes a
    setting.
    """
    run = install(repository, "install", DESTDIR=str(tmp_path / "root"), **given)
    assert run.returncode
    assert expected in run.stderr
    assert not (tmp_path / "root").exists()


@pytest.fixture(scope="module")
def bundle(repository, tmp_path_factory):
    """Return the content of a bundle from bundle.sh, unpacked in another folder."""
    folder = tmp_path_factory.mktemp("bundle")
    run = run_program(
        [repository / "deploy" / "systemd" / "bundle.sh", "--wheels"],
        env={**os.environ, "OUT": str(folder), "PYTHON": sys.executable},
    )
    assert 0 == run.returncode, run.stderr
    subprocess.run(["tar", "-xzf", run.stdout.strip(), "-C", folder], check=True)
    return folder / f"neuron-emf-{neuron_emitter.__version__}"


@pytest.mark.proof
def test_a_bundle_needs_neither_a_clone_nor_a_package_index(bundle, tmp_path):
    """
    A bundle installs from its own files under another prefix, with the given settings, and keeps a
    changed configuration.

    One package stands for all, because `installed` installs every pin.
    """
    root = tmp_path / "root"
    minor = "{}.{}".format(*sys.version_info)
    assert f"{minor}\n" == (bundle / "python-version").read_text("utf-8")
    pins = bundle / "requirements.txt"
    pins.write_text(re.search(r"(?m)^msgspec==.*(?:\n +.*)*", pins.read_text("utf-8"))[0])
    variables = {
        "CLUSTER": "blue",
        "DESTDIR": str(root),
        "HTTPS_PROXY": "http://127.0.0.1:9",  # a request for a package fails
        "PIP_CONFIG_FILE": os.devnull,
        "PREFIX": "/srv/emf",
        "PYTHON": sys.executable,
        "REGION": "eu-west-1",
    }
    options = root / "etc/systemd/system/neuron-emf.service.d/options.conf"
    options.parent.mkdir(parents=True)
    options.write_text("[Service]\nNice=0\n")
    run = run_installer(bundle, "install", **variables)
    assert 0 == run.returncode, run.stderr
    assert "[Service]\nNice=0\n" == options.read_text()
    unit = (root / "etc/systemd/system/neuron-emf.service").read_text("utf-8")
    assert "ExecStart=/srv/emf/bin/neuron-emf run\n" in unit
    config = root / "etc/neuron-emf/config.toml"
    assert '\ncluster = "blue"\n' in config.read_text("utf-8")
    assert '\nregion = "eu-west-1"\n' in config.read_text("utf-8")

    packages = "import neuron_emitter, msgspec, neuron_emf, neuron_wire"
    ended = subprocess.run([root / "srv/emf/bin/python", "-c", packages], check=False)
    assert 0 == ended.returncode
    assert ["emf"] == [path.name for path in (root / "srv").iterdir()]
