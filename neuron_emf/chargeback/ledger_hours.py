"""The ledger's rows hour by hour: of the stack's bucket, or of a folder with its objects."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from emitter.errors import SettingsError, SourceError
from neuron_emf.ledger import rows
from neuron_wire.ledger import PARTS, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from neuron_wire import WireFormatError
    from neuron_wire.ledger import LedgerRow


class LedgerObjects(Protocol):
    """Where the objects are."""

    def settled_hours(self, hours: range) -> list[int]:
        """Those of *hours* that have all their objects, ascending."""

    def objects(self, hours: Iterable[int]) -> Iterator[bytes]:
        """Every object of *hours*, in their order."""


class LedgerFolder:
    """The objects in a folder, under the keys that they have in the bucket."""

    def __init__(self, folder: Path) -> None:
        """
        Read *folder*, which has `ledger/` in it or is that.

        Raises:
            SettingsError: If it holds no ledger.
        """
        places = [folder, folder.parent] if folder.name == "ledger" else [folder]
        self._root = next((place for place in places if (place / "ledger").is_dir()), folder)
        if not (self._root / "ledger").is_dir():
            msg = (
                f"{folder} has no folder ledger. Copy the bucket with aws s3 sync, "
                "or correct --ledger."
            )
            raise SettingsError(msg)

    def settled_hours(self, hours: range) -> list[int]:
        """As `LedgerObjects`."""
        return [
            hour
            for hour in hours
            if all((self._root / key_of(hour, part)).is_file() for part in range(PARTS))
        ]

    def objects(self, hours: Iterable[int]) -> Iterator[bytes]:
        """
        As `LedgerObjects`.

        Raises:
            SourceError: If one cannot be read.
        """
        for hour in hours:
            for part in range(PARTS):
                path = self._root / key_of(hour, part)
                try:
                    yield path.read_bytes()
                except OSError as error:
                    msg = f"Cannot read {path}: {error.strerror}."
                    raise SourceError(msg) from error


def ledger_hours(
    objects: LedgerObjects, hours: Iterable[int]
) -> Iterator[tuple[int, dict[str, list[LedgerRow]]]]:
    """
    The rows of each of *hours* that has any, by instance, in order of time.

    Raises:
        SourceError: If an object cannot be read: money is not reckoned without it.
    """
    for hour, of_hour in groupby(rows(objects.objects(hours), _refuse), key=lambda row: row.hour):
        by_instance: dict[str, list[LedgerRow]] = {}
        for row in of_hour:
            by_instance.setdefault(row.instance_id, []).append(row)
        yield hour, by_instance


def _refuse(error: WireFormatError) -> None:
    msg = f"The ledger is damaged: {error}. Settle its hours again, or copy the bucket again."
    raise SourceError(msg) from error
