"""One summary is one line: what is told is in it once, what is not told is not."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.insights.fields import MAX_DISCOVERED, discovered
from neuron_emf.profile import keys
from neuron_emf.profile.line import MAX_OTHER, profile_of
from neuron_wire import parse
from neuron_wire.catalogue import PROFILE, members_of, undocumented
from neuron_wire.emf import violations
from neuron_wire.line import OtherRecord
from tests.neuron_emf.profile.profiled import AT_MS, FOLDER, SUBJECT, line, made, profile

FILES = ["workers", "kernel", "old", "later"]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.sampled_from([*sorted(keys.KNOWN), "throttle_avg_util_limit_nc0_percent", "x_y", "nid"])

# --- laws ---


@given(st.dictionaries(KEYS | st.text(max_size=8), SCALARS | st.lists(SCALARS, max_size=2)))
def test_whatever_a_summary_holds_its_line_is_extracted(values):
    """
    By the rules of CloudWatch and in the words of the catalogue; a line without a metric is no
    EMF document, and says so.
    """
    text = profile(**{str(key): value for key, value in values.items()}).line
    found = json.loads(text)
    assert [] == undocumented(found)
    assert ("_aws" in found) == bool(PROFILE.keys() & found.keys())
    if "_aws" in found:
        assert [] == violations(text, now_ms=AT_MS)
    else:
        assert AT_MS == found["Timestamp"]


@given(st.dictionaries(KEYS, SCALARS))
def test_every_key_is_told_once_or_counted(values):
    """As a member, among the others, or as one that was dropped; what is not told is in none."""
    found = line(**values)
    told = {
        key
        for key, value in values.items()
        if value is not None and not (isinstance(value, float) and math.isnan(value))
    }
    others = found.get("Other", {}).keys()
    as_members = {
        key
        for table in (keys.FRACTIONS, keys.NUMBERS, keys.TEXTS, keys.INDEXES)
        for key, name in table.items()
        if key in values and name in found
    }
    if "ThrottleLimitPercent" in found:
        as_members.add("throttle_avg_util_limit_nc0_percent")
    assert not others & as_members
    assert others | as_members <= told
    assert len(told) == len(others) + len(as_members) + found.get("KeysDropped", 0)


@given(st.floats(0, 1), st.sampled_from(sorted(keys.FRACTIONS)))
def test_a_fraction_becomes_percent(fraction, key):
    """Of whatever share: 1 is 100."""
    assert math.isclose(100 * fraction, line(**{key: fraction})[keys.FRACTIONS[key]], abs_tol=1e-6)


@given(st.permutations(sorted(made("workers")[1].values.items())))
def test_a_profile_told_again_has_the_same_id(items):
    """Later, and with its keys in another order; another core, model, cluster or figure has not."""
    summary = made("workers")[1]
    first = json.loads(profile_of(summary, SUBJECT).line)["ProfileId"]
    later = dataclasses.replace(SUBJECT, timestamp_ms=AT_MS + 1)
    shuffled = dataclasses.replace(summary, values=dict(items))
    assert first == json.loads(profile_of(shuffled, later).line)["ProfileId"]
    others = [
        (shuffled, dataclasses.replace(SUBJECT, cluster="serving")),
        (shuffled, dataclasses.replace(SUBJECT, model="mixtral")),
        (shuffled, dataclasses.replace(SUBJECT, instance_id="i-0")),
        (dataclasses.replace(shuffled, values={**summary.values, "nc_idx": 7}), SUBJECT),
        (dataclasses.replace(shuffled, values={**summary.values, "event_count": 7}), SUBJECT),
        (dataclasses.replace(shuffled, name="rank"), SUBJECT),
    ]
    ids = {json.loads(profile_of(*one).line)["ProfileId"] for one in others}
    assert len(others) == len(ids - {first})


# --- examples ---


@pytest.mark.parametrize("name", FILES)
def test_the_lines_of_the_made_files_are_as_ever(golden, name):
    """A changed byte is read in review."""
    lines = [profile_of(one, SUBJECT).line for one in made(name)]
    golden(FOLDER / f"{name}.lines.jsonl", "".join(f"{one}\n" for one in lines))


def test_every_member_of_a_profile_is_written_by_some_summary():
    """The catalogue describes none that does not exist."""
    subject = dataclasses.replace(SUBJECT, instance_id="i-0123456789abcdef0")
    written = {
        member
        for name in FILES
        for one in made(name)
        for member in json.loads(profile_of(one, subject).line)
    }
    assert members_of("profile").keys() - {"Timestamp"} == written - {"_aws"}


def test_the_stack_leaves_a_profile_alone():
    """
    It is a line of ours of a kind that no rollup is made of, and its subscription passes it not.
    """
    text = profile_of(made("workers")[0], SUBJECT).line
    assert OtherRecord("profile") == parse(text)
    assert "CoveredSeconds" not in text


def test_a_line_of_all_keys_is_found_whole_by_logs_insights():
    """Its own members come before what the profiler adds, and are within the first 200 fields."""
    values = {**made("workers")[1].values, **{f"key_{number}": 1 for number in range(300)}}
    text = profile(**values).line
    found = discovered(text)
    assert len(found) <= MAX_DISCOVERED
    assert json.loads(text).keys() - {"_aws", "Other"} <= set(found)
    assert len(text) < 32_768


def test_the_cores_of_a_model_are_metrics_apart_and_together():
    """By cluster and model, and by core where it is told."""
    both = line(mfu_estimated_percent=0.5, nd_idx=2, nc_idx=1)
    (directive,) = both["_aws"]["CloudWatchMetrics"]
    assert "Neuron/Profile" == directive["Namespace"]
    by_model = ["ClusterName", "Model"]
    assert [by_model, [*by_model, "Core"]] == directive["Dimensions"]
    assert ("2.1", 2, 1) == (both["Core"], both["DeviceIndex"], both["CoreIndex"])
    assert "1" == line(mfu_estimated_percent=0.5, nc_idx=1)["Core"]
    for unknown in ({}, {"nd_idx": 2}, {"nc_idx": None}, {"nc_idx": "1"}, {"nc_idx": 0.5}):
        alone = line(mfu_estimated_percent=0.5, **unknown)
        assert [by_model] == alone["_aws"]["CloudWatchMetrics"][0]["Dimensions"]
        assert "Core" not in alone


def test_zero_is_zero_and_missing_is_missing():
    """
    A kernel without a matrix has no MFU to speak of; a summary that does not tell it has none.
    """
    (kernel,) = [json.loads(profile_of(one, SUBJECT).line) for one in made("kernel")]
    (old,) = [json.loads(profile_of(one, SUBJECT).line) for one in made("old")]
    assert 0 == kernel["MfuPercent"]
    assert "TransposePercent" not in kernel  # of no operations
    assert not {"MfuPercent", "ArithmeticIntensity", "HbmWriteBytes", "KeysDropped"} & old.keys()


def test_shares_are_made_of_what_is_told():
    """Both parts, and a whole that is above 0."""
    found = line(transpose_flops=1, hardware_flops=8, spill_reload_bytes=3, hbm_read_bytes=12)
    assert (12.5, 25) == (found["TransposePercent"], found["SpillReloadPercent"])
    assert "TransposePercent" not in line(transpose_flops=1, hardware_flops=0)
    assert "SpillReloadPercent" not in line(spill_reload_bytes=3)


def test_throttling_is_that_of_the_worst_core():
    """The lowest limit, and the time of all."""
    limits = {f"throttle_avg_util_limit_nc{core}_percent": (0.9, 0.641)[core] for core in (0, 1)}
    times_ns = {f"throttle_active_nc{core}_time_ns": (5e8, 2.5e8)[core] for core in (0, 1)}
    found = line(**limits, **times_ns)
    assert (64.1, 0.75) == (found["ThrottleLimitPercent"], found["ThrottledSeconds"])
    assert "Other" not in found


def test_shares_that_may_be_percent_already_are_no_metric():
    """A wrong number is worse than none: they stay as the profiler wrote them."""
    found = line(mfu_estimated_percent=41.2, hfu_estimated_percent=0.5, total_time=1)
    assert not {"MfuPercent", "HfuPercent"} & found.keys()
    assert {"mfu_estimated_percent": 41.2, "hfu_estimated_percent": 0.5} == found["Other"]
    assert 1 == found["TotalSeconds"]
    assert 200 == line(mfu_estimated_percent=2)["MfuPercent"]


@pytest.mark.parametrize(
    "value", [{"a": 1}, [1], "", " ", "x" * 257, "a\x1b[31m", 1e300, -(10**19)], ids=ascii
)
def test_what_no_line_should_hold_is_dropped_and_counted(value):
    """Nested, blank, long, not printable, or beyond all amounts."""
    found = line(total_time=1, strange=value)
    assert 1 == found["KeysDropped"]
    assert "Other" not in found


@pytest.mark.parametrize("name", ["", "1a", "a b", "x" * 101, "\u202e", "a\n"], ids=ascii)
def test_a_key_that_is_no_name_is_dropped_and_counted(name):
    """It becomes a field that people type."""
    assert 1 == line(**{"total_time": 1, name: 1})["KeysDropped"]


def test_other_keys_are_bounded():
    """The first are kept, the rest counted."""
    found = line(total_time=1, **{f"key_{number}": number for number in range(MAX_OTHER + 5)})
    assert [f"key_{number}" for number in range(MAX_OTHER)] == list(found["Other"])
    assert 5 == found["KeysDropped"]
