"""bundle.sh: what installs the service without a clone."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from installer import run_installer

import emitter
from tests.programs import run_program

pytestmark = [pytest.mark.proof]


@pytest.fixture(scope="module")
def bundle(repository, tmp_path_factory):
    """What bundle.sh packs, unpacked elsewhere."""
    folder = tmp_path_factory.mktemp("bundle")
    run = run_program(
        [repository / "deploy" / "systemd" / "bundle.sh", "--wheels"],
        env={**os.environ, "OUT": str(folder), "PYTHON": sys.executable},
    )
    assert 0 == run.returncode, run.stderr
    subprocess.run(["tar", "-xzf", run.stdout.strip(), "-C", folder], check=True)
    return folder / f"neuron-emf-{emitter.__version__}"


def test_a_bundle_needs_neither_a_clone_nor_a_package_index(bundle, tmp_path):
    """
    By its own files alone, under another prefix, with the settings that were given; what somebody
    configured stays.

    Of the packages one stands for all: an installation of every pin is what `installed` is.
    """
    root = tmp_path / "root"
    minor = "{}.{}".format(*sys.version_info)
    assert f"{minor}\n" == (bundle / "python-version").read_text("utf-8")
    pins = bundle / "requirements.txt"
    pins.write_text(re.search(r"(?m)^msgspec==.*(?:\n +.*)*", pins.read_text("utf-8"))[0])
    variables = {
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
    run = run_installer(bundle, "install", **variables)
    assert 0 == run.returncode, run.stderr
    assert "[Service]\nNice=0\n" == options.read_text()
    unit = (root / "etc/systemd/system/neuron-emf.service").read_text("utf-8")
    assert "ExecStart=/srv/emf/bin/neuron-emf run\n" in unit
    config = root / "etc/neuron-emf/config.toml"
    assert '\ncluster = "blue"\n' in config.read_text("utf-8")
    assert '\nregion = "eu-west-1"\n' in config.read_text("utf-8")

    packages = "import emitter, msgspec, neuron_emf, neuron_wire"
    ended = subprocess.run([root / "srv/emf/bin/python", "-c", packages], check=False)
    assert 0 == ended.returncode
    assert ["emf"] == [path.name for path in (root / "srv").iterdir()]
