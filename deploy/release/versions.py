"""
The version of a release, in every place that says it.

    python deploy/release/versions.py               print it, or what disagrees
    python deploy/release/versions.py --tag v1.2.3  and the tag must say it
    python deploy/release/versions.py --set 1.2.3   write it everywhere, and cut the changelog

`emitter/neuron_emitter/__init__.py` is its home. The other places repeat it because other tools
read them, or people copy them.
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
"""An image, a bundle, a tag of the chart's values, the chart itself."""

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
    """The version of this tree."""
    match = _VERSION_LINE.search((root / VERSION_FILE).read_text("utf-8"))
    if match is None:
        sys.exit(f'{VERSION_FILE} has no line __version__: Final = "1.2.3". Write one.')
    return match[0]


def repeated(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file that repeats the version, once per repetition, with the repeated version."""
    for pattern in _FILES_WITH_VERSION:
        for path in sorted(path for path in root.glob(pattern) if path.is_file()):
            for said in _REPEATED.findall(path.read_text("utf-8")):
                yield path, said


def faults(root: Path, tag: str = "") -> list[str]:
    """Return a sentence for each place that disagrees with the version of *root*."""
    expected = version(root)
    wrong = [
        f"{path.relative_to(root)} says {said}, not {expected}."
        " Write it everywhere by versions.py --set."
        for path, said in repeated(root)
        if said != expected
    ]
    if tag and tag != f"v{expected}":
        wrong.append(
            f"The tag is {tag}, not v{expected}. Tag v{expected}, or change {VERSION_FILE}."
        )
    if tag and not notes(root, expected):
        wrong.append(f"{CHANGELOG} has no section {expected}. Cut one by versions.py --set.")
    return wrong


def notes(root: Path, expected: str) -> str:
    """Return the changelog's section about a release, or an empty string if it has none."""
    text = (root / CHANGELOG).read_text("utf-8")
    section = re.search(
        rf"^## {re.escape(expected)} [^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return f"{section[1].strip()}\n" if section else ""


def set_version(root: Path, wanted: str) -> None:
    """Write *wanted* everywhere; what was unreleased is now released today."""
    home = root / VERSION_FILE
    home.write_text(_VERSION_LINE.sub(wanted, home.read_text("utf-8")), "utf-8")
    for path in dict.fromkeys(path for path, _ in repeated(root)):
        path.write_text(_REPEATED.sub(wanted, path.read_text("utf-8")), "utf-8")
    changelog = root / CHANGELOG
    today = datetime.now(tz=timezone.utc).date().isoformat()
    released = f"{_UNRELEASED}\n## {wanted} ({today})\n"
    changelog.write_text(changelog.read_text("utf-8").replace(_UNRELEASED, released, 1), "utf-8")


def main() -> None:
    """Print the version; exit 1 with what is wrong."""
    parser = argparse.ArgumentParser("versions.py", description="The version of a release.")
    parser.add_argument("--tag", default="", help="the tag that is released, such as v1.2.3")
    parser.add_argument("--set", default="", help="the version to write everywhere, such as 1.2.3")
    given = parser.parse_args()
    if given.set:
        if not re.fullmatch(_VERSION_NUMBER, given.set):
            parser.error(f"--set is {given.set!a}. Write three numbers, such as 1.2.3.")
        set_version(CLONE, given.set)
    if wrong := faults(CLONE, given.tag):
        sys.exit("\n".join(wrong))
    sys.stdout.write(f"{version()}\n")


if __name__ == "__main__":
    main()
