"""What the rules of thumb find, for a person and for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from neuron_emf.printing import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from neuron_emf.profile.line import Profile


def sentences(profile: Profile) -> Iterator[str]:
    """One line of text for each doubt and each finding."""
    title = escaped(profile.title)
    for doubt in profile.doubts:
        yield f"{title}: {doubt}"
    for advice in profile.advice:
        yield f"{title}: {advice.rule}: {advice.sentence}: {advice.advice}"


def listing(profiles: Sequence[Profile]) -> Iterator[RenderableType]:
    """Every profile with what is worth a look, then the counts."""
    for profile in profiles:
        if profile.advice or profile.doubts:
            yield Text(escaped(profile.title), style="bold", no_wrap=True)
        for doubt in profile.doubts:
            yield _indented(Text.assemble(("doubt:", "yellow"), f" {escaped(doubt)}."))
        for advice in profile.advice:
            yield _indented(
                Text.assemble(
                    (f"{advice.rule}:", "bold red"), f" {advice.sentence}: {advice.advice}."
                )
            )
    quiet = sum(not profile.advice for profile in profiles)
    total = f"{len(profiles)} profile{'' if len(profiles) == 1 else 's'}"
    yield Text(f"{total}, {quiet} of them without a finding.")


def document(profiles: Sequence[Profile]) -> list[dict[str, object]]:
    """The same as JSON."""
    return [
        {
            "profile": profile.title,
            "doubts": list(profile.doubts),
            "findings": [
                {"rule": each.rule, "sentence": each.sentence, "advice": each.advice}
                for each in profile.advice
            ],
        }
        for profile in profiles
    ]


def _indented(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, 2), expand=False)
