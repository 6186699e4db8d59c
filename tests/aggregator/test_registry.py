"""
Which instances there are, and which have gone silent.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.item import bucket_of
from aggregator.registry import Registry, Silent
from tests.aggregator.made_records import MINUTE

NAME = "i-0aaaaaaaaaaaaaaa1"
MINUTES = st.lists(st.integers(MINUTE, MINUTE + 40), min_size=1, max_size=12, unique=True)


def registry(*minutes, gone=False) -> Registry:
    """
    Five minutes to silence, sixty to oblivion; one instance seen in *minutes*.
    """
    made = Registry(silent_after_minutes=5, silent_forget_minutes=60)
    for minute in minutes:
        made.see("training", NAME, minute, "trn1.2xlarge", gone=gone)
    return made


def expected(made: Registry, minute: int) -> bool:
    """
    Whether closing *minute* waits for the instance.
    """
    return ("training", NAME) in set(made.expected(bucket_of(NAME), minute))


def silent(made: Registry, minute: int) -> bool:
    """
    Whether the instance is silent in *minute*.
    """
    return bool(made.silent_by_cluster(minute).get("training"))


@pytest.mark.parametrize(
    ("absent_minutes", "waited_for", "is_silent", "cluster_known"),
    [
        (0, True, False, True),
        (5, True, False, True),
        (6, False, True, True),
        (60, False, True, True),
        (61, False, False, False),
    ],
)
def test_an_absent_instance_is_waited_for_then_silent_then_forgotten(
    absent_minutes, waited_for, is_silent, cluster_known
):
    """
    SilentAfterMinutes and SilentForgetMinutes are both inclusive.
    """
    made = registry(MINUTE)
    minute = MINUTE + absent_minutes
    assert (waited_for, is_silent) == (expected(made, minute), silent(made, minute))
    assert cluster_known == ("training" in made.silent_by_cluster(minute))


def test_a_silent_instance_is_named_with_when_it_was_last_seen():
    """
    The name, the type and the last minute go into the rollup.
    """
    made = registry(MINUTE, MINUTE + 1)
    assert {"training": [Silent(NAME, "trn1.2xlarge", MINUTE + 1)]} == made.silent_by_cluster(
        MINUTE + 10
    )


def test_who_said_goodbye_is_gone_and_not_silent():
    """
    From the next minute on: in its last minute it still reported.
    """
    made = registry(MINUTE, gone=True)
    assert [True, False] == [expected(made, MINUTE), expected(made, MINUTE + 1)]
    assert not silent(made, MINUTE + 10)
    assert {} == made.silent_by_cluster(MINUTE + 10)


def test_a_goodbye_is_taken_back_by_a_later_record_of_the_minute():
    """
    The emitter restarted within the minute, and its second part came late.
    """
    made = registry(MINUTE, gone=True)
    made.see("training", NAME, MINUTE, None, gone=False)
    assert silent(made, MINUTE + 10)


def test_a_record_of_an_earlier_minute_takes_no_goodbye_back():
    """
    Late records come after the goodbye and say nothing about it.
    """
    made = registry(MINUTE, gone=True)
    made.see("training", NAME, MINUTE - 1, None, gone=False)
    assert not silent(made, MINUTE + 10)


def test_restating_an_old_minute_does_not_move_an_instance_back():
    """
    Seen later and then in an old minute, it is as alive as before.
    """
    made = registry(MINUTE + 30, MINUTE)
    assert expected(made, MINUTE + 31)
    assert not silent(made, MINUTE + 31)


def test_an_instance_that_appeared_later_was_not_silent_before():
    """
    Nor was it waited for, nor its cluster known.
    """
    made = registry(MINUTE + 30)
    assert not expected(made, MINUTE)
    assert {} == made.silent_by_cluster(MINUTE)


def test_an_instance_that_came_back_was_silent_in_between():
    """
    A minute restated later gets the answer that was true then.
    """
    made = registry(MINUTE, MINUTE + 20)
    answers = [silent(made, MINUTE + absent) for absent in (0, 5, 6, 19, 20, 25)]
    assert [False, False, True, True, False, False] == answers


@given(MINUTES.flatmap(lambda minutes: st.tuples(st.just(minutes), st.permutations(minutes))))
def test_the_order_in_which_minutes_are_seen_does_not_matter(orders):
    """
    Reduced again, late or out of turn: the registry is the same.
    """
    one, other = registry(*orders[0]), registry(*orders[1])
    assert list(one.packed()) == list(other.packed())


@given(MINUTES, st.integers(MINUTE - 5, MINUTE + 120))
def test_silence_is_what_the_seen_minutes_say(minutes, asked):
    """
    Silent is who was seen before, not now, and not within the last 5 minutes;
    known is who was seen within the last 60.
    """
    made = registry(*minutes)
    earlier = [minute for minute in minutes if minute <= asked]
    absent_minutes = asked - max(earlier) if earlier else None
    bridged = any(minute > asked and minute - max(earlier) <= 6 for minute in minutes if earlier)
    assert (absent_minutes is not None and 5 < absent_minutes <= 60) == silent(made, asked)
    known = absent_minutes is not None and (absent_minutes <= 60 or bridged)
    assert known == ("training" in made.silent_by_cluster(asked))


@given(MINUTES, st.booleans())
def test_packing_keeps_everything(minutes, gone):
    """
    Loaded again, the registry answers the same.
    """
    made = registry(*minutes, gone=gone)
    again = registry()
    again.load(dict(made.packed()))
    for asked in range(MINUTE - 1, MINUTE + 110, 3):
        assert made.silent_by_cluster(asked) == again.silent_by_cluster(asked)
        assert expected(made, asked) == expected(again, asked)


def test_only_changed_buckets_are_packed():
    """
    What nobody reported costs no write.
    """
    made = registry(MINUTE)
    again = registry()
    again.load(dict(made.packed()))
    again.see("training", NAME, MINUTE, "trn1.2xlarge", gone=False)
    assert [] == list(again.packed())
    again.see("training", NAME, MINUTE + 1, "trn1.2xlarge", gone=False)
    assert [bucket_of(NAME)] == [bucket for bucket, _ in again.packed()]


def test_what_ended_long_ago_is_dropped():
    """
    A run that ended before the given minute goes, one that ended in it stays.
    """
    made = registry(MINUTE, MINUTE + 20)
    made.forget(MINUTE + 1)
    assert not silent(made, MINUTE + 10)
    assert expected(made, MINUTE + 20)
    made.forget(MINUTE + 20)
    assert expected(made, MINUTE + 20)
    made.forget(MINUTE + 21)
    assert not expected(made, MINUTE + 20)


def test_an_instance_of_two_clusters_is_two_entries():
    """
    Two emitters with different cluster names do not answer for each other.
    """
    made = registry(MINUTE)
    made.see("serving", NAME, MINUTE + 10, None, gone=False)
    assert {"training": [Silent(NAME, "trn1.2xlarge", MINUTE)], "serving": []} == (
        made.silent_by_cluster(MINUTE + 10)
    )


def test_ten_thousand_instances_fit_the_items():
    """
    One bucket of a large fleet stays far below DynamoDB's 400 KB.
    """
    made = registry()
    for number in range(10_000):
        instance_id = f"i-{number * 2654435761 % 2**64:017x}"
        made.see("training", instance_id, MINUTE, "trn1.32xlarge", gone=False)
    assert 20_000 > max(len(payload) for _, payload in made.packed())
