"""What is known of the instance from beside its reports."""

from __future__ import annotations

import pytest
from neuron_reports import (
    INSTANCE_ID,
    START_S,
    add,
    closed,
    counters,
    hardware,
    hardware_counters,
    instance,
    memory,
    new_fold,
    report,
    runtime,
    two_cores,
)

from emitter.instance.facts import InstanceFacts

FACTS = InstanceFacts(
    instance_id="i-00000000000000fff", instance_type="trn1.2xlarge", region="eu-central-1",
    availability_zone="eu-central-1a", ami_id="ami-00000000000000fff",
)  # fmt: skip
NAMELESS = instance(
    "", instance_id="", instance_availability_zone="", instance_region="", ami_id=""
)


def idle_minute(fold, cores=4, **members):
    """A whole minute of *cores* idle cores, each of which then has one idle minute."""
    for second in range(0, 60, 5):
        add(fold, report(runtime(counters([0] * cores), memory()), **members), START_S + second)
    assert (1,) * cores == closed(fold).idle_minutes


def test_facts_fill_what_no_report_tells():
    """In a pod two hops from the metadata service, neuron-monitor knows no instance."""
    fold = new_fold()
    fold.learn_facts(FACTS)
    add(fold, report(instance_info=NAMELESS, neuron_hardware_info=None), START_S)
    record = closed(fold)
    assert (FACTS.instance_id, False) == (record.instance_id, record.identity_guessed)
    assert "trn1.2xlarge" == record.instance_type
    assert ("eu-central-1", "eu-central-1a") == (record.region, record.availability_zone)
    assert "??" == record.core_state, "the cores of the type, all unknown"
    assert FACTS == fold.instance


@pytest.mark.parametrize("is_late", [False, True])
def test_a_report_wins(is_late):
    """Whichever comes first: the report is about the devices that are counted."""
    fold = new_fold()
    steps = [lambda: fold.learn_facts(FACTS), lambda: add(fold, report(), START_S)]
    for step in reversed(steps) if is_late else steps:
        step()
    record = closed(fold)
    assert (INSTANCE_ID, "inf1.xlarge") == (record.instance_id, record.instance_type)
    assert "ami-0123456789abcdef0" == fold.instance.ami_id


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"instance_id": INSTANCE_ID}, (INSTANCE_ID, "trn1.2xlarge")),
        ({"instance_type": "inf1.xlarge"}, (FACTS.instance_id, "inf1.xlarge")),
    ],
)
def test_a_report_that_names_half_of_it_wins_with_that_half(told, expected):
    """What it leaves open is filled; what it says stands, also when the facts come later."""
    fold = new_fold()
    add(fold, report(instance_info={**NAMELESS, **told}), START_S)
    fold.learn_facts(FACTS)
    record = closed(fold)
    assert expected == (record.instance_id, record.instance_type)


def test_what_reports_told_before_the_facts_is_learnt_again():
    """
    A report without a name comes first, then the facts forget the instance of the disk image:
    the next report says the same as the one before, and is read nevertheless.
    """
    fold = new_fold()
    add(fold, report(), START_S)
    closed(fold)
    again = new_fold(fold.encode_state())
    regional = {**NAMELESS, "instance_region": "us-west-2"}
    add(again, two_cores(instance_info=regional), START_S + 60)
    again.learn_facts(FACTS)
    for second in (65, 70):
        add(again, two_cores(instance_info=regional), START_S + second)
    record = closed(again)
    assert (FACTS.instance_id, "us-west-2") == (record.instance_id, record.region)
    assert "uu" == record.core_state


def test_facts_that_a_report_has_overruled_forget_nothing():
    """The metadata service of a proxy names another instance: idle minutes and ECC values stay."""
    fold = new_fold()
    idle_minute(fold)
    fold.learn_facts(FACTS)
    fold.clock.open_minute(START_S + 60)
    assert (1,) * 4 == closed(fold).idle_minutes


def test_facts_of_another_instance_forget_the_state_of_the_one_before():
    """A disk image carries a spool along: its idle minutes, cores and ECC values are another's."""
    fold = new_fold()
    low, high = (
        {"neuron_hw_counters": hardware_counters({"mem_ecc_corrected": value})} for value in (5, 9)
    )
    idle_minute(fold, cores=8, neuron_hardware_info=hardware(2, 4), system_data=low)
    again = new_fold(fold.encode_state())
    assert INSTANCE_ID == again.instance.instance_id
    again.learn_facts(FACTS)
    assert FACTS.instance_id == again.instance.instance_id
    document = report(instance_info=NAMELESS, neuron_hardware_info=None, system_data=high)
    add(again, document, START_S + 60)
    record = closed(again)
    assert ((0, 0), 0) == (record.idle_minutes, record.ecc_corrected_rise)


@pytest.mark.parametrize("is_told_by_report", [False, True])
def test_an_instance_of_another_type_has_other_cores(is_told_by_report):
    """Stopped, resized and started again, an instance keeps its id and nothing else."""
    fold = new_fold()
    idle_minute(fold)
    again = new_fold(fold.encode_state())
    resized = instance("trn1.2xlarge") if is_told_by_report else NAMELESS
    if not is_told_by_report:
        again.learn_facts(InstanceFacts(instance_id=INSTANCE_ID, instance_type="trn1.2xlarge"))
    entry = runtime(counters([0, 0]), memory(cores=2))
    add(again, report(entry, instance_info=resized, neuron_hardware_info=None), START_S + 60)
    record = closed(again)
    assert (INSTANCE_ID, "trn1.2xlarge") == (record.instance_id, record.instance_type)
    assert (0, 0) == record.idle_minutes


def test_the_same_facts_forget_nothing():
    """Also when no report ever names the instance: the stored name is that of the facts."""
    fold = new_fold()
    fold.learn_facts(FACTS)
    idle_minute(fold, instance_info=NAMELESS)
    again = new_fold(fold.encode_state())
    again.learn_facts(FACTS)
    again.clock.open_minute(START_S + 60)
    assert (1,) * 4 == closed(again).idle_minutes


def test_facts_that_cannot_stand_in_a_record_are_none():
    """A proxy's error page in place of an instance id."""
    fold = new_fold()
    fold.learn_facts(InstanceFacts(instance_id="<html>\n", instance_type=" ", region="x" * 999))
    assert fold.instance.instance_id is None
    assert InstanceFacts() == fold.instance
