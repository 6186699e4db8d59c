"""
How large the repository is, beside its budgets: `python -m proof.sizes`, in a clone.

A code line is one that Python reads: blank lines, comments, docstrings and imports do not count.
The product is every folder of the table except the tests; a public method is one of a class in it
whose name has no leading underscore.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tokenize
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

BUDGETS: Final = {  # code lines, files
    "emitter": (9_500, 95),
    "lambda": (7_800, 85),
    "neuron_emf": (7_000, 80),
    "local": (2_700, 35),
    "benchmarks": (700, 10),
    "proof": (4_000, 45),
    "tests": (30_000, 330),
}
MAX_WORDS: Final = 45_000
MAX_TRACKED_FILES: Final = 900
FEW_LINES: Final = 20
OFTEN: Final = 10

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
    """Print the table, then the small files and the names that stand too often."""
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True)
    paths = [path for path in listed.stdout.splitlines() if not Path(path).is_symlink()]
    sources = {path: Path(path).read_text("utf-8") for path in paths if path.endswith(".py")}
    counts = {path: code_lines(source) for path, source in sources.items()}
    print(f"{'folder':<12}{'code lines':>12}{'budget':>9}{'files':>8}{'budget':>9}")
    for folder, (max_lines, max_files) in BUDGETS.items():
        own = [count for path, count in counts.items() if path.startswith(f"{folder}/")]
        print(f"{folder:<12}{sum(own):>12,}{max_lines:>9,}{len(own):>8,}{max_files:>9,}")
    words = sum(len(Path(path).read_text("utf-8").split()) for path in paths if path[-3:] == ".md")
    print(f"{'Markdown':<12}{words:>12,}{MAX_WORDS:>9,}   words")
    print(f"{'tracked':<12}{len(paths):>29,}{MAX_TRACKED_FILES:>9,}")

    folders = BUDGETS.keys() - {"tests"}
    product = {path: text for path, text in sources.items() if path.split("/")[0] in folders}
    small = sorted((counts[path], path) for path in product if counts[path] < FEW_LINES)
    print(f"\nProduct files under {FEW_LINES} code lines: {len(small)}")
    for count, path in small:
        print(f"{count:>6}  {path}")
    nodes = [(path, node) for path, text in product.items() for node in ast.walk(ast.parse(text))]
    classes = [(path, node) for path, node in nodes if isinstance(node, ast.ClassDef)]
    files: dict[str, list[str]] = defaultdict(list)
    for path, node in classes:
        files[node.name].append(path)
    repeated = {name: paths for name, paths in sorted(files.items()) if len(paths) > 1}
    print(f"\nClass names defined more than once: {len(repeated)}")
    for name, paths in repeated.items():
        print(f"  {name}: {', '.join(paths)}")
    methods = Counter(
        method.name
        for _, node in classes
        for method in node.body
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.name[0] != "_"
    )
    often = [(name, count) for name, count in methods.most_common() if count > OFTEN]
    print(f"\nPublic methods whose name stands more than {OFTEN} times: {len(often)}")
    for name, count in often:
        print(f"{count:>6}  {name}")


if __name__ == "__main__":
    main()
