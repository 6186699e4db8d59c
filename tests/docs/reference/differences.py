"""What of AWS is played here and how it is known; the recorded cases, counted."""

from __future__ import annotations

from local.rehearsal.page import DIFFERENCES
from tests.docs.reference.markdown import code, codes, table
from tests.recorded.recording import rows as cases_of

SUBJECTS = [  # subject, tables, recorded and not played
    ("alarms on one metric", ["alarms_on_one_metric"], 13),
    ("alarms on a query with groups", ["alarms_on_a_query"], 0),
    ("queries that an alarm may have", ["queries_of_alarms"], 0),
    ("writing to CloudWatch Logs", ["writing_logs", "refusals_of_logs"], 0),
    ("reading from CloudWatch Logs", ["reading_logs"], 0),
    ("filter patterns", ["filter_patterns"], 75),
    ("deliveries of subscriptions", ["deliveries"], 0),
    ("standard output of functions", ["standard_output"], 0),
    ("events of alarms", ["events_of_alarms"], 0),
]


def bases():
    """What the last column of the tables means."""
    return "".join(f"* *{basis}*: {meaning}\n" for basis, meaning in DIFFERENCES["bases"].items())


def played(by):
    """The rows of the rehearsal, or those of tests alone."""
    rows = [
        [one["part"], one["here"].format(python="Python 3.11 to 3.14"), one["basis"]]
        for one in DIFFERENCES[by]
    ]
    return table(["of AWS", "here", "known by"], rows)


def not_deployed(template):
    """What the embedded AWS refuses, by why."""
    rows = template["Metadata"]["Rehearsal"]["NotEmulated"]
    return table(
        ["not deployed", "because"], [[codes(row["Resources"]), row["Why"]] for row in rows]
    )


def recorded():
    """How many recorded cases decide a subject, and where they were recorded."""
    rows = []
    for subject, tables, not_played in SUBJECTS:
        cases = [row["recording"] for one in tables for row in cases_of(one)]
        names = ", ".join(code(one.rpartition("/")[2]) for one in dict.fromkeys(cases))
        rows.append([subject, str(len(cases)), str(not_played), names])
    return table(["subject", "cases that agree", "not played", "recordings"], rows)
