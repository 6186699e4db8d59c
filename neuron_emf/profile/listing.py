"""What the rules of thumb find, for a person and for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from neuron_emf.profile.line import Profile


def sentences(profile: Profile) -> Iterator[str]:
    """One line of text for each doubt and each finding."""
    title = _printable(profile.title)
    for doubt in profile.doubts:
        yield f"{title}: {doubt}"
    for one in profile.findings:
        yield f"{title}: {one.rule}: {one.sentence}: {one.advice}"


def listing(found: Sequence[Profile]) -> Iterator[RenderableType]:
    """Every profile with what is worth a look, then the counts."""
    for profile in found:
        if profile.findings or profile.doubts:
            yield Text(_printable(profile.title), style="bold", no_wrap=True)
        for doubt in profile.doubts:
            yield _indented(Text.assemble(("doubt:", "yellow"), f" {_printable(doubt)}."))
        for one in profile.findings:
            yield _indented(
                Text.assemble((f"{one.rule}:", "bold red"), f" {one.sentence}: {one.advice}.")
            )
    quiet = sum(not one.findings for one in found)
    profiles = f"{len(found)} profile{'' if len(found) == 1 else 's'}"
    yield Text(f"{profiles}, {quiet} of them without a finding.")


def document(found: Sequence[Profile]) -> list[dict[str, object]]:
    """The same as JSON."""
    return [
        {
            "profile": one.title,
            "doubts": list(one.doubts),
            "findings": [
                {"rule": each.rule, "sentence": each.sentence, "advice": each.advice}
                for each in one.findings
            ],
        }
        for one in found
    ]


def _indented(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, 2), expand=False)


def _printable(text: str) -> str:
    # Names come from the file: what does not print is shown as its number.
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text[:300])
