"""
Print, compare or set the version of a release in every file that has it.

    python deploy/release/versions.py               print the version if all files agree
    python deploy/release/versions.py --tag v1.2.3  also compare the tag and the changelog
    python deploy/release/versions.py --set 1.2.3   write the version to all files and the changelog

`emitter/neuron_emitter/__init__.py` defines the version. Other files repeat it because other tools
read them, or because people copy them.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

CLONE: Final = Path(__file__).resolve().parents[2]
VERSION_FILE: Final = "emitter/neuron_emitter/__init__.py"
CHANGELOG: Final = "CHANGELOG.md"
_VERSION_NUMBER: Final = r"[0-9]+\.[0-9]+\.[0-9]+"
_VERSION_LINE: Final = re.compile(
    rf'(?<=^__version__: Final = "){_VERSION_NUMBER}(?="$)', re.MULTILINE
)
_REPEATED: Final = re.compile(
    r"(?:(?<=neuron-emf[:-])|(?<=^  tag: )|(?<=^version: )|(?<=^appVersion: \")"
    r"|(?<=kubernetes\.io/version: \"))"
    rf"{_VERSION_NUMBER}\b",
    re.MULTILINE,
)
"""The version of an image, of a bundle, of the image in the chart's values, or of the chart."""

_FILES_WITH_VERSION: Final = (
    "*.yaml",
    "deploy/**/*.yaml",
    "deploy/**/*.json",
    "deploy/**/*.py",
    "deploy/**/*.tf",
    "CONTRIBUTING.md",
    "docs/how-to/*.md",
    "docs/reference/*.md",
    "tests/aggregator/explain/*.py",
    "tests/data/messages/**/*",
)
_UNRELEASED: Final = "## Unreleased\n"


def version(root: Path = CLONE) -> str:
    """Return the version of the tree *root*; exit if its file does not define one."""
    match = _VERSION_LINE.search((root / VERSION_FILE).read_text("utf-8"))
    if match is None:
        sys.exit(f'{VERSION_FILE} has no line __version__: Final = "1.2.3". Add the line.')
    return match[0]


def repeated(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and the repeated version, once per repetition in the files of *root*."""
    for pattern in _FILES_WITH_VERSION:
        for path in sorted(path for path in root.glob(pattern) if path.is_file()):
            for number in _REPEATED.findall(path.read_text("utf-8")):
                yield path, number


def faults(root: Path, tag: str = "") -> list[str]:
    """Return a message for each repeated version, and for *tag*, that is not *root*'s version."""
    expected = version(root)
    wrong = [
        f"{path.relative_to(root)} has version {number}, expected {expected}."
        f" Correct the file, or {VERSION_FILE}."
        for path, number in repeated(root)
        if number != expected
    ]
    if tag and tag != f"v{expected}":
        wrong.append(
            f"The tag is {tag}, expected v{expected}."
            f" Tag v{expected}, or run versions.py --set with the version of the tag."
        )
    if tag and not notes(root, expected):
        wrong.append(f"{CHANGELOG} has no section {expected}. Run versions.py --set {expected}.")
    return wrong


def notes(root: Path, expected: str) -> str:
    """Return the changelog's section about release *expected*, or an empty string without one."""
    text = (root / CHANGELOG).read_text("utf-8")
    section = re.search(
        rf"^## {re.escape(expected)} [^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return f"{section[1].strip()}\n" if section else ""


def set_version(root: Path, wanted: str) -> None:
    """Write version *wanted* to all files of *root*, and date the changelog's unreleased part."""
    home = root / VERSION_FILE
    home.write_text(_VERSION_LINE.sub(wanted, home.read_text("utf-8")), "utf-8")
    for path in dict.fromkeys(path for path, _ in repeated(root)):
        path.write_text(_REPEATED.sub(wanted, path.read_text("utf-8")), "utf-8")
    changelog = root / CHANGELOG
    today = datetime.now(tz=timezone.utc).date().isoformat()
    released = f"{_UNRELEASED}\n## {wanted} ({today})\n"
    changelog.write_text(changelog.read_text("utf-8").replace(_UNRELEASED, released, 1), "utf-8")


def main() -> None:
    """Print the version; exit with 1 and a message for each disagreement."""
    parser = argparse.ArgumentParser(
        "versions.py", description="Print, compare or set the version of a release."
    )
    parser.add_argument("--tag", default="", help="tag of the release to compare, such as v1.2.3")
    parser.add_argument("--set", default="", help="version to write to all files, such as 1.2.3")
    options = parser.parse_args()
    if options.set:
        if not re.fullmatch(_VERSION_NUMBER, options.set):
            parser.error(
                f"--set {options.set!a} is not a version. Use three numbers, such as 1.2.3."
            )
        set_version(CLONE, options.set)
    if wrong := faults(CLONE, options.tag):
        sys.exit("\n".join(wrong))
    sys.stdout.write(f"{version()}\n")


if __name__ == "__main__":
    main()
