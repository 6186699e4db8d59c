"""
Whole sentences and log lines in source files, each with an example of what a person receives.

The examples are edited by hand in the file of sentences. An example stays while it matches its
sentence in the source; a sentence without an example has `<name>` for each computed value.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

WHOLE_SENTENCE: Final = re.compile(r".*[.?]|(?:warning|error): \w.*", re.DOTALL)
NO_SENTENCE: Final = re.compile(r"DELETE |SELECT |UPDATE |\(|.*\bExit codes: ", re.DOTALL)
USAGE_ERROR: Final = re.compile(r"--|Invalid |Unknown |Too many |FILES ")
RESULTS: Final = frozenset({"check", "verdict"})
"""Packages whose results are without a period."""
LOG_LINE: Final = re.compile("(?:warning|error): ")
MIN_WORDS: Final = 12
MESSAGES: Final = frozenset({"explain", "digest", "neuron_words"})
"""Packages whose sentences are parts of messages, so that short sentences count, too."""
MIN_WORDS_IN_MESSAGE: Final = 5
WITHOUT_TEXT: Final = (ast.Name, ast.arguments, ast.Import, ast.ImportFrom, ast.expr_context)
SENTENCE_SIGN: Final = re.compile(r'[.?]"(?!"")|\.(?:warning|error|exception)\(')
PLACEHOLDER: Final = re.compile(r"(\{\w+\}|%(?:\.\d)?[sdf])")
SCRIPT_SENTENCE: Final = re.compile(
    r""" "([A-Z“][^"\n]*\ [^"\n]*[.?])"
    | >([A-Z][^<>{}\n]*\ [^<>{}\n]*[.?])<
    | `([A-Z][^`\n]*\ [^`\n]*[.?])\ ?` """,
    re.VERBOSE,
)
RESULT_TABLE: Final = re.compile(r"^\[(?:identity|refusals\.\w+)\]\n((?:.+\n)+)", re.MULTILINE)
QUOTED: Final = re.compile(r'"([^"]*)"')
SCRIPT_VALUE: Final = re.compile(r"(\$\{[^{}]*\})")


@dataclass(frozen=True)
class SourceSentence:
    """
    A sentence of the source.

    Attributes:
        parts: Its text, and between each two parts a computed value in brackets.
    """

    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentence, with a name in brackets for each computed value."""
        return " ".join("".join(self.parts).split())

    @property
    def fixed(self) -> list[str]:
        """The words around computed values, with single spaces and none at both ends."""
        first, *others = [re.sub(r"\s+", " ", part) for part in self.parts[::2]]
        *most, last = [first.lstrip(), *others]
        return [*most, last.rstrip()]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of a line with this sentence and example values."""
        return re.compile(".*?".join(map(re.escape, self.fixed)))

    def is_in(self, text: str) -> bool:
        """Return True if *text* has the longest words of this sentence without a computed value."""
        return max(self.fixed, key=len).strip() in text


def sentences_with_examples(
    sentences: Iterable[SourceSentence], examples: Iterable[str]
) -> list[str]:
    """
    Return an example of each sentence, in alphabetical order.

    An example that matches several sentences belongs to the one with the most words.
    """
    lines = {sentence.pattern: sentence.text for sentence in sentences}
    for example in examples:
        matching = [pattern for pattern in lines if pattern.fullmatch(example)]
        if matching:
            lines[max(matching, key=lambda pattern: len(pattern.pattern))] = example
    return sorted(lines.values(), key=str.casefold)


def source_sentences(path: Path) -> Iterator[SourceSentence]:
    """Yield the whole sentences in a file of Python, JavaScript or TOML, and its log lines."""
    source = path.read_text("utf-8")
    if path.suffix == ".js":
        for match in SCRIPT_SENTENCE.finditer(source):
            text = next(filter(None, match.groups()))
            if "=> " not in text and "=${" not in text and len(text.split()) >= MIN_WORDS:
                yield SourceSentence(tuple(SCRIPT_VALUE.split(text)))
        return
    if path.suffix == ".toml":
        for text in map(str, QUOTED.findall("".join(RESULT_TABLE.findall(source)))):
            if len(text.split()) >= MIN_WORDS:
                yield SourceSentence(tuple(PLACEHOLDER.split(text)))
        return
    if not SENTENCE_SIGN.search(source) and path.parent.name not in RESULTS:
        return
    min_words = MIN_WORDS_IN_MESSAGE if path.parent.name in MESSAGES else MIN_WORDS
    for parts in _literals(ast.parse(source).body):
        text = "".join(parts[::2]).strip()
        is_long = len(text.split()) >= min_words or LOG_LINE.match(text)
        is_sentence = WHOLE_SENTENCE.fullmatch(text) or path.parent.name in RESULTS
        is_left_out = NO_SENTENCE.match(text) or USAGE_ERROR.match(text)
        if is_long and is_sentence and not is_left_out:
            yield SourceSentence(parts)


def _literals(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ...]]:
    """Yield the parts of log lines, and of strings that are not docstrings or helps of settings."""
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield _parts(node)
            yield from _literals(
                value for value in node.values if isinstance(value, ast.FormattedValue)
            )
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield tuple(PLACEHOLDER.split(node.value))
        elif isinstance(node, ast.ClassDef):
            yield from _literals(
                child for child in node.body if not isinstance(child, ast.AnnAssign)
            )
        elif isinstance(node, ast.FunctionDef):
            yield from _literals(node.body)
        elif isinstance(node, ast.Call) and _log_level(node):
            yield _log_line(node)
        elif isinstance(node, WITHOUT_TEXT) or is_docstring(node):
            continue
        else:
            yield from _literals(ast.iter_child_nodes(node))


def is_docstring(node: ast.AST) -> bool:
    """Return True if *node* is a string that no other expression uses."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _parts(node: ast.JoinedStr) -> tuple[str, ...]:
    parts = [""]
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            parts += [f"<{ast.unparse(value.value)}>", ""]
        else:
            first, *others = PLACEHOLDER.split(str(ast.literal_eval(value)))
            parts[-1] += first
            parts += others
    return tuple(parts)


def _log_level(call: ast.Call) -> str:
    """Return `warning` for `log.warning(...)`, or an empty string for another call."""
    level = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return level if level in {"info", "warning", "error", "exception"} else ""


def _log_line(call: ast.Call) -> tuple[str, ...]:
    """Return the parts of a log line: its level, its text, and its pairs of keys and values."""
    text = "".join(next(_literals(call.args[:1]), ("%s",)))
    pairs = [
        f" {ast.literal_eval(key)}=%s"
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Dict)
        for key in keyword.value.keys
        if isinstance(key, ast.Constant)
    ]
    level = _log_level(call).replace("exception", "error")
    return tuple(PLACEHOLDER.split("".join([f"{level}: {text}", *pairs])))
