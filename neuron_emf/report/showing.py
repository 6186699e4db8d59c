"""Where an idle report goes: files that were asked for, and standard output."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.errors import DeliveryError
from neuron_emf import printing
from neuron_emf.report import page, spreadsheet
from neuron_emf.report.document import document
from neuron_emf.report.terminal import parts

if TYPE_CHECKING:
    from neuron_emf.report.outcome import Outcome
    from neuron_emf.report.settings import IdleReportSettings


def show(found: Outcome, settings: IdleReportSettings) -> None:
    """
    Write the files, then print.

    Raises:
        DeliveryError: If a file or standard output takes nothing.
    """
    if settings.html is not None:
        _write(settings.html, page.text(found))
    if settings.csv is not None:
        _write(settings.csv, spreadsheet.text(found))
    if settings.json:
        printing.show_json(document(found))
    else:
        printing.show(*parts(found, settings.rows))


def _write(path: Path, text: str) -> None:
    """The whole file or none of it: whoever opens it meanwhile sees the one before."""
    temporary = ""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout is written to, never replaced
            path.write_bytes(text.encode())
            return
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            newline="",
            dir=path.parent,
            prefix=f".{path.name}.",
            delete=False,
        ) as file:
            temporary = file.name
            file.write(text)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        msg = f"{path} was expected to take the idle report and does not: {error.strerror}"
        raise DeliveryError(msg) from error


def _umask() -> int:
    found = os.umask(0o022)
    os.umask(found)
    return found
