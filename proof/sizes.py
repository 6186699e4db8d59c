"""
How large the repository is, by folder: `python -m proof.sizes`, in a clone.

A code line is one that Python reads: blank lines, comments, docstrings and imports do not count.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tokenize
from pathlib import Path
from typing import Final

FOLDERS: Final = (
    "emitter", "lambda", "neuron_emf", "local", "benchmarks", "proof", "tests",
)  # fmt: skip
UNCOUNTED: Final = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(source: str) -> int:
    """Count the lines of *source* that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in UNCOUNTED:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (
            is_text and isinstance(node.value.value, str)
        ):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def main() -> None:
    """Print one row per folder, then the words of the pages and what git tracks."""
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True)
    paths = listed.stdout.splitlines()
    print(f"{'folder':<12}{'code lines':>11}{'files':>8}")
    for name in FOLDERS:
        own = [Path(one) for one in paths if one.startswith(f"{name}/") and one.endswith(".py")]
        lines = sum(code_lines(one.read_text(encoding="utf-8")) for one in own)
        print(f"{name:<12}{lines:>11,}{len(own):>8,}")
    pages = (Path(one).read_text(encoding="utf-8") for one in paths if one.endswith(".md"))
    print(f"{'Markdown':<12}{sum(len(one.split()) for one in pages):>11,}   words")
    print(f"{'tracked':<12}{len(paths):>11,}   files")


if __name__ == "__main__":
    main()
