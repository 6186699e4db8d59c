"""
Known vulnerabilities of what is pinned, by pip-audit: `python -m proof.audit`.

pip-audit calls an audit clean in which nobody answered for a single package.
Here a package that nobody answered for is "not audited", and that is no 0:

* 0  every package of every file of pins was asked about, and nothing is known
* 1  something is known
* 3  the vulnerability service could not be reached for at least one package
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure import terminal

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".venv-tools" / "bin" / "pip-audit"
OPTIONS = (
    "--disable-pip",  # nothing is resolved: the pins are complete
    "--require-hashes",
    "--progress-spinner=off",
    "--format=json",
)
HEADS = ("pins", "packages", "not audited", "with known vulnerabilities")


@dataclass(frozen=True)
class Audited:
    """
    One file of pins.

    Attributes:
        file: Its name, from the repository's root.

        packages: How many packages it pins.

        unanswered: Names of those that nobody answered for.

        known: "package release: id, id" of each that has a known vulnerability.
    """

    file: str
    packages: int
    unanswered: tuple[str, ...]
    known: tuple[str, ...]

    @classmethod
    def of(cls, file: str, answer: str) -> Audited:
        """
        What pip-audit's JSON says.

        Raises:
            ValueError: If it is no such JSON, or names no package.
        """
        dependencies = json.loads(answer)["dependencies"]
        if not dependencies:
            msg = f"pip-audit found no package in {file}, expected its pins"
            raise ValueError(msg)
        return cls(
            file,
            len(dependencies),
            tuple(one["name"] for one in dependencies if "vulns" not in one),
            tuple(
                f"{one['name']} {one['version']}: {', '.join(sorted(ids))}"
                for one in dependencies
                if (ids := [known["id"] for known in one.get("vulns", [])])
            ),
        )

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Of the table."""
        counts = (self.packages, len(self.unanswered), len(self.known))
        return (self.file, *map(str, counts))


def verdict(found: list[Audited]) -> int:
    """The exit code."""
    if any(one.known for one in found):
        return 1
    return 3 if any(one.unanswered for one in found) else 0


def pins() -> list[str]:
    """Every file of pins there is."""
    paths = [*(ROOT / "requirements").glob("*.txt"), ROOT / "lambda" / "requirements.txt"]
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def ask(file: str) -> Audited:
    """Audit one file."""
    run = subprocess.run(
        [PROGRAM, "--requirement", file, *OPTIONS],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    try:
        return Audited.of(file, run.stdout)
    except (ValueError, KeyError) as error:
        msg = f"pip-audit gave no answer for {file}: {run.stderr.strip() or error}"
        raise SystemExit(msg) from error


def main(arguments: list[str]) -> int:
    """Audit, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m proof.audit", description=__doc__)
    parser.parse_args(arguments)
    if not PROGRAM.exists():
        sys.stderr.write(f"{PROGRAM} is missing: run make venvs, which installs it\n")
        return 2
    audits = [ask(file) for file in pins()]
    rows = [one.row for one in audits]
    # Printed and not kept: what is known of a release changes by the day.
    sys.stdout.write(f"{terminal(HEADS, rows)}\n")
    for one in audits:
        for known in one.known:
            sys.stderr.write(f"{one.file}: {known}\n")
    unanswered = {name for one in audits for name in one.unanswered}
    if unanswered:
        sys.stderr.write(
            f"not audited: nobody answered for {len(unanswered)} packages; run it where the "
            "vulnerability service of the Python Package Index can be reached\n"
        )
    return verdict(audits)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
