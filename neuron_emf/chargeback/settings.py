"""The settings of `neuron-emf chargeback`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from emitter.settings.declaration import setting
from neuron_emf.account import AccountSettings


@dataclass(frozen=True, kw_only=True)
class ChargebackSettings(AccountSettings):
    """Which month, by which bill, and where to put what each owner pays."""

    month: str = setting("", "Month in UTC, such as 2026-10; required.", metavar="YYYY-MM")
    ledger: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Folder with the ledger's objects, as aws s3 sync copies them; by default the bucket of "
        "the stack.",
        kind=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
    )
    reservations: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Answer of aws ec2 describe-capacity-reservations as JSON; by default EC2 is asked, and "
        "with --ledger nobody is.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    output: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Write all rows as FOCUS 1.3 to FILE, CSV, with gzip when its name ends in .gz.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    incomplete: bool = setting(
        default=False,
        help_text="Accept a month that is not over, or of which ledger or bill lack hours.",
    )
    rows: int = setting(
        10, "Rows of each table on the terminal, 1 to 1000.", kind=click.IntRange(1, 1000)
    )
