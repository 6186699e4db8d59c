"""
The Containerfile as instructions, so that tests can look at them and carry them out.

Knows comments, continued lines, ARG and ENV with values, and stages by name: what the
file uses, not all that there is.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
CONTAINERFILE = ROOT / "deploy" / "container" / "Containerfile"


@dataclass(frozen=True)
class Instruction:
    """One instruction; continued lines are joined by a space."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The arguments, of which flags are those that begin with two hyphens."""
        return json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)

    @property
    def flags(self) -> dict[str, str]:
        """Such as `from` of COPY --from=..."""
        given = [word[2:].partition("=") for word in self.words if word.startswith("--")]
        return {name: value for name, _, value in given}

    @property
    def operands(self) -> list[str]:
        """The arguments that are no flags."""
        return [word for word in self.words if not word.startswith("--")]


@dataclass
class Stage:
    """From one FROM to the next."""

    name: str
    base: str
    instructions: list[Instruction] = field(default_factory=list)

    def all(self, name: str) -> list[Instruction]:
        """The instructions of one kind, in order."""
        return [one for one in self.instructions if one.name == name]

    def values(self, name: str) -> dict[str, Any]:
        """What ARG or ENV sets."""
        pairs = [word.partition("=") for one in self.all(name) for word in shlex.split(one.text)]
        return {key: value for key, _, value in pairs}


def instructions_of(text: str) -> list[Instruction]:
    """All instructions of a Containerfile."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    return [Instruction(name, rest.strip()) for name, rest in found]


def stages_of(text: str) -> tuple[dict[str, str], list[Stage]]:
    """The arguments before the first FROM, and the stages; the last is what is delivered."""
    before = Stage("", "")
    stages: list[Stage] = []
    for one in instructions_of(text):
        if one.name == "FROM":
            words = one.words
            stages.append(Stage(words[2] if "AS" in words else "", words[0]))
        else:
            (stages[-1] if stages else before).instructions.append(one)
    return before.values("ARG"), stages


ARGUMENTS, STAGES = stages_of(CONTAINERFILE.read_text(encoding="utf-8"))
EMITTER, TOOLS, DELIVERED = STAGES
