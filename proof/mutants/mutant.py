"""One small change to one file, and all of them that a file can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.mutants.excluded_code import Outline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Likeness(NamedTuple):
    """
    What a mutant is known by when lines around it move.

    Attributes:
        file: Of the repository, such as "emitter/fold/idle.py".

        where: The function or class, such as "IdleMinutes.advance"; "" is the module itself.

        was: The changed lines without the spaces around them, joined by one space.

        now: The same lines of the mutant.
    """

    file: str
    where: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.file} in {self.where or 'the module'}: {self.was} -> {self.now}"


@dataclass(frozen=True, slots=True)
class Mutant:
    """
    A change that is made when it is asked for.

    Attributes:
        file: Which file.

        line: Where, from 1.

        operator: The kind of change, by cosmic-ray's name.

        make: The whole file with the change in it.
    """

    file: str
    line: int
    operator: str
    make: Callable[[], str]


def likeness(file: str, line: int, before: str, after: str) -> Likeness:
    """How the mutant at *line* that makes *after* of *before* is known."""
    was, now = before.splitlines(), after.splitlines()
    while was and now and was[0] == now[0]:
        del was[0], now[0]
    while was and now and was[-1] == now[-1]:
        del was[-1], now[-1]
    return Likeness(file, Outline(before).definition(line), _joined(was), _joined(now))


def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    """
    Every mutant of *source*, by operator and then from top to bottom.

    Raises:
        ImportError: Without cosmic-ray.
    """
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415 - only in an environment of its own
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415

    from proof.mutants.operators import operators  # noqa: PLC0415

    outline = Outline(source)
    nodes = list(ast_nodes(get_ast(source)))
    for name, operator in operators():
        places = (
            (start, _is_marker(node))
            for node in nodes
            for start, _ in operator.mutation_positions(node)
        )
        for occurrence, (start, is_marker) in enumerate(places):
            if not is_marker and not outline.is_unmade(start):

                def make(operator: object = operator, occurrence: int = occurrence) -> str:
                    return mutate_code(source, operator, occurrence)

                yield Mutant(file, start[0], name, make)


def _is_marker(node: Any) -> bool:
    # The `*` before keyword-only parameters is no multiplication.
    return node.type == "operator" and node.parent.type in {"parameters", "lambdef"}


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
