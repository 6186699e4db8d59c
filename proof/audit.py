"""
Known vulnerabilities of what is pinned, by pip-audit: `python -m proof.audit`.

pip-audit calls an audit clean in which nobody answered for a single package.
Here a package that nobody answered for is "not audited", and that is no 0:

* 0  every package of every file of pins was asked about, and nothing is known
* 1  something is known
* 2  pip-audit is not installed
* 3  the vulnerability service could not be reached for at least one package
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".venv-tools" / "bin" / "pip-audit"
OPTIONS = (
    "--disable-pip",  # nothing is resolved: the pins are complete
    "--require-hashes",
    "--progress-spinner=off",
    "--format=json",
)


class Audited(NamedTuple):
    """
    One file of pins.

    Attributes:
        packages: How many packages it pins.

        unanswered: Names of those that nobody answered for.

        known: "package release: id, id" of each that has a known vulnerability.
    """

    packages: int
    unanswered: list[str]
    known: list[str]


def read_answer(answer: str) -> Audited:
    """
    What pip-audit's JSON says.

    Raises:
        ValueError: If it is no such JSON, or names no package.
    """
    dependencies = json.loads(answer)["dependencies"]
    if not dependencies:
        msg = "pip-audit found no package, expected pins"
        raise ValueError(msg)
    unanswered = [found["name"] for found in dependencies if "vulns" not in found]
    known = [
        f"{found['name']} {found['version']}: {', '.join(sorted(row['id'] for row in rows))}"
        for found in dependencies
        if (rows := found.get("vulns"))
    ]
    return Audited(len(dependencies), unanswered, known)


def verdict(audits: Collection[Audited]) -> int:
    """The exit code."""
    if any(audit.known for audit in audits):
        return 1
    return 3 if any(audit.unanswered for audit in audits) else 0


def pins() -> list[str]:
    """Every file of pins there is."""
    paths = [*(ROOT / "requirements").glob("*.txt"), ROOT / "lambda" / "requirements.txt"]
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def ask(file: str) -> Audited:
    """Audit one file."""
    command = [PROGRAM, "--requirement", file, *OPTIONS]
    run = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    try:
        return read_answer(run.stdout)
    except (ValueError, KeyError) as error:
        msg = f"pip-audit gave no answer for {file}: {run.stderr.strip() or error}"
        raise SystemExit(msg) from error


def main() -> int:
    """Audit, print, judge."""
    if not PROGRAM.exists():
        sys.stderr.write(f"{PROGRAM} is missing: run make venvs, which installs it\n")
        return 2
    audits = {file: ask(file) for file in pins()}
    for file, found in audits.items():
        sys.stdout.write(
            f"{file}: {found.packages} packages, {len(found.unanswered)} not audited,"
            f" {len(found.known)} with known vulnerabilities\n"
        )
        sys.stderr.writelines(f"{file}: {known}\n" for known in found.known)
    if any(found.unanswered for found in audits.values()):
        sys.stderr.write("Not audited: the vulnerability service did not answer for it.\n")
    return verdict(audits.values())


if __name__ == "__main__":
    sys.exit(main())
