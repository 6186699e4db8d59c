"""
Search the pinned packages for known vulnerabilities with pip-audit: `make proof-audit`.

pip-audit exits with 0 even if the vulnerability service did not answer for any package. This
program reports a package without an answer as "not audited". Its exit codes:

* 0  every pinned package was audited, and none has a known vulnerability
* 1  at least one package has a known vulnerability, or pip-audit failed
* 2  pip-audit is not installed
* 3  at least one package was not audited, and the others have no known vulnerability
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from local import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = REPOSITORY / ".venv-tools" / "bin" / "pip-audit"
AUDIT_OPTIONS = (
    "--disable-pip",  # the pins are complete, so pip need not resolve them
    "--require-hashes",
    "--progress-spinner=off",
    "--format=json",
)


class Audited(NamedTuple):
    """
    The result of the audit of one file of pins.

    Attributes:
        packages: Number of pinned packages.

        unanswered: Names of packages for which the vulnerability service did not answer.

        known: `package version: id, id` for each package with a known vulnerability.
    """

    packages: int
    unanswered: list[str]
    known: list[str]


def read_answer(answer: str) -> Audited:
    """
    Parse the JSON of pip-audit.

    Raises:
        ValueError: *answer* is not JSON, or has no package.

        KeyError: *answer* is not in the form of pip-audit.
    """
    dependencies = json.loads(answer)["dependencies"]
    if not dependencies:
        msg = "The file has no pinned package."
        raise ValueError(msg)
    unanswered = [package["name"] for package in dependencies if "vulns" not in package]
    vulnerable = [package for package in dependencies if package.get("vulns")]
    known = [
        f"{package['name']} {package['version']}: {_ids(package['vulns'])}"
        for package in vulnerable
    ]
    return Audited(len(dependencies), unanswered, known)


def _ids(vulnerabilities: list[dict[str, str]]) -> str:
    """Return the sorted, comma-separated IDs of *vulnerabilities*."""
    return ", ".join(sorted(vulnerability["id"] for vulnerability in vulnerabilities))


def verdict(audited: Audited) -> int:
    """Return the exit code for the audit of one file."""
    if audited.known:
        return 1
    return 3 if audited.unanswered else 0


def audit(path: Path) -> int:
    """Audit the pins in the file *path*, print the result and return the exit code."""
    command = [str(PROGRAM), "--requirement", str(path), *AUDIT_OPTIONS]
    run = subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)
    try:
        audited = read_answer(run.stdout)
    except (ValueError, KeyError) as error:
        msg = f"pip-audit failed for {path}: {run.stderr.strip() or error}"
        raise SystemExit(msg) from error
    sys.stdout.write(
        f"{path.relative_to(REPOSITORY)}: {audited.packages} packages,"
        f" {len(audited.unanswered)} not audited, {len(audited.known)} with known vulnerabilities\n"
    )
    sys.stderr.writelines(f"{path}: {known}\n" for known in audited.known)
    return verdict(audited)


def main() -> int:
    """Audit every file of pins and return the exit code."""
    if not PROGRAM.exists():
        sys.stderr.write(f"{PROGRAM} was not found. Run make venvs, which installs it.\n")
        return 2
    pins = [
        *(REPOSITORY / "requirements").glob("*.txt"),
        REPOSITORY / "lambda" / "requirements.txt",
    ]
    codes = {audit(path) for path in sorted(pins)}
    if 3 in codes:
        sys.stderr.write(
            "Packages were not audited, because the vulnerability service did not answer."
            " Run make proof-audit again.\n"
        )
    return 1 if 1 in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main())
