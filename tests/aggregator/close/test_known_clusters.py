"""
How long clusters and instances that stopped reporting are published, and which rollups are kept.
"""

from __future__ import annotations

import json

from proof.factories.records import MINUTE, record
from tests.aggregator.memory_stack import MINUTE_END_S, MemoryStack, on_time


def test_a_clean_shutdown_that_comes_late_changes_no_minute_that_lacks_a_record_of_its_own():
    """
    A late clean shutdown does not change a rollup that counted the instance as silent.

    Minutes after the run that reads the shutdown do not count the instance, and neither does a
    minute that is published again.
    """
    stack = MemoryStack()
    on_time(stack, 0)
    for offset in range(12):
        on_time(stack, offset, instance_id="i-1")
        stack.close(MINUTE_END_S + 60 * offset + 130)
    silent = [line["SilentInstances"] for line in stack.rollups()]
    assert [0] * 6 + [1] * 6 == silent
    stack.deliver(MINUTE_END_S + 60 * 12, record(minute=MINUTE + 1, is_clean_shutdown=True))
    stack.deliver(MINUTE_END_S + 60 * 12, record(minute=MINUTE + 8, instance_id="i-2"))
    for offset in (12, 13):
        on_time(stack, offset, instance_id="i-1")
        stack.close(MINUTE_END_S + 60 * offset + 130)
    published = {
        line["_aws"]["Timestamp"] // 60_000 - MINUTE: line["SilentInstances"]
        for line in stack.rollups()
    }
    assert {12: 1, 1: 0, 8: 0, 13: 0} == published


def test_the_last_rollup_and_the_last_with_errors_are_kept_for_each_cluster():
    """
    The kept rollups of a cluster are those of its latest minute, even if an older minute is
    restated, and of its latest errors, because the minute in which an alarm fires may have none.
    """
    stack = MemoryStack()
    on_time(stack, 0, execution_errors=3, ecc_uncorrected_rise=0, readings={"HardwareFaults": 1})
    on_time(stack, 1, execution_errors=0, ecc_uncorrected_rise=2)
    on_time(stack, 2, execution_errors=None, ecc_uncorrected_rise=None)
    for offset in range(3):
        stack.close(MINUTE_END_S + 60 * offset + 50)

    def kept():
        return {key: minute - MINUTE for key, (minute, _) in stack.table.last_rollups.items()}

    minute, errors, hardware = ((about, "training") for about in ("minute", "errors", "hardware"))
    assert {minute: 2, errors: 0, hardware: 1} == kept()
    line = json.loads(stack.table.read_last_rollup("errors", "training"))
    assert 3 == line["ExecutionErrors"]
    assert "rollup" == line["Kind"]
    late = {"minute": MINUTE + 1, "instance_id": "i-2", "execution_errors": 1}
    stack.deliver(MINUTE_END_S + 190, record(**late), record(cluster="serving", **late))
    stack.close(MINUTE_END_S + 240)
    serving = {("minute", "serving"): 1, ("errors", "serving"): 1}
    assert {minute: 2, errors: 1, hardware: 1, **serving} == kept()


def test_the_last_rollup_with_silent_instances_is_kept():
    """The last rollup with silent instances is kept, because the OK message names them."""
    stack = MemoryStack()
    on_time(stack, 0, instance_id="i-2")
    for offset in range(62):
        on_time(stack, offset, instance_id="i-1")
        stack.close(MINUTE_END_S + 60 * offset + 130)
    minute, line = stack.table.last_rollups["silent", "training"]
    assert MINUTE + 60 == minute
    assert ["i-2"] == [entry["InstanceId"] for entry in json.loads(line)["SilentInstanceNames"]]
    assert 0 == json.loads(stack.table.read_last_rollup("minute", "training"))["SilentInstances"]


# --- departures ---


def test_nobody_waits_for_an_instance_that_ec2_stopped():
    """Close does not wait for an instance in the minutes after EC2 stopped it."""
    stack = MemoryStack()
    on_time(stack, 0, instance_id="i-1")
    on_time(stack, 0, 1, instance_id="i-2")
    stack.close(MINUTE_END_S + 46)
    stack.published()
    stack.table.put_departure("i-1", MINUTE, 0)
    stack.close(MINUTE_END_S + 60 + 46)
    assert [(1, 1)] == stack.published()


def test_of_two_emitters_with_two_cluster_names_each_is_waited_for():
    """If one host reports to two clusters, close waits for both records of its minute."""
    stack = MemoryStack()
    on_time(stack, 0, 1, instance_id="i-1")
    on_time(stack, 0, instance_id="i-1", cluster="serving")
    stack.close(MINUTE_END_S + 50)
    assert [(0, 1)] == stack.published()
    assert 0 == stack.close(MINUTE_END_S + 110).minutes_closed
    stack.deliver(
        MINUTE_END_S + 112, record(minute=MINUTE + 1, instance_id="i-1", cluster="serving")
    )
    assert 1 == stack.close(MINUTE_END_S + 114).minutes_closed
    assert [(1, 1)] == stack.published("serving")
