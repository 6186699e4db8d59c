"""
What the wheel carries for a deployment: the template, and the functions in one zip.

Both are named by the SHA-256 of their content, so the same release has the same
names everywhere and an upload can be compared. Knows no AWS.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emitter.errors import SettingsError

TEMPLATE: Final = "template.yaml"
FUNCTIONS: Final = "functions.zip"

_PUBLISHED: Final = re.compile(r"^  AWS::ServerlessRepo::Application:\n(?:    .+\n)+", re.MULTILINE)
_SECTION: Final = re.compile(r"^Parameters:\n((?:(?: .*)?\n)+)", re.MULTILINE)
_NAME: Final = re.compile(r"^  (\w+):$", re.MULTILINE)
_INCLUDED: Final = re.compile(r"^  Fn::Transform: .*\bLocation: (\S+) .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Package:
    """
    One release of the stack.

    Attributes:
        source: The template, one text.

        functions: The zip that all functions run from.
    """

    source: str
    functions: bytes

    @property
    def functions_key(self) -> str:
        """Name of the zip, `<sha256>.zip`."""
        return f"{hashlib.sha256(self.functions).hexdigest()}.zip"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that the template declares, in its order."""
        section = _SECTION.search(self.source)
        return tuple(_NAME.findall(section[1])) if section else ()

    def template(self, code_uri: str) -> str:
        """
        The template with its functions at *code_uri*.

        Without what only publishing reads: whoever packages it would need the files that it names.
        """
        text = _PUBLISHED.sub("", self.source)
        return text.replace(f"CodeUri: {FUNCTIONS}\n", f"CodeUri: {code_uri}\n")

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write template and functions beside each other; where they are."""
        folder.mkdir(parents=True, exist_ok=True)
        template, functions = folder / TEMPLATE, folder / self.functions_key
        functions.write_bytes(self.functions)
        template.write_text(self.template(self.functions_key), encoding="utf-8")
        return template, functions


def read_template(path: Path) -> str:
    """
    The template at *path* as CloudFormation expands it: with the resources that it includes.

    `sam deploy` has AWS::Include do that. A release is one text, so that one upload is all of it.
    """
    text = path.read_text(encoding="utf-8")
    for line in _INCLUDED.finditer(text):
        # but for its first paragraph, which says how it is included
        included = path.with_name(line[1]).read_text(encoding="utf-8").partition("\n\n")[2]
        text = text.replace(line[0], textwrap.indent(included, "  "))
    return text


def template_key(text: str) -> str:
    """Name of a template, `<sha256>.yaml`."""
    return f"{hashlib.sha256(text.encode()).hexdigest()}.yaml"


def carried(folder: Path = Path(__file__).parent) -> Package:
    """
    What this installation carries, beside this module.

    Raises:
        SettingsError: If it carries nothing, as an installation from a clone does.
    """
    try:
        return Package(
            source=(folder / TEMPLATE).read_text(encoding="utf-8"),
            functions=(folder / FUNCTIONS).read_bytes(),
        )
    except FileNotFoundError as error:
        msg = (
            "This installation has no template, because it was made from a clone. Install a wheel "
            "of a release, or deploy in a clone of the repository: sam build && sam deploy."
        )
        raise SettingsError(msg) from error
