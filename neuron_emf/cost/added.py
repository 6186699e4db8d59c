"""
What the operator adds to the lines, in bytes: tags and common dimensions.

Each is a member of the line, and a dimension is named in its directive, too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from emitter.lines import legacy
from emitter.lines.settings import LEGACY, NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_emf.cost.fleet import Setup

_COMMON: Final[Mapping[str, str]] = {
    legacy.INSTANCE_ID: "i-0123456789abcdef0",
    legacy.INSTANCE_TYPE: "trn1.32xlarge",
    legacy.AMI_ID: "ami-0123456789abcdef0",
}
"""Values as long as they usually are."""


def every_line(setup: Setup) -> int:
    """Bytes that tags add to every line."""
    return _members(setup.tags)


def lines_with_dimensions(setup: Setup) -> int:
    """Bytes that are added to lines which define metrics of the whole instance."""
    if setup.metrics == NONE:
        return 0
    wanted = legacy.used(setup.common_dims)
    size = _members((name, _COMMON[name]) for name in wanted)
    if setup.metrics == LEGACY:
        return size + len(",".join(map(json.dumps, wanted)))
    sets = [[name] for name in dict.fromkeys(setup.tag_dimensions)]
    sets += [list(wanted)] if wanted else []
    return size + sum(len(f',["ClusterName",{",".join(map(json.dumps, one))}]') for one in sets)


def _members(values: Iterable[tuple[str, str]]) -> int:
    return sum(len(f",{json.dumps(name)}:{json.dumps(value)}") for name, value in values)
