"""
What a wheel carries for `neuron-emf deploy`: the functions in one zip, and both templates.

    python deploy/wheel/carried.py FOLDER

Every file in the order of its name, with a fixed time and fixed rights, and no
bytecode: the same commit gives the same bytes on every machine.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from neuron_emf.deploy.package import EMITTERS, FUNCTIONS_NAME, TEMPLATE_NAME, read_template
from neuron_emitter import __version__

CLONE: Final = Path(__file__).resolve().parents[2]
BUILT_FUNCTION: Final = "IngestFunction"  # all functions have one artefact
_TIME: Final = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say
_RIGHTS: Final = 0o100644 << 16  # a file that everybody may read: Lambda's user is none of ours
_UNIX: Final = 3

_ARCHITECTURE: Final = re.compile(
    r"^  Architecture:\n(?:    .+\n)+\n|(?<=[\[ ])Architecture, |, Architecture(?=])", re.MULTILINE
)
_CODE_URI: Final = "    CodeUri: lambda/\n"  # of Globals, which the AWS CLI does not package
_FUNCTION_HEAD: Final = re.compile(
    r"^    Type: AWS::Serverless::Function\n(?:.+\n)*?    Properties:\n", re.MULTILINE
)
REPOSITORY_ADDRESS: Final = re.search(  # type: ignore[index]
    r'^Repository = "([^"]+)"', (CLONE / "pyproject.toml").read_text("utf-8"), re.MULTILINE
)[1]
"""The repository's address; templates name it too, in the links to their runbook."""

_PAGE_ADDRESS: Final = f"{REPOSITORY_ADDRESS}/blob/main/docs/"
_APPLICATION: Final = f"""\
  AWS::ServerlessRepo::Application:
    Name: neuron-emf
    Description: >-
      Which AWS Inferentia and Trainium cores sit idle, who owns them, since when, and what they
      cost, in Amazon CloudWatch.
    Author: neuron-emf
    SpdxLicenseId: Apache-2.0
    LicenseUrl: LICENSE
    ReadmeUrl: README.md
    Labels: [cloudwatch, emf, idle, inferentia, neuron, trainium]
    HomePageUrl: {REPOSITORY_ADDRESS}
    SemanticVersion: {__version__}
    SourceCodeUrl: {REPOSITORY_ADDRESS}/tree/v{__version__}
"""


def built(folder: Path) -> Path:
    """Build lambda/ in *folder* as `sam build` does."""
    target = folder / "artefact"
    words = ["make", "--silent", f"build-{BUILT_FUNCTION}", f"ARTIFACTS_DIR={target}"]
    subprocess.run(  # noqa: S603 - our own words
        [*words, f"PYTHON={sys.executable}"], cwd=CLONE / "lambda", check=True, env={**os.environ}
    )
    return target


def write_zip(source: Path, target: Path) -> None:
    """Every file of *source* but bytecode, in one zip of always the same bytes."""
    names = sorted(
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    )
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system, entry.external_attr = _UNIX, _RIGHTS
            # Stored: what compresses differs from one zlib to the next.
            entry.compress_type = zipfile.ZIP_STORED
            archive.writestr(entry, (source / name).read_bytes())


def release_template(path: Path) -> str:
    """
    Return the template of a release from the clone's at *path*: one text without includes.

    The Serverless Application Repository accepts it too. The repository requires metadata, and no
    processor from a parameter; the functions run on either. The zip of the functions and the two
    files that the template names belong in its folder.
    """
    text = _ARCHITECTURE.sub("", read_template(path)).replace("[!Ref Architecture]", "[arm64]")
    text = _FUNCTION_HEAD.sub(
        rf"\g<0>      CodeUri: {FUNCTIONS_NAME}\n", text.replace(_CODE_URI, "")
    )
    return with_public_pages(text.replace("\nMetadata:\n", f"\nMetadata:\n{_APPLICATION}", 1))


def with_public_pages(text: str) -> str:
    """Return *text* with runbooks at the release's tag; those of a clone are at its branch."""
    return text.replace(_PAGE_ADDRESS, f"{REPOSITORY_ADDRESS}/blob/v{__version__}/docs/")


def main() -> None:
    """Write them to the folder that is named."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        write_zip(built(Path(temporary)), folder / FUNCTIONS_NAME)
    (folder / TEMPLATE_NAME).write_text(release_template(CLONE / TEMPLATE_NAME), encoding="utf-8")
    emitters = with_public_pages((CLONE / EMITTERS).read_text(encoding="utf-8"))
    (folder / EMITTERS).write_text(emitters, encoding="utf-8")


if __name__ == "__main__":
    main()
