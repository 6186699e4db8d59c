"""
One line: what it is, and what is wrong with it.

A log group may hold lines of any kind, so only a line that is meant to be EMF
can be wrong: one in which somebody wrote `_aws` or `CloudWatchMetrics`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from neuron_emf.lint.advice import RULES
from neuron_emf.lint.surprises import surprises
from neuron_wire.extraction import MAX_LINE_BYTES, Violation, document_of, violations
from neuron_wire.extraction.violation import at_root
from neuron_wire.names import RAW

if TYPE_CHECKING:
    from neuron_emf.lint.lines import FileLine

Kind = Literal["emf", "text", "json", "blank"]

_MARKS: Final = (b"_aws", b"cloudwatchmetrics")  # in small letters
# In any quotes: what Python shows of a dictionary is not JSON, and somebody meant it to be.
_QUOTED: Final = re.compile(rb"[\"'](_aws|cloudwatchmetrics)\\*[\"']", re.IGNORECASE)
_ARRAY: Final = re.compile(r"\[\s*[\[{]")
# What Lambda puts before a line, and what an export or `aws logs tail` does: a time comes first.
_PREFIX: Final = re.compile(
    r"\s*(\[[A-Z]{4,8}\]\s)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?\s[^{]{0,1024}"
)
_MAX_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """
    What was found in one line.

    Attributes:
        kind: `emf` when it is meant to be, else what it is instead.

        errors: What costs at least one metric, or puts it where nobody looks.

        warnings: What surprises; none where there are errors.

        document: What CloudWatch extracts from; None where it extracts nothing.
    """

    kind: Kind
    errors: tuple[Violation, ...] = ()
    warnings: tuple[Violation, ...] = ()
    document: dict[str, Any] | None = None


def judge(line: FileLine, now_ms: int | None) -> LineVerdict:
    """What *line* is, if it arrives at *now_ms*; None asks nothing of its age."""
    if not _is_meant(line.content):
        first = line.content.lstrip()[:1]
        return LineVerdict("json" if first == b"{" else "text" if first else "blank")
    if line.size > len(line.content):
        sentence = f"the line has {line.size} bytes, at most {MAX_LINE_BYTES} are accepted"
        return _wrong(Violation("size", "", sentence))
    try:
        text = line.content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _wrong(Violation("json", "", f"the line is not UTF-8 at byte {error.start + 1}"))
    return _of_text(text, line.size, now_ms)


def _of_text(text: str, size: int, now_ms: int | None) -> LineVerdict:
    prefix, rest = _parts(text)
    if prefix and not _PREFIX.fullmatch(prefix):
        if rest:
            return _wrong(Violation("json", "", _before(prefix)))
        return LineVerdict("text")  # it only speaks of EMF
    verdict = _of_document(rest, size, now_ms)
    if not prefix or verdict.document is None:
        return verdict
    sentence = "a timestamp precedes the document, which CloudWatch accepts from Lambda only"
    return replace(verdict, warnings=(Violation("prefixed", "", sentence), *verdict.warnings))


def _is_meant(content: bytes) -> bool:
    small = content.lower()
    return any(mark in small for mark in _MARKS) and _QUOTED.search(content) is not None


def _parts(text: str) -> tuple[str, str]:
    """What stands before the first brace, and the rest."""
    stripped = text.lstrip()
    if stripped.startswith("{") or _ARRAY.match(stripped):
        return "", text
    start = text.find("{")
    return (text, "") if start < 0 else (text[:start], text[start:])


def _before(prefix: str) -> str:
    if prefix.lstrip().startswith('"'):
        return "the document spans several lines, and each line is a log event"
    return "there is text before the document, which must be the whole line"


def _of_document(text: str, size: int, now_ms: int | None) -> LineVerdict:
    document, found = document_of(text)
    if document is None:
        return _wrong(*(_explained(one, text) for one in found))
    if "_aws" not in document:
        if document.get("Kind") == RAW and "Schema" in document:
            return LineVerdict("json")  # a report of neuron-monitor, whatever its texts hold
        path = _nested(document, "$", _MAX_DEPTH)
        if path:
            sentence = "the document is nested in a member, where nothing is extracted"
            return _wrong(Violation("wrapped", path.rpartition(".")[2], sentence, path))
        if not any(name.lower() in ("_aws", "cloudwatchmetrics") for name in document):
            return LineVerdict("json")
    broken = violations(text, now_ms=now_ms)
    errors = [one for one in broken if RULES[one.rule].level == "error"]
    if errors:
        return _wrong(*errors)
    return LineVerdict("emf", (), (*broken, *surprises(document, size, now_ms)), document)


def _wrong(*errors: Violation) -> LineVerdict:
    return LineVerdict("emf", errors)


def _explained(violation: Violation, text: str) -> Violation:
    """Of a line that is not JSON, also where it ceases to be."""
    if violation.rule != "json":
        return violation
    try:
        json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        why = f"{error.msg} at character {error.pos + 1}"
    except _ConstantError as error:
        why = f"{error} is not JSON"
    except (ValueError, RecursionError):
        return violation
    else:
        return violation
    return Violation("json", "", f"{violation.sentence}: {why}")


class _ConstantError(ValueError):
    pass


def _refuse(name: str) -> None:
    raise _ConstantError(name)


def _nested(value: object, path: str, depth: int) -> str:
    """Where in *value* a document is; empty when there is none."""
    if isinstance(value, str) and "_aws" in value and value.lstrip().startswith("{"):
        inner, _ = document_of(value)
        return path if inner is not None and "_aws" in inner else ""
    if not isinstance(value, dict) or not depth:
        return ""
    for name, one in value.items():
        here = f"{path}{at_root(name)[1:]}"
        if isinstance(one, dict) and "_aws" in one:
            return here
        found = _nested(one, here, depth - 1)
        if found:
            return found
    return ""
