"""
Where no mutant is made, because it could change nothing that a test may see.

Annotations, which nobody evaluates; imports for the type checker; the arguments
of decorators and of classes such as `frozen=True`; `strict=True` of a `zip` and bodies of
assertions, which a caller within its contract never meets; bare texts.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Position = tuple[int, int]  # line from 1, column from 0 in characters


class Stretch(NamedTuple):
    """A part of a file, from its first character to behind its last."""

    start: Position
    end: Position


class Outline:
    """What a source says about a position in it."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        tree = ast.parse(source)
        self._unmade = [self._stretch(node) for node in _unmade(tree)]
        self._definitions = list(_definitions(tree, ""))

    def is_unmade(self, at: Position) -> bool:
        """Whether a mutant at *at* would change nothing."""
        return any(start <= at < end for start, end in self._unmade)

    def definition(self, line: int) -> str:
        """The function or class *line* stands in, such as "Cores.add"; "" is the module itself."""
        inside = [name for name, first, last in self._definitions if first <= line <= last]
        return inside[-1] if inside else ""

    def _stretch(self, node: ast.AST) -> Stretch:
        return Stretch(
            (node.lineno, self._characters(node.lineno, node.col_offset)),
            (node.end_lineno, self._characters(node.end_lineno, node.end_col_offset)),
        )

    def _characters(self, line: int, offset: int) -> int:
        # ast counts UTF-8 bytes, parso characters.
        return len(self._lines[line - 1].encode()[:offset].decode())


def _unmade(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.Assert) or _is_for_types(node):
            yield node
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            yield node.value
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            yield node.returns
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if isinstance(node, ast.ClassDef):
                yield from (keyword.value for keyword in node.keywords)
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call):
                    yield from decorator.args
                    yield from (keyword.value for keyword in decorator.keywords)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, int, int]]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{prefix}{child.name}"
            first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
            yield name, first, child.end_lineno or first
            inner = f"{name}."
        yield from _definitions(child, inner)
