"""
How large the repository is: files and code lines by folder, words of the pages.

    python -m proof.sizes [FOLDER]

A code line is one that Python reads: blank lines, comments, docstrings and imports do not count.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tokenize
from collections import defaultdict
from io import StringIO
from pathlib import Path
from typing import Final

_UNCOUNTED: Final = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)


def code_lines(source: str) -> int:
    """Count the lines of *source* that hold code."""
    lines = {
        line
        for token in tokenize.generate_tokens(StringIO(source).readline)
        if token.type not in _UNCOUNTED
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            lines -= set(range(node.lineno, node.end_lineno + 1))
        elif isinstance(body, list) and body and _is_text(body[0]):
            lines -= set(range(body[0].lineno, body[0].end_lineno + 1))
    return len(lines)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def main() -> None:
    """Print one row per top-level folder, then the words of README and docs."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    paths = [path for path in map(Path, listed) if (root / path).is_file()]
    files: defaultdict[str, int] = defaultdict(int)
    lines: defaultdict[str, int] = defaultdict(int)
    for path in paths:
        if path.suffix == ".py":
            files[path.parts[0]] += 1
            lines[path.parts[0]] += code_lines((root / path).read_text(encoding="utf-8"))
    print(f"{'folder':<20} {'files':>6} {'code lines':>11}")
    for name in sorted(files):
        print(f"{name:<20} {files[name]:>6,} {lines[name]:>11,}")
    for name in ("README.md", "docs"):
        pages = [path for path in paths if path.suffix == ".md" and str(path).startswith(name)]
        words = sum(len((root / page).read_text(encoding="utf-8").split()) for page in pages)
        print(f"{name:<20} {len(pages):>6,} {words:>11,} words")


if __name__ == "__main__":
    main()
