"""
Find each AWS CLI command that pages, messages, templates and programs show.

The module reads each text in which the word `aws` begins a command, without a list of places. A
string of a program with gaps, such as `{region}`, becomes a command only when it is filled. Each
such string is compared with the filled commands, so that a template that is never filled is found.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from local import REPOSITORY
from neuron_emf.verdict.managers import MANAGER_TABLES, Manager, hyperpod_manager, manager_of
from neuron_words.owner_commands import (
    InstanceCommand,
    ShownCommand,
    instance_commands,
    owner_commands,
    placement_commands,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOT_SHOWN = ("lambda/requirements.txt", "proof/", "requirements/", "tests/")
SHOWN_AFTER_ALL = "tests/data/"
GAP = "a-value-of-24-characters"  # ARNs have at least 20
SHOWN_REGION = "us-east-1"
SHOWN_INSTANCE = "i-0c3f5a7b9d1e2f4a6"

AWS_COMMAND = re.compile(r"(?<![\w./:@=-])aws\s+(?=--?[a-z]|[a-z{])")
SHOWN_CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
SHOWN_FILE = re.compile(r"<!-- file: (\S+) -->\n+```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXPANSION = re.compile(r"\$\{[^}]*\}|\$\w+")
READERS: dict[str, Callable[[str], Any]] = {
    ".json": json.loads,
    ".jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
    ".toml": msgspec.toml.decode,
}
"""The parsers of files whose strings may be commands, by suffix."""
HELM_BLOCK = re.compile(r"\{\{-? *(?:with|if|else|end)\b[^}]*\}\}")
HELM_VALUE = re.compile(r"\{\{[^}]*\}\}")
SHELL_VALUES = {"$bundle": "s3://amzn-s3-demo-bucket/bundle.tar.gz"}
ESCAPES = {"\n": "", "`": "`"}  # escapes of a backslash, for which `shlex` differs from a shell
DERIVED = re.compile(r"^jq 'del\((.*?)\)' (\S+) > (\S+)$", re.MULTILINE)
PAGE_COMMAND = """
import { muteOf } from %s;
const alarm = { name: "neuron-emf-IdleCoresAlarm-1a2b3c", metrics: ["IdleCorePercent"] };
process.stdout.write(muteOf(alarm, 0, "us-east-1").text);
"""
"""The program in which the page's own module writes its command."""
SHOWN_OWNERS = (
    "slurm:5",
    "ml/train-0/main",
    "ecs:search/api/main",
    "ecs:api/main",
    "unit:jupyter-ada",
)


@dataclass(frozen=True)
class Shown:
    """
    One command as it is shown.

    Attributes:
        words: Words that a shell makes of the command, without `aws`; an expansion is `GAP`.

        place: The file and line, or the function that wrote the command.

        page: The file, whose other blocks can be files that the command reads.
    """

    words: tuple[str, ...]
    place: str
    page: str = ""

    @property
    def operation(self) -> tuple[str, ...]:
        """The service and the operation."""
        return self.words[:2]

    @property
    def has_gaps(self) -> bool:
        """True if the text of a program has a gap that is filled later."""
        return any("{" in word and "}" in word and " " not in word for word in self.words)


def shown_commands() -> tuple[list[Shown], list[str]]:
    """Return the commands, and the places of templates that make no command here."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    commands = rendered_commands()
    templates: list[Shown] = []
    for name in listed.stdout.splitlines():
        if name.startswith(NOT_SHOWN) and not name.startswith(SHOWN_AFTER_ALL):
            continue
        try:
            text = (REPOSITORY / name).read_text("utf-8")
        except (UnicodeDecodeError, IsADirectoryError):
            continue
        may_have_gaps = Path(name).suffix in {".py", ".js", *READERS}
        for candidate in commands_of_file(name, text):
            is_template = may_have_gaps and candidate.has_gaps
            (templates if is_template else commands).append(candidate)
    operations = {command.operation for command in commands}
    return commands, [template.place for template in templates if not is_made(template, operations)]


def commands_of_file(name: str, text: str) -> list[Shown]:
    """Return the commands in the *text* of a file, read by the rules of its suffix."""
    path = Path(name)
    if path.suffix == ".py":
        return commands_of_python(name, text)
    if path.suffix in READERS:
        return [
            Shown(tuple(words), name, name)
            for value in strings_of(READERS[path.suffix](text))
            for _, words in commands_in(value)
        ]
    if path.parent.name == "templates":
        text = HELM_VALUE.sub(GAP, HELM_BLOCK.sub("", text))
    return commands_of_text(name, text, code_only=path.suffix == ".md")


def strings_of(value: object) -> Iterator[str]:
    """Yield every string in a document, without the names of its members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_of(inner)


def is_made(template: Shown, operations: set[tuple[str, ...]]) -> bool:
    """Return True if one of *operations* is that of *template*, or fills its gap."""
    pattern = [re.sub(r"\\\{.*?\\\}", ".*", re.escape(word)) for word in template.operation]
    return any(
        all(map(re.fullmatch, pattern, operation)) for operation in operations if len(operation) > 1
    )


def rendered_commands() -> list[Shown]:
    """Return the commands of messages, `findings` and the page, of each owner and manager."""
    ids = [SHOWN_INSTANCE, "i-0a1b2c3d4e5f60718"]
    texts: list[ShownCommand] = []
    for owner in SHOWN_OWNERS:
        texts += owner_commands(owner, "training", SHOWN_REGION)
        texts += placement_commands(owner, "training", SHOWN_REGION, ids)
    for what in get_args(InstanceCommand):
        shown = ids[:1] if what in {"shell", "findings"} else ids
        texts += instance_commands(what, shown, SHOWN_REGION)
        texts += instance_commands(what, shown, "")
    commands = [(command.text, f"message, {command.purpose}") for command in texts]

    arn = f"arn:aws:ecs:{SHOWN_REGION}:111122223333:container-instance/training/{'0' * 32}"
    managers = [
        Manager(manager, steps=tuple(row["commands"]))
        for manager, row in MANAGER_TABLES.items()
        # the commands of these managers need names and follow below
        if "commands" in row and manager not in {"ECS", "HyperPod"}
    ]
    managers += [hyperpod_manager("training", node) for node in ("", "ip-10-1-57-141")]
    managers.append(manager_of({}, group="workers", container_instances=[arn]))
    for manager in managers:
        for is_spot in (False, True):
            steps = manager.commands(
                SHOWN_INSTANCE, SHOWN_REGION, f"{SHOWN_REGION}a", is_spot=is_spot
            )
            assert steps, f"{manager.kind} has no commands"
            commands += [(step, f"findings, {manager.kind}") for step in steps]
    commands.append((page_command(), "page, how to mute"))
    return [
        Shown(tuple(words), place) for text, place in commands for _, words in commands_in(text)
    ]


def page_command() -> str:
    """Return the command with which the page mutes an alarm, written by the page's own module."""
    module = (REPOSITORY / "neuron_emf/page/static/alarms.js").as_uri()
    node = ["node", "--input-type=module", "--eval", PAGE_COMMAND % json.dumps(module)]
    return subprocess.run(node, capture_output=True, text=True, check=True).stdout


def commands_of_python(name: str, text: str) -> list[Shown]:
    """Return the commands in strings of Python; implicit concatenation is one string."""
    commands = []
    parts = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            parts |= set(node.values)
            whole = "".join(
                str(part.value) if isinstance(part, ast.Constant) else GAP for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            whole = node.value
        else:
            continue
        for _, words in commands_in(whole):
            # no program leaves out the service, so such a text is not a command
            if words[:1] != [GAP]:
                commands.append(Shown(tuple(words), f"{name}:{node.lineno}", name))
    return commands


def commands_of_text(name: str, text: str, *, code_only: bool) -> list[Shown]:
    """Return the commands of a page, in its code alone, or of another text."""
    spans = [match.span() for match in SHOWN_CODE.finditer(text)] if code_only else [(0, len(text))]
    commands = []
    for start, end in spans:
        for at, words in commands_in(text[start:end]):
            line = text.count("\n", 0, start + at) + 1
            commands.append(Shown(tuple(words), f"{name}:{line}", name))
    return commands


def files_of(page: str) -> dict[str, str]:
    """Return the files that a reader of *page* saves from its blocks, by name."""
    text = (REPOSITORY / page).read_text("utf-8")
    files = dict(SHOWN_FILE.findall(text))
    for members, source, target in DERIVED.findall(text):
        document = json.loads(files[source])
        for member in members.split(","):
            document.pop(member.strip().removeprefix("."))
        files[target] = json.dumps(document)
    return files


def commands_in(text: str) -> list[tuple[int, list[str]]]:
    """Return place and words of each command in *text*."""
    return [(match.start(), words_of(text[match.end() :])) for match in AWS_COMMAND.finditer(text)]


def words_of(text: str) -> list[str]:
    """Return the words of the command at the start of *text*, as a shell splits them."""
    end = 0
    quote = ""
    kept = ""
    while end < len(text):
        character = text[end]
        if character == "\\" and quote != "'":
            kept += ESCAPES.get(text[end + 1 : end + 2], text[end : end + 2])
            end += 2
            continue
        if text.startswith("$(", end) and quote != "'":
            start = end
            end = end_of_substitution(text, start)
            kept += value_of(text[start:end])
            continue
        expansion = EXPANSION.match(text, end) if quote != "'" else None
        if expansion:
            may_be_nothing = ":+" in expansion[0] and not quote
            kept += "" if may_be_nothing else SHELL_VALUES.get(expansion[0], GAP)
            end = expansion.end()
            continue
        if not quote and character in "\n|;&)`<>":
            break
        if character in "'\"" and quote in ("", character):
            quote = "" if quote else character
        kept += character
        end += 1
    kept = re.sub(r"(\s)2$", r"\1", kept)  # the 2 belongs to `2>`
    words = shlex.split(kept, comments=True)
    if words and re.fullmatch(r"[a-z-]+[.,:]", words[-1]):  # punctuation of the sentence
        words[-1] = words[-1][:-1]
    return words


def value_of(substitution: str) -> str:
    """Return a possible output of a `$(...)`: a time if the text prints one."""
    if substitution.startswith("$(date"):
        return "1795227480" if "+%s" in substitution else "2026-11-22T08:00:00Z"
    return GAP


def end_of_substitution(text: str, start: int) -> int:
    """Return the index after the `$(...)` at *start*."""
    depth = 0
    for end in range(start + 1, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return end + 1
    return len(text)
