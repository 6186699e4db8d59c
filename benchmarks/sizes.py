"""
Print the size of the repository next to its budgets: `python -m benchmarks.sizes`, in a clone.

Size is weight: nodes of the syntax tree. Imports, docstrings, comments and layout weigh nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path
from typing import Final

BUDGETS: Final = {  # weight in thousands of nodes, files
    "emitter": (60, 100),
    "lambda": (54, 90),
    "neuron_emf": (49, 80),
    "local": (19, 35),
    "benchmarks": (6, 10),
    "proof": (29, 45),
    "tests": (208, 330),
}
NOT_COUNTED: Final = "proof/real/"
MAX_WORDS: Final = 38_000
MAX_TRACKED_FILES: Final = 950
GENERATED_REFERENCE: Final = re.compile(
    r"docs/reference/(settings|parameters|metrics|commands)\.md$"
)


def weight(node: ast.AST) -> int:
    """Return the number of nodes in *node*'s tree that are neither imports nor docstrings."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.expr_context() | ast.Expr(ast.Constant(str())):
            return 0
    return 1 + sum(map(weight, ast.iter_child_nodes(node)))


def main() -> None:
    """Print the table."""
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True)
    paths = listed.stdout.splitlines()
    weights = {
        path: weight(ast.parse(Path(path).read_text("utf-8")))
        for path in paths
        if path.endswith(".py") and not path.startswith(NOT_COUNTED)
    }
    print(f"{'folder':<12}{'weight k':>10}{'budget':>9}{'files':>8}{'budget':>9}")
    for folder, (max_weight, max_files) in BUDGETS.items():
        nodes = [count for path, count in weights.items() if path.startswith(f"{folder}/")]
        thousands = sum(nodes) / 1000
        over = "   over" if thousands > max_weight else ""
        print(f"{folder:<12}{thousands:>10.1f}{max_weight:>9}{len(nodes):>8}{max_files:>9}{over}")
    pages = [path for path in paths if path.endswith(".md") and not GENERATED_REFERENCE.match(path)]
    words = sum(len(Path(path).read_text("utf-8").split()) for path in pages)
    print(f"{'words':<12}{words:>10,}{MAX_WORDS:>9,}   in Markdown, without generated reference")
    print(f"{'tracked':<12}{len(paths):>27,}{MAX_TRACKED_FILES:>9,}")


if __name__ == "__main__":
    main()
