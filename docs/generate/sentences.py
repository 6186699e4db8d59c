"""
Make `tests/data/sentences.txt`: the sentences that a person can receive, by who reads them.

Messages, digests and refusals of AWS are rendered here by the code of the product. Results of
`check`, `findings` and `report --bill` are read from `tests/data/shown`, which tests wrote with the
commands. Other sentences are those of the source, with examples that are edited in the file itself.
Each sentence is there once; sentences with other names or numbers are the same sentence.

The file does not repeat the reference of settings, parameters, metrics, events and commands, and
has no error about an option, which only the person who typed it reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
)

from aggregator.digest.function import Week, digest_message
from aggregator.explain.event import read_transition
from aggregator.explain.notification import notify
from docs.generate.source_sentences import sentences_with_examples, source_sentences
from neuron_emf.account import refusal
from neuron_emf.verdict.account_guards import ACCOUNT_GUARDS
from neuron_emf.verdict.line_guards import LINE_GUARDS
from neuron_emitter.delivery.aws_failures import Failure, outcome_of, sdk_outcome
from neuron_wire.names import WEEK_HOURS
from tests.aggregator.digest.test_digest import CORE_HOUR, NANOS, row, week_of
from tests.aggregator.explain.alarm_events import ENVIRONMENT, FIRED_S
from tests.aggregator.explain.message_scenes import MESSAGE_SCENES, play
from tests.stack.stack_template import STACK_TEMPLATE, description_of, on_pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

VALUES: Final = re.compile(
    r"""
      \([A-Z]\w+:\ .*\) | \([A-Z][^()]*\(s\) | \[[\w, -]+\]$  # AWS's words; a guard or check
    | https?://\S+ | \d+\ h\ \d+\ min | \d+\ (?:h|min)\b | \b(?:inf|trn)\d\w*\.\w+
    | --values\ .* | '[^']*' | "[^"]*"
    | \bi-[\w.]+ | \b\w+:[:\w/*.-]+ | /?\b[\w-]+/[\w/.:-]+ | (?<=has\ no\ )\w+ | \d[\d,.:-]*
    """,
    re.VERBOSE,
)
MAX_FAMILIAR_WORDS: Final = 16  # an error with a known beginning and a shorter rest is familiar
CLAUSE_END: Final = re.compile(r"[;,:.]+(?: +|$)| \(")
LONG_PARTS: Final = re.compile(
    r"^(CloudWatch: [^:]+|\d\. [^:?]+[:?]|Evidence: [^?]+)(?:[: ]|\?).+",
    re.MULTILINE,
)
COMMAND_LINE: Final = r"^\d\. .*$"
AWS_WORDS: Final = re.compile(r"\((\w+): (?:[^()]|\([^()]*\))*\)|\((Could not connect)[^)]*\)")
GUARD_LINE: Final = re.compile(
    r"[^:]+: (?P<guards>[\w, -]+) (?P<state>failed|unknown): (?P<text>.+)"
)
STATES: Final = "warning|failed|unknown"
CHECK_LINE: Final = re.compile(
    rf"  (?P<account>{STATES}): [\w -]+: (?P<result>.+)"
    rf"|[^ ].*?: (?P<machine>{STATES}): (?P<found>.+)"
)
SENTENCE_END: Final = re.compile(r"(?<=[^\s.]{2}[.?]) +(?=[A-Z0-9<-])")
PART_END: Final = re.compile(rf"{SENTENCE_END.pattern}|(?<=;) ")
DENIED: Final = "ada is not authorized to perform "
REFUSALS: Final = (
    ("ThrottlingException", "PutLogEvents", "Rate exceeded"),
    ("ResourceNotFoundException", "CreateLogStream", "The specified log group does not exist."),
    ("ExpiredTokenException", "PutLogEvents", "The security token is expired"),
    ("SignatureDoesNotMatch", "PutLogEvents", "Signature expired"),
    ("AccessDeniedException", "PutLogEvents", f"{DENIED}logs:PutLogEvents"),
    (
        "AccessDeniedException",
        "FilterLogEvents",
        f"{DENIED}logs:FilterLogEvents with an explicit deny in a service control policy",
    ),
    ("InvalidIdentityToken", "AssumeRoleWithWebIdentity", "No provider"),
)
ENDPOINT: Final = "https://logs.us-east-1.amazonaws.com/"
SDK_FAILURES: Final = {
    "NoRegionError": "You must specify a region.",
    "NoCredentialsError": "Unable to locate credentials",
    "ConnectTimeoutError": f'Connect timeout on endpoint URL: "{ENDPOINT}"',
    "ReadTimeoutError": f'Read timeout on endpoint URL: "{ENDPOINT}"',
}
UNPRICED: Final = ("list_cost", "idle_cost", "avoidable_cost", "basis")
READERS: Final = ("On call", "Payer", "Engineer", "Operator", "Everyone", "Contributor")
# reader: title | files; a file belongs to the first title that has it
SOURCES: Final = """\
On call: other sentences of alarm messages | lambda/aggregator/explain/*.py
Payer: other sentences of the digest and neuron-emf report | lambda/aggregator/digest/*.py \
lambda/neuron_words/*.py lambda/neuron_accounts/*.py neuron_emf/report/*.py neuron_emf/cost/*.py
Engineer: other answers of neuron-emf findings, top and profile | neuron_emf/verdict/*.py \
neuron_emf/findings/*.py neuron_emf/top/*.py neuron_emf/profile/*.py
Engineer: the page | neuron_emf/page/*.py neuron_emf/page/static/*.js
Operator: the emitter | emitter/neuron_emitter/**/*.py
Operator: the functions, in the log of the stack | lambda/aggregator/**/*.py
Operator: neuron-emf check and deploy | neuron_emf/check/*.py neuron_emf/deploy/*.py \
neuron_emf/tables.toml
Everyone: commands | neuron_emf/**/*.py
Contributor: make demo | local/rehearsal/*.py"""
# in the reference | errors about an option or a file that a person named | parts of other sentences
LEFT_OUT: Final = """\
__main__ cli command_line drop_in glossary page_metrics run_settings
destination line_settings minute_settings monitor_config options outlet periods replay settings \
source tariff
aws_failures lint listing paid_queries server snapshot"""


class Fresh:
    """
    The clauses that were in an earlier sentence.

    Attributes:
        seen: Clauses without names and numbers.
    """

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def of_errors(self, lines: Iterable[str]) -> list[str]:
        """Return the first part of each line that has a new one, and its new parts."""
        errors = []
        for line in lines:
            first, *others = PART_END.split(line)
            is_new = self._is_new(first)
            new = [other for other in others if self._is_new(other)]
            if is_new or len(" ".join(new).split()) > MAX_FAMILIAR_WORDS:
                errors.append(" ".join([first, *new]))
        return errors

    def of_lines(self, lines: Iterable[str]) -> list[str]:
        """Return the lines with their new sentences, without lines that have none."""
        shortened = [
            " ".join(filter(self._is_new, SENTENCE_END.split(line.rstrip()))) for line in lines
        ]
        return [line for line in shortened if line.strip()]

    def _is_new(self, sentence: str) -> bool:
        same = VALUES.sub("1", sentence).replace("1 and 1", "1")
        clauses = [clause.split() for clause in CLAUSE_END.split(same)]
        new = {" ".join(words) for words in clauses if len(words) > 1} - self.seen
        self.seen |= new
        return bool(new)


def sentences(root: Path, examples: str) -> str:
    """
    Return the file of sentences.

    Args:
        root: Root folder of the product.

        examples: The file as it is, with examples of sentences in the source.
    """
    fresh = Fresh()
    shown = root / "tests" / "data" / "shown"
    rendered = {
        "On call: an alarm": messages(fresh, "ALARM"),
        "On call: the end of an alarm": messages(fresh, "OK"),
        "On call: alarms about the pipeline": fresh.of_lines(pipeline_alarms()),
        "Payer: the weekly digest": fresh.of_lines(digests()),
        "Payer: neuron-emf report refuses a bill": fresh.of_lines(refused_bills(shown)),
        "Engineer: neuron-emf findings, before an instance is released": verdicts(fresh, shown),
        "Operator: neuron-emf check, after an installation": fresh.of_errors(checks(shown)),
        "Operator: AWS refuses, and the emitter reports it": fresh.of_errors(emitter_refusals()),
        "Operator: AWS refuses a command": fresh.of_errors(command_refusals()),
    }
    goldens = [shown / "../messages/texts.txt", *sorted(shown.glob("*.txt"))]
    lines = [line for lines in rendered.values() for line in lines]
    text = " ".join(" ".join([*lines, *(path.read_text("utf-8") for path in goldens)]).split())
    seen: set[Path] = set()
    for section in SOURCES.splitlines():
        title, _, patterns = section.partition(" | ")
        paths = {path for pattern in patterns.split() for path in root.glob(pattern)} - seen
        seen |= paths
        new = [
            sentence
            for path in sorted(paths)
            if path.stem not in LEFT_OUT.split()
            for sentence in source_sentences(path)
            if not sentence.is_in(text)
        ]
        rendered[title] = sentences_with_examples(new, examples.splitlines())
        text += " ".join(rendered[title])
    return "\n".join(
        "\n".join([f"## {title}", "", *lines, ""])
        for title, lines in sorted(
            rendered.items(), key=lambda section: READERS.index(section[0].partition(":")[0])
        )
    )


def messages(fresh: Fresh, state: str) -> list[str]:
    """Return the message of each example alarm in *state*: its subject, then its text."""
    lines = []
    for name in MESSAGE_SCENES:
        event, table = play(name)
        ends = re.search("over|no-data|muted", name)
        now_s = FIRED_S + 47 * 60 + 11 if ends else FIRED_S + 1
        message = notify(
            read_transition(event),
            table,
            ENVIRONMENT,
            lambda *_: None,
            now_s,
            printer=lambda _: None,
        ).message
        if bool(ends) == (state == "OK") and message is not None:
            text = LONG_PARTS.sub(r"\1...", message.text)
            commands = COMMAND_LINE if lines else "$^"  # the first message is whole
            new = fresh.of_lines(re.sub(commands, "", text, flags=re.MULTILINE).splitlines())
            urgency = ": ".join(message.subject.split(": ")[:2])
            lines += [f"{urgency} ({name})", *new, ""] if new else []
    return lines[:-1]


def pipeline_alarms() -> Iterator[str]:
    """Yield the description of each alarm that no function explains, with default parameters."""
    defaults = {
        name: str(parameter.get("Default") or "neuron-emf")
        for name, parameter in STACK_TEMPLATE["Parameters"].items()
    }
    for alarm in on_pipeline(STACK_TEMPLATE).values():
        text = description_of(alarm).partition(" Runbook:")[0].replace("${New}", "")
        text = re.sub(r"\$\{(\w+)\}", lambda name: defaults.get(name[1], name[1]), text)
        yield " ".join(text.split())


def digests() -> Iterator[str]:
    """Yield the digest of three weeks: complete, with missing hours, and without a ledger."""
    end = 494_616  # 2026-06-05T00:00Z
    days = range(end - WEEK_HOURS, end)
    before = week_of([row(days.start - 1)], range(days.start - WEEK_HOURS, days.start))
    rows = [
        row(end - 1, "slurm:4711 ml-user", team="ml", idle_cost=9 * NANOS),
        row(end - 1, "ml/llama-70b-0", instance_id="i-0a1b2c3d4e5f60718", busy=CORE_HOUR),
        row(end - 1, "[unknown]", busy=None, idle=None, idle_cost=None, avoidable_cost=None),
        row(end - 1, "[unallocated]", **dict.fromkeys(UNPRICED)),
    ]
    for week in (
        week_of(rows, days),
        week_of(rows, days, missing=days[:9]),
        Week(hours=days),
    ):
        message = digest_message(week, before, "neuron-emf", "us-east-1")
        yield f"Subject: {message.subject}"
        yield from message.body.splitlines()


def verdicts(fresh: Fresh, shown: Path) -> list[str]:
    """Return the questions to owners, then each guard with a reason to keep an instance."""
    reasons = {guard.name: [guard.must_hold] for guard in (*LINE_GUARDS, *ACCOUNT_GUARDS)}
    asked: dict[str, str] = {}
    for line in (shown / "guards.txt").read_text("utf-8").splitlines():
        if match := GUARD_LINE.fullmatch(line):
            for guard in match["guards"].split(", "):
                reasons[guard].append(f"  {match['state']}: {match['text']}")
        elif match := re.fullmatch(r"[^:]+: ask (.+?): (.+)", line):
            asked.setdefault(
                match[2], f"Ask {match[1].replace('None', 'the owner in the tags')}: {match[2]}"
            )
    conditions = [line for lines in reasons.values() for line in lines[:2]]
    return fresh.of_lines([*asked.values(), *conditions])


def checks(shown: Path) -> Iterator[str]:
    """Yield the result of each check: its state, what it found, and what to do."""
    for path in sorted(shown.glob("check-*.txt")):
        for line in AWS_WORDS.sub(r"(\1\2)", path.read_text("utf-8")).splitlines():
            if match := CHECK_LINE.fullmatch(line):
                text = match["result"] or match["found"]
                state = match["account"] or match["machine"]
                yield f"{state}: {text.removesuffix('; -').rstrip('.')}."


def refused_bills(shown: Path) -> Iterator[str]:
    """Yield why a month of a bill is refused."""
    for line in (shown / "refused-months.txt").read_text("utf-8").splitlines():
        if line.startswith("  ") and line.endswith("."):
            yield line.partition(": ")[2]


def emitter_refusals() -> Iterator[str]:
    """Yield the emitter's sentence about each refusal of CloudWatch Logs and of the SDK."""
    for code, operation, words in REFUSALS:
        failure = Failure(operation, code, 400, words)
        yield str(vars_of(outcome_of(failure, group="/neuron-emf/records", region="us-east-1")))
    for kind, words in SDK_FAILURES.items():
        yield str(vars_of(sdk_outcome({kind}, words)))


def vars_of(outcome: object) -> object:
    """Return the sentence of an outcome."""
    return getattr(outcome, "sentence", None) or getattr(outcome, "words", outcome)


def command_refusals() -> Iterator[str]:
    """Yield a command's sentence about each refusal of AWS and of the SDK."""
    for code, operation, words in REFUSALS:
        error = ClientError({"Error": {"Code": code, "Message": words}}, operation)
        yield str(refusal(error, "logs:FilterLogEvents"))
    yield str(refusal(EndpointConnectionError(endpoint_url=ENDPOINT), "logs:FilterLogEvents"))
    yield str(refusal(NoCredentialsError(), "logs:FilterLogEvents"))
