"""
The idle report as one HTML file: for a browser, a mail, or a printer.

The one module that knows Jinja2. `page.html` has no script and fetches nothing; whatever is
put into it is text, other people's too, and Jinja2 escapes it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, StrictUndefined

from emitter import __version__
from neuron_emf import figures
from neuron_emf.owners import NO_TEAM
from neuron_emf.payment import AVOIDABLE, Saving
from neuron_emf.report import sentences
from neuron_wire.holders import core_ranges
from neuron_wire.names import UNKNOWN_OWNER
from neuron_wire.phrases import duration, moment

if TYPE_CHECKING:
    from neuron_emf.report.idle_report import IdleReport

MAX_ROWS: Final = 1000
"""Of each table: more is slow in a browser, and nobody reads it. The CSV has all."""


def text(report: IdleReport) -> str:
    """The whole file."""
    environment = Environment(
        autoescape=True,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "avoidable": lambda idle: idle.usd_of(*AVOIDABLE),
        "shared": lambda idle: idle.usd_of(Saving.SHARED),
        "sunk": lambda idle: idle.usd_of(Saving.SUNK),
        "team": lambda team: figures.name(team) if team else NO_TEAM,
        "core_ranges": core_ranges,
        "count": "{:,}".format,
        "dollars": figures.dollars,
        "duration": duration,
        "hours": figures.hours,
        "moment": moment,
        "name": figures.name,
        "percent": figures.percent,
    }
    template = environment.from_string(
        files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    )
    page = template.render(
        report=report,
        total=report.total,
        say=sentences,
        share=figures.share,
        max_rows=MAX_ROWS,
        unknown_owner=UNKNOWN_OWNER,
        version=__version__,
    )
    return page.lstrip()  # the template's macros leave empty lines
