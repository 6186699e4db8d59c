"""
install.sh: what it puts where, that it may be run again, and what it says when it cannot.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import subprocess
import sys

import pytest
from installing import install, python_of, run_installer, small_bundle, system_python

import emitter

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def files(root):
    """
    What is in a root folder, without the program's own files and the fixture's mark.
    """
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if (path.is_symlink() or path.is_file()) and "opt/neuron-emf/" not in str(path)
    )


def test_everything_is_where_systemd_and_people_look(installed):
    """
    The unit, its drop-in, the user, the configuration and the command; nothing else.
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


def test_every_user_may_read_what_a_strict_root_installed(installed):
    """
    It was installed under the umask 077, and the service's user has no right of root's.
    """
    closed = [
        path
        for name in ("etc", "opt", "usr")
        for path in (installed / name, *(installed / name).rglob("*"))
        if not path.is_symlink()
        and (path.stat().st_mode & 0o055) not in ({0o055} if path.is_dir() else {0o044, 0o055})
    ]
    assert [] == closed
    assert (installed / "opt/neuron-emf/bin/neuron-emf").stat().st_mode & stat.S_IXOTH


def test_the_next_steps_are_said(installed, repository):
    """
    In order, with the commands; the page has them in this order, too.
    """
    said = (installed / "ready").read_text("utf-8")
    steps = ["config.toml", "neuron-emf check", "systemctl enable --now neuron-emf", "journalctl"]
    assert sorted(said.index(step) for step in steps) == [said.index(step) for step in steps]
    page = (repository / "docs" / "how-to" / "ec2.md").read_text("utf-8")
    assert ["Python", "The service", "Settings", "Check", "Start", "Look"] == re.findall(
        r"^\*\*\d\. (.+)\.\*\*$", page, re.MULTILINE
    )
    found = [
        page.index(f"\n{step}") for step in ("sudo make", *steps[1:2], "sudo systemctl enable")
    ]
    assert sorted(found) == found


def test_nothing_in_the_program_names_where_it_was_made(installed):
    """
    An image is made in one place and runs in another: also tracebacks name the other.
    """
    program = installed / "opt" / "neuron-emf"
    found = subprocess.run(
        ["grep", "-rlF", str(installed), str(program)], capture_output=True, text=True, check=False
    )
    assert "" == found.stdout
    first = (program / "bin" / "neuron-emf").read_text("utf-8").splitlines()[0]
    assert "#!/opt/neuron-emf/bin/python" == first


def test_the_program_has_what_is_pinned_and_no_installer(installed, repository):
    """
    Every pin of requirements/emitter.txt that applies, neuron-emf itself, and no pip.
    """
    (packages,) = (installed / "opt/neuron-emf/lib").glob("python*/site-packages")
    versions = {
        (match[1].lower().replace("_", "-"), match[2])
        for path in packages.glob("*.dist-info")
        if (match := re.fullmatch(r"(.+)-([^-]+)\.dist-info", path.name))
    }
    text = (repository / "requirements" / "emitter.txt").read_text("utf-8")
    pins = set(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE))
    always = set(re.findall(r"^([a-z0-9._-]+)==(\S+) \\$", text, re.MULTILINE))
    assert always
    assert always <= versions
    assert versions - pins == {("neuron-emf", emitter.__version__)}


def test_an_installed_command_runs(installed, tmp_path):
    """
    By its own Python, from a folder that knows nothing of this repository.
    """
    program = installed / "opt/neuron-emf/bin"
    run = subprocess.run(
        [program / "python", program / "neuron-emf", "--version"],
        env={"PATH": os.defpath},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert emitter.__version__ in run.stdout, run.stderr


def test_the_service_is_started_as_the_unit_says(installed, repository, tmp_path):
    """
    Its ExecStart with its variables: ready, with a goodbye at the stop. Only the user and the
    sandbox are not there; test_real_systemd.py has them.
    """
    unit = (installed / "etc/systemd/system/neuron-emf.service").read_text("utf-8")
    (command,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    program, *words = command.split()
    (tmp_path / "neuron-monitor").symlink_to(repository / "local/monitor/neuron-monitor")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind("")  # a name of the kernel's choice
        server.settimeout(60)
        process = subprocess.Popen(
            [installed / "opt/neuron-emf/bin/python", f"{installed}{program}", *words],
            env={
                **dict(re.findall(r"^Environment=(\w+)=(\S+)$", unit, re.MULTILINE)),
                "AWS_EC2_METADATA_DISABLED": "true",
                "HOME": str(tmp_path),
                "NEURON_EMF_CLUSTER": "blue",
                "NEURON_EMF_INSTANCE_ID": "i-0123456789abcdef0",
                "NEURON_EMF_KERNEL_MESSAGES": "none",
                "NEURON_EMF_OUTPUT": "stdout",
                "NEURON_SIM_PYTHON": sys.executable,
                "NOTIFY_SOCKET": "@" + server.getsockname()[1:].decode(),
                "PATH": f"{tmp_path}:{os.defpath}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "WATCHDOG_USEC": "60000000",
            },
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            states = [server.recv(4096).decode().split("\n")[0] for _ in range(2)]
            process.terminate()
            out, said = process.communicate(timeout=60)
        finally:
            process.kill()
        states.append(server.recv(4096).decode().split("\n")[0])
    assert ["READY=1", "WATCHDOG=1", "STOPPING=1"] == states
    assert 0 == process.returncode, said
    assert '"Bye":true' in out  # the lines of runtimes come after it


def test_an_uninstallation_leaves_what_was_configured(installed, repository, tmp_path):
    """
    Without a change of yours nothing is left; a changed file and the spool only go by PURGE=1.
    """
    root = tmp_path / "root"
    for name in ("etc", "usr"):
        shutil.copytree(installed / name, root / name, symlinks=True)
    bundle = small_bundle(repository, tmp_path / "bundle")
    assert 0 == run_installer(bundle, "install", DESTDIR=str(root)).returncode
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


@pytest.fixture(scope="module")
def bundle(repository, tmp_path_factory):
    """
    What bundle.sh packs, unpacked elsewhere.
    """
    folder = tmp_path_factory.mktemp("bundle")
    run = subprocess.run(
        [repository / "deploy" / "systemd" / "bundle.sh", "--wheels"],
        env={**os.environ, "OUT": str(folder), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == run.returncode, run.stderr
    subprocess.run(["tar", "-xzf", run.stdout.strip(), "-C", folder], check=True)
    return folder / f"neuron-emf-{emitter.__version__}"


def test_a_bundle_needs_neither_a_clone_nor_a_package_index(bundle, tmp_path):
    """
    By its own files alone, under another prefix, with the settings that were given; what somebody
    configured stays, and what fails keeps the program that works.
    """
    root = tmp_path / "root"
    minor = "{}.{}".format(*sys.version_info)
    assert f"{minor}\n" == (bundle / "python-version").read_text("utf-8")
    given = {
        "CLUSTER": "blue",
        "DESTDIR": str(root),
        "HTTPS_PROXY": "http://127.0.0.1:9",  # whoever asks for a package fails
        "PIP_CONFIG_FILE": os.devnull,
        "PREFIX": "/srv/emf",
        "PYTHON": sys.executable,
        "REGION": "eu-west-1",
    }
    options = root / "etc/systemd/system/neuron-emf.service.d/options.conf"
    options.parent.mkdir(parents=True)
    options.write_text("[Service]\nNice=0\n")
    run = run_installer(bundle, "install", **given)
    assert 0 == run.returncode, run.stderr
    assert "[Service]\nNice=0\n" == options.read_text()
    unit = (root / "etc/systemd/system/neuron-emf.service").read_text("utf-8")
    assert "ExecStart=/srv/emf/bin/neuron-emf run\n" in unit
    config = root / "etc/neuron-emf/config.toml"
    assert '\ncluster = "blue"\n' in config.read_text("utf-8")
    assert '\nregion = "eu-west-1"\n' in config.read_text("utf-8")

    (bundle / "requirements.txt").write_text("no-such-package==1 --hash=sha256:" + "0" * 64)
    run = run_installer(bundle, "install", **{**given, "CLUSTER": "green"})
    assert run.returncode
    assert '\ncluster = "blue"\n' in config.read_text("utf-8")
    program = root / "srv/emf/bin"
    found = subprocess.run([program / "python", "-c", "import emitter.cli"], check=False)
    assert 0 == found.returncode
    assert ["emf"] == [path.name for path in (root / "srv").iterdir()]


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("ID=amzn", "dnf install -y python3.11"),
        ("ID=ubuntu\nID_LIKE=debian", "apt-get update && apt-get install -y python3-venv"),
        ("ID=rocky\nID_LIKE='rhel centos fedora'", "dnf install -y python3.12"),
        ("ID=plan9", "install Python 3.10 or later with venv"),
    ],
)
def test_a_machine_without_a_python_says_what_to_install(system, expected, repository, tmp_path):
    """
    Amazon Linux 2023 has 3.9, Ubuntu none with venv: the command differs, nothing is made.
    """
    (tmp_path / "os-release").write_text(system + "\n", encoding="utf-8")
    old = tmp_path / "bin"
    old.mkdir()
    for name in ("bash", "cat", "dirname", "mktemp", "rm"):
        (old / name).symlink_to(shutil.which(name))
    root = tmp_path / "root"
    given = {"DESTDIR": str(root), "OS_RELEASE": str(tmp_path / "os-release"), "PATH": str(old)}
    script = (repository / "deploy/systemd/install.sh").read_text("utf-8")
    (tmp_path / "install.sh").write_text(script.replace(" /usr/bin/python3 ", " "))
    for only in ("", "3.13"):
        if only:
            (tmp_path / "python-version").write_text(f"{only}\n", encoding="utf-8")
        run = subprocess.run(
            ["bash", str(tmp_path / "install.sh"), "install"],
            env=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode
        if only:
            expected = re.sub(r"(ython ?)3(\.1\d)?( or later)?", rf"\g<1>{only}", expected)
        assert expected in run.stderr
        assert 1 == len(run.stderr.splitlines())
    assert not root.exists()


def test_a_bundle_with_packages_takes_their_python_alone(repository, tmp_path):
    """
    Not the first that would do: packages of one minor version are no use to another.
    """
    bundle = small_bundle(repository, tmp_path / "bundle")
    programs = tmp_path / "bin"
    programs.mkdir()
    python_of(programs / "python3", (3, 14, 0))
    python_of(programs / "python3.12", (3, 12, 1))
    given = {"DESTDIR": str(tmp_path), "PATH": f"{programs}:{os.environ['PATH']}"}
    assert f"{programs}/python3\n" == run_installer(bundle, "python", **given).stdout
    (bundle / "python-version").write_text("3.12\n", encoding="utf-8")
    assert f"{programs}/python3.12\n" == run_installer(bundle, "python", **given).stdout
    run = run_installer(bundle, "python", PYTHON="python3", **given)
    assert run.returncode
    assert "python3 was expected to be Python 3.12 with venv" in run.stderr


def test_a_python_that_only_root_may_run_is_passed_over(repository, tmp_path):
    """
    The service would end with 203/EXEC; tried on the machine itself, not for a root folder.
    """
    other = system_python()
    if os.geteuid() or other is None or shutil.which("setpriv") is None:
        pytest.skip("root, setpriv and a Python 3.10 of the machine's own are needed")
    closed = tmp_path / "closed"
    subprocess.run([other, "-m", "venv", "--copies", "--without-pip", closed], check=True)
    closed.chmod(0o700)
    given = {"PATH": f"{closed}/bin:{os.defpath}"}
    run = install(repository, "python", DESTDIR=str(tmp_path), **given)
    assert f"{closed}/bin/python3\n" == run.stdout
    run = install(repository, "python", DESTDIR="", **given)
    assert 0 == run.returncode, run.stderr
    assert run.stdout.strip()
    assert str(closed) not in run.stdout
    run = install(repository, "python", DESTDIR="", PYTHON=f"{closed}/bin/python3", **given)
    assert run.returncode
    assert "that every user may run and is not" in run.stderr


def test_a_step_that_fails_says_why(repository, tmp_path):
    """
    Also the last one of pip, which takes pip away.
    """
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
    assert not (tmp_path / "root/opt/neuron-emf").exists()


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
    assert "was expected to be" in run.stderr
    assert 1 == len(run.stderr.splitlines())
    assert before == files(root)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"PYTHON": "/bin/false"}, "/bin/false was expected to be Python 3.10 or later"),
        ({"PREFIX": "opt/x"}, "PREFIX was expected to be a full path"),
        ({"PREFIX": "/opt/x|y"}, "PREFIX was expected to be a full path"),
        ({"PREFIX": "/"}, "PREFIX was expected to be a full path"),
        ({"PREFIX": "/usr/local/"}, "PREFIX was expected to be a full path"),
        ({"PREFIX": "/usr//local"}, "PREFIX was expected to be a full path"),
        ({"PREFIX": "/usr/./local"}, "PREFIX was expected to be a full path"),
        ({"PREFIX": "/opt/../usr/local"}, "PREFIX was expected to be a full path"),
        ({"PREFIX": "/usr/local"}, "where the command /usr/local/bin/neuron-emf itself belongs"),
        ({"CLUSTER": 'a"\nlog-group="x'}, "CLUSTER and REGION were expected"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_made(
    given, expected, repository, tmp_path
):
    """
    One sentence; a quote in a name must not become another setting.
    """
    run = install(repository, "install", DESTDIR=str(tmp_path / "root"), **given)
    assert run.returncode
    assert expected in run.stderr
    assert not (tmp_path / "root").exists()
