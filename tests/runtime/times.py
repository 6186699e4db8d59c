"""
How long the built functions took: a table at the end of a run, also of one with several workers.
"""

from __future__ import annotations

import pytest

TIMES = pytest.StashKey()
"""Rows of the table, in the configuration of the process that measured."""

_HEADER = ("function", "python", "cold start", "first event", "warm event", "its CPU")


def pytest_sessionfinish(session):
    """A worker hands its rows to whoever started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["times"] = session.config.stash.get(TIMES, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """The rows of a worker that has ended; none of one that crashed."""
    told = getattr(node, "workeroutput", {}).get("times", [])
    node.config.stash.setdefault(TIMES, []).extend(told)


def pytest_terminal_summary(terminalreporter, config):
    """The table, in milliseconds: figures of this machine, no verdict."""
    rows = sorted(map(tuple, config.stash.get(TIMES, [])))
    if not rows:
        return
    table = [_HEADER, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADER))]
    terminalreporter.section("built functions under awslambdaric, milliseconds")
    for row in table:
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        terminalreporter.line("  ".join(cells))
