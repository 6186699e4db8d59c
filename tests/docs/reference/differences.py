"""What of AWS is played here and how it is known; the recorded cases, counted."""

from __future__ import annotations

from local.differences import BASES, DIFFERENCES
from tests.docs.reference.markdown import code, table
from tests.recorded import (
    test_recorded_alarms as of_alarms,
)
from tests.recorded import (
    test_recorded_deliveries as of_deliveries,
)
from tests.recorded import (
    test_recorded_events as of_events,
)
from tests.recorded import (
    test_recorded_logs as of_logs,
)
from tests.recorded import (
    test_recorded_patterns as of_patterns,
)
from tests.recorded.recording import EVALUATION, FILTERS, INGESTION

SUBJECTS = [  # subject, tables with the recording of rows that name none, recorded and not played
    ("alarms on one metric", [(EVALUATION, of_alarms.SCALAR)], 13),
    ("alarms on a query with groups", [(None, of_alarms.GROUPED)], 0),
    ("queries that an alarm may have", [(None, of_alarms.ADMISSION)], 0),
    ("writing to CloudWatch Logs", [(INGESTION, of_logs.WRITES), (INGESTION, of_logs.REFUSALS)], 0),
    ("reading from CloudWatch Logs", [(None, of_logs.PAGES)], 0),
    ("filter patterns", [(FILTERS, of_patterns.MATCHED), (FILTERS, of_patterns.REFUSED)], 75),
    ("deliveries of subscriptions", [(None, of_deliveries.ENVELOPES)], 0),
    ("standard output of functions", [(None, of_deliveries.PRINTED)], 0),
    ("events of alarms", [(None, of_events.SHAPES)], 0),
]


def bases():
    """What the last column of the tables means."""
    return "".join(f"* *{basis}*: {meaning}\n" for basis, meaning in BASES.items())


def played(*, is_rehearsed):
    """The rows of the rehearsal, or those of tests alone."""
    rows = [
        [one.part, one.here.format(python="Python 3.11 to 3.14"), one.basis]
        for one in DIFFERENCES
        if one.is_rehearsed is is_rehearsed
    ]
    return table(["of AWS", "here", "known by"], rows)


def not_deployed(template):
    """What the embedded AWS refuses, by why."""
    by_why = {}
    for row in template["Metadata"]["Rehearsal"]["NotEmulated"]:
        by_why.setdefault(row["Why"], []).append(code(row["Resource"]))
    return table(
        ["not deployed", "because"], [[", ".join(names), why] for why, names in by_why.items()]
    )


def recorded():
    """How many recorded cases decide a subject, and where they were recorded."""
    rows = []
    for subject, tables, not_played in SUBJECTS:
        cases = [recording or row[0] for recording, some in tables for row in some]
        names = ", ".join(code(one.rpartition("/")[2]) for one in dict.fromkeys(cases))
        rows.append([subject, str(len(cases)), str(not_played), names])
    return table(["subject", "cases that agree", "not played", "recordings"], rows)
