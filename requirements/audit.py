"""
Known vulnerabilities of what is pinned, by pip-audit: `make proof-audit`.

pip-audit exits with 0 even if the vulnerability service answered for no package. Here a
package without an answer is "not audited", and the exit code is not 0:

* 0  every package of every file of pins was asked about, and nothing is known
* 1  something is known
* 2  pip-audit is not installed
* 3  the vulnerability service could not be reached for at least one package
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
    "--disable-pip",  # nothing is resolved: the pins are complete
    "--require-hashes",
    "--progress-spinner=off",
    "--format=json",
)


class Audited(NamedTuple):
    """
    The audit of one file of pins.

    Attributes:
        packages: The number of pinned packages.

        unanswered: Names of packages for which the service did not answer.

        known: "package release: id, id" of each package with a known vulnerability.
    """

    packages: int
    unanswered: list[str]
    known: list[str]


def read_answer(answer: str) -> Audited:
    """
    Parse the JSON of pip-audit.

    Raises:
        ValueError: If *answer* is not the JSON of pip-audit, or names no package.
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


def verdict(found: Audited) -> int:
    """Return the exit code for one file."""
    if found.known:
        return 1
    return 3 if found.unanswered else 0


def audit(path: Path) -> int:
    """Audit one file of pins and print what was found; returns its exit code."""
    command = [str(PROGRAM), "--requirement", str(path), *AUDIT_OPTIONS]
    run = subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)
    try:
        found = read_answer(run.stdout)
    except (ValueError, KeyError) as error:
        msg = f"pip-audit gave no answer for {path}: {run.stderr.strip() or error}"
        raise SystemExit(msg) from error
    sys.stdout.write(
        f"{path.relative_to(REPOSITORY)}: {found.packages} packages,"
        f" {len(found.unanswered)} not audited, {len(found.known)} with known vulnerabilities\n"
    )
    sys.stderr.writelines(f"{path}: {known}\n" for known in found.known)
    return verdict(found)


def main() -> int:
    """Audit every file of pins."""
    if not PROGRAM.exists():
        sys.stderr.write(f"{PROGRAM} is missing: run make venvs, which installs it\n")
        return 2
    pins = [
        *(REPOSITORY / "requirements").glob("*.txt"),
        REPOSITORY / "lambda" / "requirements.txt",
    ]
    codes = {audit(path) for path in sorted(pins)}
    if 3 in codes:
        sys.stderr.write("Not audited: the vulnerability service did not answer for it.\n")
    return 1 if 1 in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main())
