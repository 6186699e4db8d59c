"""
Write the files of the wheel for `neuron-emf deploy`: the functions in one zip, and both templates.

    python deploy/wheel/carried.py FOLDER

The same commit gives the same bytes on every machine: the zip has its files in the order of their
names, with a fixed time and fixed permissions, and without bytecode.
"""

from __future__ import annotations

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
BUILT_FUNCTION: Final = "IngestFunction"  # all functions have the same artefact
_TIME: Final = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can have
_PERMISSIONS: Final = 0o100644 << 16  # every user may read the file, so Lambda's user may
_UNIX: Final = 3  # system that the permissions belong to, in the numbers of the zip format

_ARCHITECTURE: Final = re.compile(
    r"^  Architecture:\n(?:    .+\n)+\n|(?<=[\[ ])Architecture, |, Architecture(?=])", re.MULTILINE
)
_CODE_URI: Final = (
    "    CodeUri: lambda/\n"  # in Globals, where `aws cloudformation package` does not replace it
)
_FUNCTION_HEAD: Final = re.compile(
    r"^    Type: AWS::Serverless::Function\n(?:.+\n)*?    Properties:\n", re.MULTILINE
)
REPOSITORY_ADDRESS: Final = re.search(  # type: ignore[index]
    r'^Repository = "([^"]+)"', (CLONE / "pyproject.toml").read_text("utf-8"), re.MULTILINE
)[1]
"""The address of the repository. Templates repeat it in the links to their runbook."""

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


def build_functions(folder: Path) -> Path:
    """Build lambda/ in *folder* as `sam build` does, and return the folder of the artefact."""
    target = folder / "artefact"
    words = ["make", "--silent", f"build-{BUILT_FUNCTION}", f"ARTIFACTS_DIR={target}"]
    words.append(f"PYTHON={sys.executable}")
    subprocess.run(words, cwd=CLONE / "lambda", check=True)  # noqa: S603 - words of this program
    return target


def write_zip(source: Path, target: Path) -> None:
    """Write the files of *source*, except bytecode, to the zip *target*, reproducibly."""
    names = sorted(
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    )
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system = _UNIX
            entry.external_attr = _PERMISSIONS
            # Stored, because releases of zlib compress to different bytes.
            entry.compress_type = zipfile.ZIP_STORED
            archive.writestr(entry, (source / name).read_bytes())


def release_template(path: Path) -> str:
    """
    Return the template of a release, made from the clone's template at *path*, without includes.

    The Serverless Application Repository accepts this template too. It requires metadata, and a
    processor architecture that is not a parameter: the functions run on both architectures. The
    zip of the functions, LICENSE and README.md must be in the folder of the template.
    """
    text = _ARCHITECTURE.sub("", read_template(path)).replace("[!Ref Architecture]", "[arm64]")
    text = _FUNCTION_HEAD.sub(
        rf"\g<0>      CodeUri: {FUNCTIONS_NAME}\n", text.replace(_CODE_URI, "")
    )
    return with_public_pages(text.replace("\nMetadata:\n", f"\nMetadata:\n{_APPLICATION}", 1))


def with_public_pages(text: str) -> str:
    """Return *text* with its runbook links at the release's tag instead of the branch main."""
    return text.replace(_PAGE_ADDRESS, f"{REPOSITORY_ADDRESS}/blob/v{__version__}/docs/")


def main() -> None:
    """Write the zip of the functions and both templates to the folder in the first argument."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        write_zip(build_functions(Path(temporary)), folder / FUNCTIONS_NAME)
    (folder / TEMPLATE_NAME).write_text(release_template(CLONE / TEMPLATE_NAME), encoding="utf-8")
    emitters = with_public_pages((CLONE / EMITTERS).read_text(encoding="utf-8"))
    (folder / EMITTERS).write_text(emitters, encoding="utf-8")


if __name__ == "__main__":
    main()
