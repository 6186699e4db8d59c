"""
What is not as on AWS in a rehearsal, listed at its start and at its end.

What the deployment leaves out is read from the template, which knows; the rest
is in the table that the reference shows, too.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from local.differences import DIFFERENCES

if TYPE_CHECKING:
    from collections.abc import Mapping


def limits(template: Mapping[str, Any]) -> list[str]:
    """
    One sentence per thing that is not as on AWS, for this *template*.

    Resources that are left out for the same reason share one.
    """
    python = f"Python {platform.python_version()}"
    sentences = [
        f"{one.part}: {one.here.format(python=python)} ({one.basis})."
        for one in DIFFERENCES
        if one.is_rehearsed
    ]
    sentences.extend(
        f"Not deployed, because {row['Why']}: {', '.join(row['Resources'])}."
        for row in template.get("Metadata", {}).get("Rehearsal", {}).get("NotEmulated", [])
    )
    return sentences
