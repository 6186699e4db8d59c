"""
The verdict about an instance: release it, ask its owner, or keep it.

The instance can be *released* if every guard was tried and passes. An owner of idle cores is
*asked*, even if facts of the account are unknown, unless the owner works elsewhere or a tag keeps
the instance. Otherwise the instance is *kept*: the reason is the first guard that failed, otherwise
the first unknown one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from rich.text import Text

from neuron_accounts.core_time import DEFAULT_IDLE_AFTER_MINUTES
from neuron_emf import check_results
from neuron_emf.check.listing import result_tables
from neuron_emf.check_results import CHECK_FAILED, LONGEST, NOT_TRIED, WARNING, failures
from neuron_emf.verdict.account_guards import commands_of
from neuron_emf.verdict.verdict_facts import Unknown
from neuron_wire.names import MINUTE_MS
from neuron_wire.owners import UNNAMED_OWNER
from neuron_words.name_words import printable
from neuron_words.owner_commands import ShownCommand, instance_commands, owner_commands
from neuron_words.quantity_words import duration, iso, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from neuron_emf.check_results import Check, CheckResult
    from neuron_emf.verdict.verdict_facts import AccountFacts, LineFacts
    from neuron_wire.line_members import JsonObject
    from neuron_wire.owners import Owner

VERDICT_RELEASE: Final = "release"
VERDICT_ASK: Final = "ask"
VERDICT_KEEP: Final = "keep"
EXIT_CODES: Final = {VERDICT_RELEASE: 0, VERDICT_ASK: 1, VERDICT_KEEP: 3}
VALID_MINUTES: Final = 5
"""Minutes for which its commands are valid."""

MOST_OWNERS: Final = 3  # owners whose commands are shown
_STAYS: Final = frozenset({"newest-line", "siblings", "running", "keep-tag"})
"""Guards that keep an instance, however idle its owners are."""

_OF_OWNERS: Final = frozenset({"no-holder", "no-reservation"})
_RELEASE_STEPS: Final = ("Stop placement", "Ask again", "Remove it")
_STORE: Final = "instance-store"
_UNSEEN: Final = (
    "Not checked: logins other than those of Session Manager, jobs that wait in a queue, "
    "and lines in other log groups and regions."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    The verdict.

    Attributes:
        instance_id: The instance.

        answer: `VERDICT_RELEASE`, `VERDICT_ASK` or `VERDICT_KEEP`.

        reason: The reason, as a sentence.

        results: The result of each guard.

        owner: The owner to ask, if there is one with a name.

        manager: The manager, if it is known.

        commands: Commands of its manager to release it, in order; or commands that show its owners'
            work.

        valid_until_ms: Time until which commands that release it are valid; None for others.
    """

    instance_id: str
    answer: Literal["release", "ask", "keep"]
    reason: str
    results: Sequence[CheckResult]
    owner: str | None = None
    manager: str | None = None
    commands: Sequence[ShownCommand] = ()
    valid_until_ms: int | None = None

    @property
    def warnings(self) -> list[str]:
        """Return remarks that the operator must know before typing a command."""
        return [
            f"{result.found[:1].upper()}{result.found[1:]}. {result.advice}"
            for result in self.results
            if result.state == WARNING
        ]


def verdict(
    lines: LineFacts, account: AccountFacts, guards: Sequence[Check], options: str = ""
) -> Verdict:
    """Return the verdict of *guards* on these facts; *options* are repeated in commands."""
    results = [guard.result(lines, account) for guard in guards]
    against = sorted(failures(results), key=lambda result: result.state != CHECK_FAILED)
    states = {result.check: result.state for result in against}
    stays = [
        result for result in against if result.state == CHECK_FAILED and result.check in _STAYS
    ]
    owners = [
        owner
        for owner in lines.newest.owners
        if min(lines.idle_minutes, owner.quiet_minutes or 0) >= DEFAULT_IDLE_AFTER_MINUTES
    ]
    manager_kind = None if isinstance(account.manager, Unknown) else account.manager.kind
    kept = Verdict(lines.instance_id, VERDICT_KEEP, "", results, manager=manager_kind)
    if owners and not stays:
        return _asking(kept, lines, owners)
    untried = _not_tried(results)
    if not against and not untried:
        commands = commands_of(lines, account)
        again = [f"{text}{options}" if text.startswith("neuron-emf") else text for text in commands]
        idle = duration(lines.idle_minutes)
        return replace(
            kept,
            answer=VERDICT_RELEASE,
            reason=f"no core was busy, held or reserved for {idle} ({manager_kind}).",
            commands=[*map(ShownCommand, _RELEASE_STEPS[-len(again) :], again)],
            valid_until_ms=lines.now_ms + VALID_MINUTES * MINUTE_MS,
        )
    if states == {_STORE: CHECK_FAILED} and not untried:
        return _asking(kept, lines, ())
    first = (stays or against or untried)[0]
    reason = first.found
    if lines.newest.owners and first.check in _OF_OWNERS:
        reason += f", and is not known to have been idle for {DEFAULT_IDLE_AFTER_MINUTES} min"
    return replace(kept, reason=f"{reason}.")


def needs_other_streams(found: Verdict) -> bool:
    """Return True if lines of log streams that were not read can change the answer."""
    against = {result.check for result in failures(found.results)}
    return bool(_not_tried(found.results)) and against <= {_STORE}


def _not_tried(results: Sequence[CheckResult]) -> list[CheckResult]:
    return [result for result in results if result.state == NOT_TRIED]


def _asking(found: Verdict, lines: LineFacts, owners: Sequence[Owner]) -> Verdict:
    """Return the owner to ask: never a process without a name, or one whose pod or job is gone."""
    record = lines.newest
    region = record.region or ""
    not_asked = {UNNAMED_OWNER, *(holder.name for holder in record.holders if holder.gone)}
    assigned_to = next((holder.assigned_to for holder in record.holders if holder.assigned_to), "")
    names = [owner.name for owner in owners]
    asked = next((name for name in names if name not in not_asked), assigned_to) or None
    commands = [
        command
        for name in dict.fromkeys([assigned_to, *names[:MOST_OWNERS]])
        for command in owner_commands(name, record.cluster, region)
    ]
    if not (asked and commands):
        commands.extend(instance_commands("tags", [lines.instance_id], region))
    reason = "it is idle and has no owner, but a stop loses the data on its instance store"
    if owners:
        first = next((owner for owner in owners if owner.name == asked), owners[0])
        who = "it" if first.name == asked else f"a process that {first.name} left"
        has = f"{'a process' if first.name == UNNAMED_OWNER else who} holds cores {first.cores}"
        if not first.cores:
            has = f"cores {first.reserved} are reserved for it and no process has opened them"
        has += f", which are assigned to {assigned_to}" if assigned_to else ""
        idle = duration(min(lines.idle_minutes, first.quiet_minutes or 0))
        reason = f"{has}; no core busy and no execution for {idle}"
    return replace(found, answer=VERDICT_ASK, reason=f"{reason}.", owner=asked, commands=commands)


def for_people(found: Verdict, *, is_whole: bool) -> list[RenderableType]:
    """Return the verdict in one sentence, its commands, the failed guards, and all results."""
    ask = f"Ask {found.owner or 'whose it is'}"
    word = {VERDICT_RELEASE: "Release it", VERDICT_ASK: ask, VERDICT_KEEP: "Keep it"}[found.answer]
    answer = printable(f"{word}: {found.reason}", LONGEST)
    parts: list[RenderableType] = [Text(answer, style="bold")]
    width = max((len(command.purpose) for command in found.commands), default=0) + 1
    for number, command in enumerate(found.commands, 1):
        label = f"{command.purpose}:".ljust(width)
        parts.append(Text(f"{number}. {label}  {command.text}", no_wrap=True))
    if found.valid_until_ms is not None:
        parts += [
            f"Nothing was stopped. Valid until {moment(found.valid_until_ms)}.",
            *(f"Warning: {printable(sentence, LONGEST)}" for sentence in found.warnings),
            _UNSEEN,
        ]
    if is_whole:
        return [*parts, "", *result_tables(found.results)]
    against: dict[str, list[str]] = {}
    for result in failures(found.results):
        if f"{result.found}." != found.reason:
            against.setdefault(result.found, []).append(result.check)
    sentences = (
        f"Reason against it: {said} ({', '.join(names)})." for said, names in against.items()
    )
    return [*parts, *(printable(sentence, LONGEST) for sentence in sentences)]


def for_programs(found: Verdict) -> JsonObject:
    """Return the verdict as one document."""
    return {
        "instance_id": found.instance_id,
        "answer": found.answer,
        "reason": found.reason,
        "owner": found.owner,
        "manager": found.manager,
        "commands": [command.text for command in found.commands],
        "warnings": found.warnings,
        "valid_until": None if found.valid_until_ms is None else iso(found.valid_until_ms),
        "checks": check_results.for_programs(found.results)["checks"],
    }
