"""What ParallelCluster runs on a node, in a throw-away root with recorded commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile

import pytest
import yaml

import emitter
from tests.deploy.systemd.installer import python_of, run_installer, small_bundle
from tests.programs import run_program

BUNDLE = f"neuron-emf-{emitter.__version__}"
RECORDING = """\
#!/bin/bash
printf '%s\\n' "${0##*/} $*" >>"$RECORD"
"""
FETCHING = RECORDING + 'cp "$BUNDLE_AT" "${@: -1}"\n'
INSTALLER = """\
#!/bin/bash
set -eu
if [ "$1" = python ]; then exec python3 -c ''; fi
printf 'install.sh %s into %s\\n' "$*" "$DESTDIR" >>"$RECORD"
mkdir -p "$DESTDIR/etc/neuron-emf"
[ -e "$DESTDIR/etc/neuron-emf/config.toml" ] || cp "$CONFIG" "$DESTDIR/etc/neuron-emf/config.toml"
"""


def program(path, text):
    """A script that can be started."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


class Node:
    """A node of a cluster: its root, what it can run, and what was run on it."""

    def __init__(self, repository, folder):
        self.root = folder / "root"
        self.root.mkdir()
        self.record = folder / "record"
        self.record.touch()
        self.bundle = folder / "bundle.tar.gz"
        self.script = repository / "deploy" / "slurm" / "install-neuron-emf.sh"
        self.programs = folder / "programs"
        for name in ("systemctl", "dnf", "apt-get"):
            program(self.programs / name, RECORDING)
        program(self.programs / "aws", FETCHING)
        self.pack(**{"install.sh": INSTALLER})
        self.variables = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "NEURON_EMF_ROOT": str(self.root),
            "RECORD": str(self.record),
            "BUNDLE_AT": str(self.bundle),
            "CONFIG": str(repository / "deploy" / "systemd" / "config.toml"),
        }

    def pack(self, **texts):
        """A bundle of these files."""
        with tarfile.open(self.bundle, "w:gz") as archive:
            for name, text in texts.items():
                path = self.bundle.parent / "packed" / name
                program(path, text)
                archive.add(path, f"{BUNDLE}/{name}")

    def have_device(self, name="neuron0"):
        """A device of the driver."""
        (self.root / "dev").mkdir()
        (self.root / "dev" / name).touch()

    def have_on_bus(self, vendor, device):
        """A device of the PCI bus."""
        folder = self.root / "sys/bus/pci/devices/0000:00:1e.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "device").write_text(f"{device}\n")

    def run(self, *words):
        """Run the script as ParallelCluster does; what it said, its exit code, and what it ran."""
        before = len(self.record.read_text("utf-8").splitlines())
        ended = subprocess.run(
            [self.script, *words],
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        ran = self.record.read_text("utf-8").splitlines()[before:]
        return ended.stdout, ended.returncode, ran

    @property
    def config(self):
        """The emitter's settings on this node, without comments."""
        text = (self.root / "etc/neuron-emf/config.toml").read_text("utf-8")
        return re.findall(r"^[a-z].*", text, re.MULTILINE)


@pytest.fixture
def node(repository, tmp_path):
    """A node without a Neuron device."""
    return Node(repository, tmp_path)


def test_a_node_with_devices_gets_a_running_service(node):
    """The bundle is fetched, installed, configured, enabled and started, in this order."""
    node.have_device()
    said, code, ran = node.run(
        "s3://bucket/key.tar.gz", "--cluster", "blue", "--region", "eu-west-1"
    )
    assert 0 == code, said
    fetched, *rest = ran
    assert re.fullmatch(
        r"aws s3 cp --only-show-errors --region eu-west-1 s3://bucket/key\.tar\.gz /\S+", fetched
    )
    assert [
        f"install.sh install into {node.root}",
        "systemctl enable neuron-emf.service",
        "systemctl restart neuron-emf.service",
    ] == rest
    assert ['cluster = "blue"', 'region = "eu-west-1"'] == node.config


def test_the_cluster_need_not_be_named(node):
    """
    The emitter finds the name of the ParallelCluster; a bundle may lie on a shared file system.
    """
    node.have_device()
    said, code, ran = node.run(str(node.bundle))
    assert 0 == code, said
    assert f"install.sh install into {node.root}" == ran[0]
    assert [] == node.config


def test_a_second_run_changes_nothing(node):
    """Also when it is given other settings: what somebody wrote into the file stays."""
    node.have_device()
    node.run(str(node.bundle), "--cluster", "blue", "--log-group", "/mine")
    before = node.config
    said, code, _ = node.run(str(node.bundle), "--cluster", "green", "--log-group", "/other")
    assert 0 == code
    assert ['cluster = "blue"', 'log-group = "/mine"'] == before == node.config
    assert "already has cluster" in said


@pytest.mark.parametrize(
    ("vendor", "device"),
    [("0x1d0f", "0xec20"), ("0x10de", "0x7164"), ("0x8086", "0x1237")],
    ids=["network of Amazon", "another vendor", "another bus"],
)
def test_a_node_without_devices_is_left_alone(vendor, device, node):
    """A head node has devices of Amazon, too: its network and its disks."""
    node.have_on_bus(vendor, device)
    said, code, ran = node.run("s3://bucket/key", "--strict")
    assert (0, []) == (code, ran)
    assert "no Neuron device" in said
    assert ["var"] == sorted(path.name for path in node.root.iterdir() if path.name != "sys")


@pytest.mark.parametrize(
    "device", ["0x7064", "0x7067", "0x7164", "0x7264", "0x7364", "0x7564", "0x7565"]
)
def test_a_device_is_found_before_its_driver_is_loaded(device, node):
    """On the bus, by the ids that the driver has: inf1, trn1, inf2, trn2, trn3."""
    node.have_on_bus("0x1d0f", device)
    _, code, ran = node.run(str(node.bundle))
    assert 0 == code
    assert ran


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "No BUNDLE is given."),
        (["a", "b"], "More than one BUNDLE: b."),
        (["a", "--cluster"], "--cluster needs a value."),
        (["a", "--cluster", 'x"\nlog-group="y'], "letters, digits"),
        (["a", "--fast"], "Unknown option --fast."),
        (["/no/such/file"], "/no/such/file"),
    ],
    ids=["none", "two", "no value", "quote", "option", "no file"],
)
def test_a_failure_is_said_and_costs_no_node(words, expected, node):
    """ParallelCluster terminates a node whose action fails: only --strict asks for that."""
    node.have_device()
    said, code, ran = node.run(*words)
    assert 0 == code
    assert expected in said
    assert "the node works, but its cores are not monitored" in said
    assert not [line for line in ran if line.startswith("systemctl")]
    assert 0 != node.run(*words, "--strict")[1]


@pytest.mark.parametrize("failing", ["aws", "systemctl"])
def test_a_command_that_fails_ends_the_rest(failing, node):
    """Nothing is enabled that was not installed; --strict hands the failure on."""
    node.have_device()
    program(node.programs / failing, RECORDING + "exit 7\n")
    said, code, ran = node.run("s3://bucket/key")
    assert 0 == code
    expected = {
        "aws": "Not installed (exit code 7): the node works, but its cores are not monitored. "
        "See /",
        "systemctl": "Installed, but the service did not start (exit code 7): the node's cores are "
        "not monitored. See journalctl -u neuron-emf.\n",
    }
    assert expected[failing] in said
    assert ("Not installed" in said) == (failing == "aws")
    assert failing == ran[-1].split()[0]
    assert 7 == node.run("s3://bucket/key", "--strict")[1]


def test_all_that_is_said_is_in_the_log(node):
    """For whoever logs in to the node later; ParallelCluster keeps standard output elsewhere."""
    node.have_device()
    said, _, _ = node.run(str(node.bundle))
    assert said == (node.root / "var/log/neuron-emf-install.log").read_text("utf-8")
    assert "running; see systemctl status neuron-emf" in said


@pytest.mark.parametrize(
    ("manager", "only", "expected"),
    [
        ("dnf", "", ["dnf install -y -q python3.11"]),
        ("dnf", "3.12", ["dnf install -y -q python3.12"]),
        ("apt-get", "", ["apt-get update -qq", "apt-get install -y -qq python3-venv"]),
        ("apt-get", "3.12", ["apt-get update -qq", "apt-get install -y -qq python3.12-venv"]),
    ],
)
def test_an_old_python_is_left_and_a_newer_one_brought(manager, only, expected, node):
    """
    Amazon Linux 2023 has 3.9, which must stay; Ubuntu has none that makes environments. Of a
    bundle with packages it is the Python that they are for.
    """
    node.pack(**{"install.sh": INSTALLER, **({"python-version": f"{only}\n"} if only else {})})
    node.have_device()
    other = {"dnf": "apt-get", "apt-get": "dnf"}[manager]
    (node.programs / other).unlink()
    for name in ("python3", *(f"python3.{minor}" for minor in range(10, 15))):
        program(node.programs / name, "#!/bin/sh\nexit 1\n")
    for name in ("basename", "bash", "cat", "cp", "date", "dirname", "grep", "gzip", "mkdir",
                 "mktemp", "rm", "sed", "tar", "tee"):  # fmt: skip
        (node.programs / name).symlink_to(shutil.which(name))
    node.variables["PATH"] = str(node.programs)
    said, code, ran = node.run(str(node.bundle))
    assert 0 == code, said
    assert expected == [line for line in ran if line.startswith(manager)]
    assert any(line.startswith("install.sh") for line in ran)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_python_of_the_bundles_packages_is_brought(node, repository, tmp_path):
    """
    And no other: the real install.sh passes over the 3.13 of the node and takes what was brought.
    """
    node.have_device()
    bundle = small_bundle(repository, tmp_path / "packages" / BUNDLE)
    (bundle / "python-version").write_text("3.12\n", encoding="utf-8")
    with tarfile.open(node.bundle, "w:gz") as archive:
        archive.add(bundle, BUNDLE)
    nodes = tmp_path / "bin"
    nodes.mkdir()
    python_of(nodes / "python3", (3, 13, 1))
    python_of(tmp_path / "brought", (3, 12, 1))
    program(node.programs / "dnf", RECORDING + f"mv {tmp_path}/brought {nodes}/python3.12\n")
    node.variables["PATH"] = f"{nodes}:{node.variables['PATH']}"
    said, code, ran = node.run(str(node.bundle), "--strict")
    assert 0 == code, said
    assert "python3.12" == ran[0].split()[-1]
    assert "no Python 3.12 with venv was found" in said
    assert f"creating /opt/neuron-emf with {nodes}/python3.12\n" in said
    installed = node.root / "opt/neuron-emf/bin/neuron-emf"
    assert installed.read_text("utf-8").startswith("#!/opt/neuron-emf/bin/python")

    asked_next = run_installer(bundle, "python", DESTDIR=str(node.root), **node.variables)
    assert f"{nodes}/python3.12\n" == asked_next.stdout  # the next run brings nothing


def test_the_example_names_what_there_is(repository):
    """Its arguments are those that the script takes; the bundle has this version."""
    text = (repository / "deploy" / "slurm" / "cluster.yaml").read_text("utf-8")
    scheduling = yaml.safe_load(text)["Scheduling"]
    assert "DRAIN" == scheduling["SlurmSettings"]["QueueUpdateStrategy"]  # else it is refused
    (queue,) = scheduling["SlurmQueues"]
    action = queue["CustomActions"]["OnNodeConfigured"]
    assert action["Script"].endswith("/install-neuron-emf.sh")
    bundle, *words = action["Args"]
    assert bundle.endswith(f"/{BUNDLE}.tar.gz")
    script = (repository / "deploy" / "slurm" / "install-neuron-emf.sh").read_text("utf-8")
    assert all(f"{word} |" in script for word in words if word.startswith("--clu"))
    assert ["--region", "us-east-1"] == words
    assert queue["Iam"]["AdditionalIamPolicies"]


def test_the_scripts_have_no_fault_that_shellcheck_knows(repository, deploy_programs):
    """Those of the node, of systemd's folder, and of their tests."""
    scripts = sorted(
        path
        for folder in ("deploy/slurm", "deploy/systemd", "tests/deploy/systemd")
        for path in (repository / folder).glob("*.sh")
    )
    assert len(scripts) >= 5
    run = run_program([deploy_programs / "shellcheck", *scripts])
    assert 0 == run.returncode, run.stdout
