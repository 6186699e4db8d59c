"""Members of lines that the catalogue does not have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from neuron_wire.catalogue import members_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_NUMBERED: Final = re.compile(r"(NeuronCoreUtilizationNC)[0-9]+")


def undocumented(line: Mapping[str, object], tags: Collection[str] = ()) -> list[str]:
    """
    Return members of *line* that the catalogue does not have for its Kind, in order.

    *tags* are the operator's. Members of objects in an array are named like `Holders.Pid`, at any
    depth.
    """
    known = members_of(str(line.get("Kind"))).keys() | set(tags) | {"_aws"}
    return [name for name in _paths(line) if _NUMBERED.sub(r"\g<1>0", name) not in known]


def _paths(line: Mapping[str, object]) -> Iterator[str]:
    for name, value in line.items():
        yield name
        if isinstance(value, list):
            rows = [row for row in value if isinstance(row, Mapping)]
            yield from dict.fromkeys(f"{name}.{path}" for row in rows for path in _paths(row))
