"""What of AWS is played here and how it is known."""

from __future__ import annotations

from local.rehearsal.page import DIFFERENCES
from tests.docs.reference.markdown import codes, table


def bases():
    """What the last column of the tables means."""
    return "".join(f"* *{basis}*: {meaning}\n" for basis, meaning in DIFFERENCES["bases"].items())


def played(by):
    """The rows of the rehearsal, or those of tests alone."""
    rows = [
        [
            difference["part"],
            difference["here"].format(python="Python 3.11 to 3.14"),
            difference["basis"],
        ]
        for difference in DIFFERENCES[by]
    ]
    return table(["of AWS", "here", "known by"], rows)


def not_deployed(template):
    """What the embedded AWS refuses, by why."""
    rows = template["Metadata"]["Rehearsal"]["NotEmulated"]
    return table(
        ["not deployed", "because"], [[codes(row["Resources"]), row["Why"]] for row in rows]
    )
