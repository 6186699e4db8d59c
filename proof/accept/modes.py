"""The steps that change a stack: its mode, its deletion, its deployment on the lines it left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proof.accept.journal import STACK, Entry
from proof.accept.path import next_minutes, parameters, upload
from proof.accept.possession import change_stack, delete_stack, done, group_arn, make_stack

if TYPE_CHECKING:
    from proof.accept.scene import Scene

AUDIT_MINUTES: Final = 15.0


def to_kinesis(scene: Scene) -> list[str]:
    """From direct to the stream; back at once is refused, and the stack stays as it is."""
    stack = change_stack(scene.place, scene.stacks[scene.changed], Mode="kinesis")
    if (stack.status, stack.parameters["Mode"]) != ("UPDATE_COMPLETE", "kinesis"):
        return [f"from direct to kinesis: {stack.status}"]
    refused = change_stack(scene.place, stack, Mode="direct")
    scene.stacks[scene.changed] = refused
    found = refused.status, refused.parameters["Mode"]
    if found != ("UPDATE_ROLLBACK_COMPLETE", "kinesis"):
        return [f"from kinesis to direct was expected to be refused, found {found}"]
    return []


def through_the_stream(scene: Scene) -> list[str]:
    """Lines that come while the filter delivers to the stream are counted once."""
    return next_minutes(scene, scene.changed, "stream") or audit(scene)


def back_to_direct(scene: Scene) -> list[str]:
    """By way of drain, with lines in each mode; every Seq counts once in the end."""
    problems = []
    for mode in ("drain", "direct"):
        stack = change_stack(scene.place, scene.stacks[scene.changed], Mode=mode)
        scene.stacks[scene.changed] = stack
        if (stack.status, stack.parameters["Mode"]) != ("UPDATE_COMPLETE", mode):
            return [f"to {mode}: {stack.status}"]
        problems += next_minutes(scene, scene.changed, mode)
        if scene.place.is_embedded:  # a change of a function ends what it has not yet begun
            problems += audit(scene)
    return problems or audit(scene)


def delete_and_adopt(scene: Scene) -> list[str]:
    """Deleted, its lines stay; deployed again on them, they are read on; deleted, they stay."""
    group, name = scene.group(scene.changed), scene.changed
    before = len(scene.events(group))
    if why := delete_stack(scene.place, scene.journal, name):
        return [why]
    scene.journal.is_gone(Entry(STACK, name))
    if before != len(scene.events(group)):
        return [f"of {before} lines {len(scene.events(group))} stayed"]
    given = {**parameters(scene, name, "direct"), "AdoptLogGroup": "true"}
    make_stack(scene.place, scene.journal, name, given, TemplateURL=upload(scene))
    scene.stacks[name] = done(scene.place, name)
    since_ms = scene.told_until_s[name] * 1000
    problems = next_minutes(scene, name, "adopted")
    expected = {one.minute_ms for one in scene.records(name) if one.minute_ms >= since_ms}

    def unread() -> list[str]:
        scene.differences(name)  # asks close where nothing else does
        read = {minute_s * 1000 for _, minute_s in scene.rollups(name).minutes}
        return [f"minute {one} has no rollup" for one in sorted(expected - read)]

    problems += scene.settle(unread, AUDIT_MINUTES)
    if why := delete_stack(scene.place, scene.journal, name):
        return [*problems, why]
    scene.journal.is_gone(Entry(STACK, name))
    return problems if group_arn(scene.place, group) else [*problems, f"{group} did not stay"]


def audit(scene: Scene) -> list[str]:
    """Each Boot has every Seq from 1 on in the log group, and the rollups are what they come to."""
    return scene.settle(lambda: scene.differences(scene.changed), AUDIT_MINUTES)
