"""The command `neuron-emf scrub`, and its settings."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.declaration import setting
from emitter.settings.options import options

if TYPE_CHECKING:
    from neuron_emf.scrub.shapes import Scrubber

_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 a file cannot be read or holds nothing to scrub, "
    "4 standard output cannot be written."
)
_MOST_REMOVED: Final = 20


@dataclass(frozen=True, kw_only=True)
class ScrubSettings:
    """What stays besides."""

    keep: tuple[str, ...] = setting(
        (),
        "Keep a member that is on no list, such as one of a newer neuron-monitor: numbers as they "
        "are, texts under pseudonyms; repeatable.",
        metavar="MEMBER",
    )


@click.command(name="scrub", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(ScrubSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Remove identities from reports and log lines, so that they can be shared.

    FILES hold reports of neuron-monitor or lines of neuron-emf, plain or gzip;
    - is standard input. One JSON object a line is printed. Names, ids, paths and
    messages become other names, the same for the same; members that no list
    names are removed and counted. Numbers, times, instance types and regions stay.
    """
    from emitter.command_line import print_lines  # noqa: PLC0415 - --help needs none of it
    from emitter.errors import SourceError  # noqa: PLC0415 - as above
    from neuron_emf.scrub.documents import Documents  # noqa: PLC0415 - as above
    from neuron_emf.scrub.shapes import Scrubber  # noqa: PLC0415 - as above

    settings = ScrubSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    scrubber = Scrubber(frozenset(settings.keep))
    documents = Documents()
    count = 0
    for path in files:
        for document, shape in documents.of(path):
            scrubbed = scrubber.scrub(document, shape)
            # What does not print is escaped, so that no file can tell a terminal anything.
            print_lines([json.dumps(scrubbed, separators=(",", ":"))])
            count += 1
    if not count:
        names = ", ".join(map(str, files))
        msg = f"No report and no log line in {names}. Name a file that neuron-monitor wrote."
        raise SourceError(msg)
    if sys.stderr is not None:
        sys.stderr.write("\n".join(_summary(scrubber, count, documents.left_out)) + "\n")
    return 0


def _summary(scrubber: Scrubber, count: int, left_out: int) -> list[str]:
    """What was done, without a word of what was removed but the names of members."""
    sentences = [f"Scrubbed: {count}. Names replaced: {len(scrubber.names)}."]
    if scrubber.removed:
        removed = sorted(scrubber.removed)
        names = ", ".join(name[:40] for name in removed[:_MOST_REMOVED])
        more = f" and {len(removed) - _MOST_REMOVED} more" if len(removed) > _MOST_REMOVED else ""
        sentences.append(
            f"Members removed, because they are on no list: {names}{more}."
            " Keep one with --keep MEMBER."
        )
    if left_out:
        sentences.append(f"Omitted, neither report nor log line: {left_out}.")
    sentences.append("Read the result before you share it.")
    return sentences
