"""The install script of ParallelCluster on a node, in a temporary root with recorded commands."""

from __future__ import annotations

import os
import re
import tarfile

import pytest

import neuron_emitter
from tests.programs import run_program

BUNDLE = f"neuron-emf-{neuron_emitter.__version__}"
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
    """Write an executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


class Node:
    """A node of a cluster: its root, its commands, and a record of them."""

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
        program(folder / "install.sh", INSTALLER)
        with tarfile.open(self.bundle, "w:gz") as archive:
            archive.add(folder / "install.sh", f"{BUNDLE}/install.sh")
        self.variables = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "NEURON_EMF_ROOT": str(self.root),
            "RECORD": str(self.record),
            "BUNDLE_AT": str(self.bundle),
            "CONFIG": str(repository / "deploy" / "systemd" / "config.toml"),
        }

    def have_device(self):
        """Add a device of the driver."""
        (self.root / "dev").mkdir()
        (self.root / "dev" / "neuron0").touch()

    def have_on_bus(self, vendor, device):
        """Add a device of the PCI bus."""
        folder = self.root / "sys/bus/pci/devices/0000:00:1e.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "device").write_text(f"{device}\n")

    def run(self, *words):
        """Run the script as ParallelCluster does; return its output, exit code and commands."""
        before = len(self.record.read_text("utf-8").splitlines())
        ended = run_program([self.script, *words], env=self.variables)
        ran = self.record.read_text("utf-8").splitlines()[before:]
        return ended.stdout + ended.stderr, ended.returncode, ran

    @property
    def config(self):
        """Return the emitter's settings on this node, without comments."""
        text = (self.root / "etc/neuron-emf/config.toml").read_text("utf-8")
        return re.findall(r"^[a-z].*", text, re.MULTILINE)


@pytest.fixture
def node(repository, tmp_path):
    """Return a node without a Neuron device."""
    return Node(repository, tmp_path)


def test_a_node_with_devices_gets_a_running_service(node):
    """
    The bundle is fetched, installed, configured, enabled and started, in this order. Its lines
    define no metric, because the stack has them.
    """
    node.have_device()
    output, code, ran = node.run(
        "s3://bucket/key.tar.gz", "--cluster", "blue", "--region", "eu-west-1"
    )
    assert 0 == code, output
    fetched, *rest = ran
    assert re.fullmatch(
        r"aws s3 cp --only-show-errors --region eu-west-1 s3://bucket/key\.tar\.gz /\S+", fetched
    )
    assert [
        f"install.sh install into {node.root}",
        "systemctl enable neuron-emf.service",
        "systemctl restart neuron-emf.service",
    ] == rest
    assert ['cluster = "blue"', 'region = "eu-west-1"', 'metrics = "none"'] == node.config


AMAZON = "0x1d0f"


@pytest.mark.parametrize(
    ("vendor", "device", "is_neuron"),
    [
        *(
            (AMAZON, device, True)
            for device in ("0x7064", "0x7067", "0x7164", "0x7264", "0x7364", "0x7564", "0x7565")
        ),
        (AMAZON, "0xec20", False),
        ("0x10de", "0x7164", False),
        ("0x8086", "0x1237", False),
    ],
)
def test_a_node_is_chosen_by_its_pci_devices(vendor, device, is_neuron, node):
    """
    PCI devices decide whether a node is a Neuron node, before the driver is loaded; a head node has
    only Amazon's network and disks.
    """
    node.have_on_bus(vendor, device)
    output, code, ran = node.run(str(node.bundle), "--strict")
    assert 0 == code
    assert is_neuron == bool(ran)
    if not is_neuron:
        assert "no Neuron device" in output
        assert {"sys", "var"} == {path.name for path in node.root.iterdir()}


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
def test_a_failure_is_logged_and_costs_no_node(words, expected, node):
    """
    A failure is logged and succeeds, because ParallelCluster terminates a node whose action fails;
    only --strict fails.
    """
    node.have_device()
    output, code, ran = node.run(*words)
    assert 0 == code
    assert expected in output
    assert "the node works, but its cores are not monitored" in output
    assert not [line for line in ran if line.startswith("systemctl")]
    assert 0 != node.run(*words, "--strict")[1]


def test_the_scripts_have_no_fault_that_shellcheck_knows(repository, deploy_programs):
    """shellcheck finds no fault in scripts of the node, of the systemd folder and of the proofs."""
    scripts = sorted(
        path
        for folder in ("deploy/slurm", "deploy/systemd", "proof/real")
        for path in (repository / folder).glob("*.sh")
    )
    assert len(scripts) >= 5
    run = run_program([deploy_programs / "shellcheck", *scripts])
    assert 0 == run.returncode, run.stdout
