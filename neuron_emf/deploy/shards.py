"""
Which numbers of shards one deployment reaches, and by which steps the others are reached.

UpdateShardCount, which CloudFormation calls, takes at most the double and at least the half:
https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping


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
