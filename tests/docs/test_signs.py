"""Signs of hard text and packed code are at most as frequent as their table says."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

TABLE = Path(__file__).parents[1] / "data" / "signs.txt"
NOT_BY_HAND = r"CHANGELOG|docs/reference/(settings|parameters|metrics|commands)\.md"


def room_of(file):
    """Return `md` for a page, otherwise the top folder of *file*."""
    return "md" if file.endswith(".md") else file.partition("/")[0]


def counted_lines(repository):
    """Return each line of tracked Python and Markdown files with its room, and its frequency."""
    files = subprocess.run(
        ["git", "ls-files", "*.py", "*.md"],
        cwd=repository,
        capture_output=True,
        check=True,
        text=True,
    )
    lines = Counter()
    for file in files.stdout.splitlines():
        path = repository / file
        if path.is_file() and not re.match(NOT_BY_HAND, file):
            text_lines = path.read_text("utf-8", "replace").splitlines()
            lines.update((room_of(file), line) for line in text_lines)
    return lines


def counts(pattern, lines):
    """Return the number of lines with *pattern* in each room."""
    sign = re.compile(pattern)
    hits = Counter()
    for (room, line), number in lines.items():
        if sign.search(line):
            hits[room] += number
    return hits


def test_signs_only_become_rarer(repository, golden):
    """No sign is in more lines of a room than the table permits, and the table has no slack."""
    lines = counted_lines(repository)
    rows = []
    grown = {}
    for row in TABLE.read_text("utf-8").splitlines(keepends=True):
        if row.startswith("#"):
            rows.append(row)
            continue
        name, limit_text, pattern = row.split(" | ", 2)
        limits = {room: int(limit) for room, limit in re.findall(r"(\w+) (\d+)", limit_text)}
        hits = counts(pattern.rstrip("\n"), lines)
        more = {room: hit for room, hit in hits.items() if hit > limits.get(room, 0)}
        if more:
            grown[name] = more
        least = [f"{room} {min(limits[room], hits[room])}" for room in limits if hits[room]]
        rows.append(f"{name} | {', '.join(least)} | {pattern}")
    assert {} == grown
    golden(TABLE, "".join(rows))
