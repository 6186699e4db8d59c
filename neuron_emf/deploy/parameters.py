"""
The parameters that a deployment names: the template has them, and one deployment reaches them.

The stack holds the choices: of a parameter that is not named the value stays.
UpdateShardCount, which CloudFormation calls, takes at most the double and at least the half:
https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from emitter.errors import SettingsError
from neuron_emf.deploy.stack import NEW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_emf.deploy.stack import Stack


def require_declared(declared: Sequence[str], named: Mapping[str, str]) -> None:
    """
    Make sure that the template, which has the *declared* parameters, has all that are *named*.

    Raises:
        SettingsError: If not, with the one that may have been meant.
    """
    for name in named:
        if name not in declared:
            meant = get_close_matches(name, declared, 1)
            advice = f"Did you mean {meant[0]}?" if meant else f"It has {', '.join(declared)}."
            msg = f"The template has no parameter {name[:80]}. {advice}"
            raise SettingsError(msg)


def given_parameters(
    declared: Sequence[str], named: Mapping[str, str], stack: Stack | None
) -> list[dict[str, object]]:
    """
    What CloudFormation is told: the *named*, and that the others keep what *stack* has.

    A parameter that the stack does not know yet is left out and takes its default.
    """
    kept = stack.parameters if stack is not None and stack.status != NEW else {}
    return [
        {"ParameterKey": name, "ParameterValue": named[name]}
        if name in named
        else {"ParameterKey": name, "UsePreviousValue": True}
        for name in declared
        if name in named or name in kept
    ]


def steps(now: int, wanted: int) -> tuple[int, ...]:
    """The deployments from *now* to *wanted* shards, each by its number; none when it is there."""
    numbers = []
    while now != wanted:
        now = min(wanted, 2 * now) if wanted > now else max(wanted, (now + 1) // 2)
        numbers.append(now)
    return tuple(numbers)


def require_one_step(parameters: Mapping[str, str], named: Mapping[str, str]) -> None:
    """
    Make sure that a stack with *parameters* reaches the *named* shards in one deployment.

    A stream that scales by itself (0) has a number that no parameter says.

    Raises:
        SettingsError: If Kinesis would refuse, after minutes of deployment and of going back.
    """
    after = {**parameters, **named}
    has_stream = (
        parameters.get("Mode", "direct") != "direct" and after.get("Mode", "direct") != "direct"
    )
    now, wanted = parameters.get("StreamShards", "0"), after.get("StreamShards", "0")
    if not has_stream or not (now.isdigit() and wanted.isdigit()) or "0" in (now, wanted):
        return
    asked = steps(int(now), int(wanted))
    if len(asked) > 1:
        others = ", then ".join(f"StreamShards={one}" for one in asked)
        msg = (
            f"Kinesis at most doubles or halves the shards of a stream, and StreamShards goes from "
            f"{now} to {wanted}. Deploy {others}."
        )
        raise SettingsError(msg)
