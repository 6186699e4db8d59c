"""Which Python install.sh takes, and what it says where there is none."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.programs import run_program

pytestmark = [pytest.mark.slow]


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
    """Amazon Linux 2023 has 3.9, Ubuntu none with venv: the command differs, nothing is made."""
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
        run = run_program(["bash", str(tmp_path / "install.sh"), "install"], env=given)
        assert run.returncode
        if only:
            expected = re.sub(r"(ython ?)3(\.1\d)?( or later)?", rf"\g<1>{only}", expected)
        assert expected in run.stderr
        assert 1 == len(run.stderr.splitlines())
    assert not root.exists()
