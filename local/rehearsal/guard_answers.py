"""
What `neuron-emf stoppable` answers about the instances that were idle all the hour.

The command as people type it, on the embedded AWS; what it must answer is for the
fleet's cast to say.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.rehearsal.expectation import expected_guards, idle_members
from local.rehearsal.fleet import python_environment
from local.rehearsal.jobs import Job
from neuron_emf.stoppable.command import EXIT_HELD_BACK
from neuron_emf.stoppable.guard import FAILED, PASSED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from local.rehearsal.fleet import FleetInstance
    from local.rehearsal.page import AccountEndpoint

NOT_EMULATED: Final = ("stop-protection", "sessions")
"""Guards that ask the account what the embedded AWS does not answer."""


@dataclass(frozen=True, slots=True)
class GuardAnswer:
    """
    What was answered about one instance.

    Attributes:
        document: What `stoppable --json` printed.
    """

    member: FleetInstance
    document: Mapping[str, Any]

    def held_back(self) -> dict[str, tuple[str, str]]:
        """State and value of each guard that did not pass, by its name."""
        return {
            guard["guard"]: (guard["state"], guard["value"])
            for guard in self.document["guards"]
            if guard["state"] != PASSED
        }

    def text(self) -> str:
        """The verdict, who says no, who cannot tell, and how to read all of it."""
        guards, held_back = self.document["guards"], self.held_back()
        may = "may be" if self.document["stoppable"] else "may not be"
        passed = f"{len(guards) - len(held_back)} of {len(guards)} guards passed"
        where = f"{self.member.instance_type}, {self.member.cluster}"
        lines = [f"{self.member.instance_id} ({where}) {may} stopped: {passed}"]
        for name, (state, value) in held_back.items():
            if state == FAILED:
                lines.append(f"  no       {name}: {value}")
        if unknown := [name for name, (state, _) in held_back.items() if state == UNKNOWN]:
            lines.append(f"  unknown  {', '.join(unknown)}")
        lines.append(f"  .venv/bin/neuron-emf stoppable {self.member.instance_id} --rehearsal")
        return "\n".join(lines)


def stoppable_jobs(
    folder: Path, environment: Mapping[str, str], place: AccountEndpoint
) -> list[list[Job]]:
    """What asks about each idle member, each on its own; the answers are left in *folder*."""
    return [
        [
            Job(
                f"neuron-emf stoppable {member.instance_id}",
                [
                    *(sys.executable, "-m", "neuron_emf", "stoppable", member.instance_id),
                    *("--json", "--stack-name", place.stack_name, "--region", place.region),
                    *("--log-group", place.log_group),
                    *("--rollups-log-group", place.rollups_log_group),
                ],
                _file(folder, member),
                python_environment(environment),
                exit_codes=(0, EXIT_HELD_BACK),
            )
        ]
        for member in idle_members()
    ]


@dataclass(frozen=True, slots=True)
class GuardAnswers:
    """What was answered about all of them."""

    answers: Sequence[GuardAnswer]

    @classmethod
    def read(cls, folder: Path) -> GuardAnswers:
        """What `stoppable_jobs` left in *folder*."""
        return cls(
            [
                GuardAnswer(member, json.loads(_file(folder, member).read_text("utf-8")))
                for member in idle_members()
            ]
        )

    def text(self) -> str:
        """All of them, for people."""
        return "\n".join(answer.text() for answer in self.answers)

    def problems(self) -> list[str]:
        """Where a guard holds back what it must not hold back, or the other way round."""
        problems = []
        for answer in self.answers:
            wanted = {
                **{name: (FAILED, value) for name, value in expected_guards(answer.member).items()},
                **dict.fromkeys(NOT_EMULATED, (UNKNOWN, "")),
            }
            found = answer.held_back()
            problems += [
                f"{answer.member.instance_id}, neuron-emf stoppable, {name}: expected "
                f"{_said(wanted.get(name))}, found {_said(found.get(name))}"
                for name in sorted({*wanted, *found})
                if not _agree(wanted.get(name), found.get(name))
            ]
        return problems

    def sentence(self) -> str:
        """That all of it is right."""
        return (
            f"Events named the {len(self.answers)} instances that were idle all the hour, and "
            "neuron-emf stoppable says of each what holds it back."
        )


def against_events(found: Iterable[str]) -> list[str]:
    """Where an idle instance has no event, or an event is about another one."""
    idle, told = {one.instance_id for one in idle_members()}, set(found)
    return [
        *(f"{name} was idle all the hour, and no event says so" for name in sorted(idle - told)),
        *(f"an event says that {name} is idle, and it works" for name in sorted(told - idle)),
    ]


def _file(folder: Path, member: FleetInstance) -> Path:
    return folder / f"{member.name}.stoppable"


def _agree(wanted: tuple[str, str] | None, found: tuple[str, str] | None) -> bool:
    if wanted is None or found is None:
        return wanted is found
    return wanted[0] == found[0] and found[1].startswith(wanted[1])


def _said(judgement: tuple[str, str] | None) -> str:
    return PASSED if judgement is None else ": ".join(filter(None, judgement))
