"""
The names in a query of Logs Insights, held against the catalogue.

It knows words and no grammar: whether AWS takes a query, and what it answers, acceptance asks AWS.
"""

from __future__ import annotations

import re

from neuron_wire.catalogue import MEMBERS, members_of

SYSTEM_FIELDS = {"@timestamp", "@message", "@logStream", "@log", "@ingestionTime"}
WORDS = {
    *(
        "SOURCE",
        "dedup",
        "display",
        "fields",
        "filter",
        "limit",
        "parse",
        "sort",
        "stats",
        "unnest",
    ),
    *("and", "as", "asc", "by", "desc", "in", "into", "like", "not", "or"),
}
MAX_CHARS = 10_000
_NO_NAME = re.compile(
    r"""\#[^\n]*|"[^"\\]*"|'[^'\\]*'|(?<=like)\s*/(?:[^/\\\n]|\\.)+/|\{\{\w+\}\}|(?<![\[.\w])[0-9]\w*"""
)
_NAME = re.compile(r"@?[A-Za-z_][\w.]*(?:\[[0-9]+\][\w.]*)*(?!\w*\()")
_GIVEN = re.compile(r"\b(?:as|into)\s+(\w+)")
_PARSED = re.compile(r"\bparse [\w.]+\s+as ([\w, ]+)")
_KIND = re.compile(r"\bKind (?:= (\S+)|in \[([^\]]*)\])")
_PARTS = {part for one in MEMBERS for part in re.split(r"\W+", one.name)}


def kinds(query):
    """The kinds of line that *query* reads."""
    return {kind for pair in _KIND.findall(query) for kind in re.findall(r"\w+", ",".join(pair))}


def unknown_names(query):
    """The fields of *query* that no line of its kinds has and that it does not make itself."""
    assert len(query) <= MAX_CHARS
    text = _NO_NAME.sub(" ", query)
    given = {*_GIVEN.findall(text), *re.findall(r"\w+", ",".join(_PARSED.findall(text)))}
    members = {name for kind in kinds(query) for name in members_of(kind)}
    known = {*members, *given, *SYSTEM_FIELDS, *WORDS}
    unknown = []
    for path in _NAME.findall(text):
        first, *rest = re.split(r"[.\[\]]+", path)
        inside = [part for part in rest if part and not part.isdigit()]
        if first not in known or not set(inside) <= _PARTS:
            unknown.append(path)
    return unknown
