"""
Every text that a person can read, one per line with its place, to be read in one sitting.

    python -m proof.texts [FOLDER_OR_FILE ...]

From Python: errors, log messages, help, and every other text of at least three words that is no
docstring. From templates: descriptions. From pages: headings. From scripts: what they print.
A value that is filled in stands as its expression in braces.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS: Final = "emitter neuron_emf lambda local deploy template.yaml views.yaml README.md docs"

_LOG: Final = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
_PROSE: Final = re.compile(r"[\w'}\])][,:;]? [\w'{([]\S* [\w'{(]")
_DESCRIPTION: Final = re.compile(r"(\s*)(?:- )?(\w*Description|Title): *(.*)")
_PRINTED: Final = re.compile(
    r"""^\s*(?:\[?.*\|\|\s*)?(?:say|fail|echo|printf|warn|die)\s+(["'].+)""", re.MULTILINE
)
_HEADING: Final = re.compile(
    r"^#+ (.+)|<(h\d|title|caption|th|button|label)[^>]*>([^<]+)<", re.MULTILINE
)


class Text(NamedTuple):
    """One text: its *line* in the file, counted from 1, and what it is for."""

    line: int
    kind: str
    text: str


def texts(path: Path) -> list[Text]:
    """List what a person can read of *path*, by line; nothing from a kind of file not known."""
    source = path.read_bytes().decode(errors="replace")
    match path.suffix:
        case ".py":
            return sorted(_of_python(ast.parse(source)))
        case ".yaml" | ".yml":
            return list(_of_template(source.splitlines()))
        case ".sh":
            return _matches(_PRINTED, source, "script")
        case ".md" | ".html":
            return _matches(_HEADING, source, "heading")
        case _:
            return []


def _of_python(tree: ast.Module) -> Iterator[Text]:
    kinds = {id(node): kind for node, kind in _purposes(tree)}
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        kind = kinds.get(id(node), "text")
        if id(node) in inner or kind == "docstring":
            continue
        text = _said(node)
        if text is not None and (kind != "text" or _PROSE.search(text)):
            yield Text(node.lineno, kind, " ".join(text.split()))


def _purposes(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Give the kind of each text whose surroundings say what it is for."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as value):
                yield value, "docstring"
            case ast.Raise(exc=ast.Call(args=args)):
                yield from ((argument, "error") for argument in args)
            case ast.Assign(targets=[ast.Name(id="msg")], value=value):
                yield from ((part, "error") for part in (value, *ast.walk(value)))
            case ast.keyword(arg="help" | "epilog" | "short_help", value=value):
                yield value, "help"
            case ast.Call(func=ast.Name(id="setting"), args=[_, value, *_]):
                yield value, "help"
            case ast.Call(func=ast.Attribute(attr=name), args=[value, *_]) if name in _LOG:
                yield value, "log"
            case ast.FunctionDef(decorator_list=decorators) if any(
                "command" in ast.unparse(decorator) for decorator in decorators
            ):
                yield from ((part.value, "help") for part in node.body[:1])


def _said(node: ast.AST) -> str | None:
    """Return what *node* says, values as `{expression}`, or None if it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return ast.unparse(node)[2:-1]
    return None


def _of_template(lines: list[str]) -> Iterator[Text]:
    for number, line in enumerate(lines, start=1):
        match = _DESCRIPTION.match(line)
        if match is None:
            continue
        indent, kind, text = match[1], match[2], match[3]
        if text[:1] in {"", ">", "|"}:
            block: list[str] = []
            for further in lines[number:]:
                if further.strip() and not further.startswith(indent + " "):
                    break
                block.append(further.strip())
            text = " ".join(filter(None, block))
        yield Text(number, kind.lower(), text)


def _matches(pattern: re.Pattern[str], source: str, kind: str) -> list[Text]:
    return [
        Text(source.count("\n", 0, match.start()) + 1, kind, (match[1] or match[3]).strip())
        for match in pattern.finditer(source)
    ]


def main() -> None:
    """Print `place kind text` per text of the files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *(sys.argv[1:] or FOLDERS.split())],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for path in map(Path, listed):
        for line, kind, text in texts(path) if path.is_file() else []:
            print(f"{path}:{line}  {kind}  {text}")


if __name__ == "__main__":
    main()
