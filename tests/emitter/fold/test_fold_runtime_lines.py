"""Which runtimes a line is due for, minute by minute."""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    executions,
    kubernetes,
    memory,
    new_fold,
    report,
    runtime,
)

from emitter.fold import FoldSettings

LISTED = counters([0, 0, 0, 0])
ON_0 = report(runtime(LISTED, memory({0: 1}), executions(1)))
ON_1 = report(runtime(LISTED, memory({1: 1}), executions(1)))
FAILING = report(runtime(LISTED, memory({0: 1}), executions(1, timed_out=1)))
BROKEN = report(runtime(LISTED, memory({0: 1}), error="lost the connection"))
OTHER = report(runtime(LISTED, memory({0: 1}), tag="other"))
OWNED = report(runtime(LISTED, memory({0: 1})), neuron_k8s_info=kubernetes({0: "blue/pod-1"}))


def reasons(*minutes, **chosen):
    """Why the one runtime has a line, minute by minute, None where it has none."""
    fold = new_fold(**chosen)
    found = []
    for number, document in enumerate(minutes):
        fold.clock.open_minute(START_S + 60 * number)
        if document is not None:
            add(fold, document, START_S + 60 * number)
        closed(fold)
        found.append(fold.due_runtimes[0].reason if fold.due_runtimes else None)
    return found


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        ([ON_0, ON_0, ON_0], ["start", None, None]),
        ([ON_0, ON_1, ON_1, ON_0], ["start", "change", None, "change"]),
        ([ON_0, OWNED, OWNED], ["start", "change", None]),
        ([ON_0, FAILING, ON_0], ["start", "error", None]),
        ([ON_0, BROKEN, ON_0], ["start", "error", None]),
        ([ON_0, None, ON_0], ["start", None, "start"]),
        ([ON_0, report(), ON_0], ["start", None, "start"]),
        # The interval of errors counts from the last line that told of one.
        ([ON_0, ON_0, FAILING], ["start", None, "error"]),
        # Pids repeat over time.
        ([ON_0, OTHER], ["start", "start"]),
    ],
)
def test_a_line_comes_with_what_is_new(minutes, expected):
    """At start, on a change of held cores or owner, on error; a gap of a minute ends a runtime."""
    assert expected == reasons(*minutes)


def test_a_quiet_runtime_has_a_line_an_hour():
    """60 minutes after its last one, whatever that was for."""
    found = enumerate(reasons(*[ON_0] * 30, *[ON_1] * 100))
    expected = {0: "start", 30: "change", 90: "hourly"}
    assert expected == {minute: reason for minute, reason in found if reason}


def test_a_runtime_that_always_fails_has_six_lines_an_hour():
    """An error line for each minute of 32 runtimes would cost nine times the minute line."""
    found = reasons(*[FAILING] * 60)
    assert ["start"] + ["error"] * 5 == [reason for reason in found if reason]


def test_a_person_chooses_which_runtimes_have_lines():
    """With the reason that `changes` would have, and `all` where it has none; `none` is no line."""
    assert ["start", "all", "change"] == reasons(ON_0, ON_0, ON_1, runtime_lines="all")
    assert [None, None] == reasons(ON_0, FAILING, runtime_lines="none")


def test_another_policy_holds_from_the_next_minute():
    """Settings that are read again: to every minute, to none and back."""
    fold = new_fold()
    found = []
    for minute, lines in enumerate(("changes", "all", "none", "changes")):
        fold.configure(FoldSettings(period_s=5.0, runtime_lines=lines))
        add(fold, ON_0, START_S + 60 * minute)
        closed(fold)
        found.append([one.reason for one in fold.due_runtimes])
    assert [["start"], ["all"], [], ["start"]] == found


def test_a_clock_set_back_starts_runtimes_anew():
    """Two hours and more behind, minutes are followed back: nobody knows what lies between."""
    fold = new_fold()
    add(fold, ON_0, START_S)
    closed(fold)
    add(fold, ON_0, START_S - 86_400)
    closed(fold)
    assert ["start"] == [one.reason for one in fold.due_runtimes]
