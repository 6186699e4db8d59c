"""Weight, the measure of size."""

import ast

from benchmarks.sizes import weight

WEIGHED_SOURCE = '''"""Say what it does."""
import os
from pathlib import Path


class Core:
    """Name a core."""

    index: int  # from 0
    """Its number."""

    def busy(self):
        """Return nothing."""
'''
NODES = {
    "Module": 1,
    "class Core": 1,
    "annotated assignment, its target and type": 3,
    "function, arguments, self": 3,
}


def test_weight_is_nodes_without_imports_docstrings_and_comments():
    """Imports, strings alone in a body, comments and contexts of names weigh nothing."""
    assert sum(NODES.values()) == weight(ast.parse(WEIGHED_SOURCE))
