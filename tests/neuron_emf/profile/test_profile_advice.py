"""
Rules of thumb, each at its bound; and what to say of a summary nobody here has seen the like of.
"""

from __future__ import annotations

import pytest

from neuron_emf.profile.line import profile_of
from tests.neuron_emf.profile.profiled import SUBJECT, line, made, profile

KNOWN = {"profiler_version": "2.28.23.0"}


def rules(**values):
    """The names of the rules that a summary breaks."""
    return [one.rule for one in profile(**values).advice]


ACTIVE = "tensor_engine_active_time_percent"


@pytest.mark.parametrize(
    ("rule", "key", "inside", "outside", "others"),
    [
        ("transpose", "transpose_flops", 10, 11, {"hardware_flops": 100}),
        ("spill", "spill_reload_bytes", 25, 26, {"hbm_read_bytes": 100}),
        ("low_model_flops", "mfu_estimated_percent", 0.3, 0.29, {ACTIVE: 0.6}),
        ("low_model_flops", ACTIVE, 0.009, 0.01, {"mfu_estimated_percent": 0}),
        ("throttled", "throttle_active_nc0_time_ns", 9.9e7, 1e8, {"total_active_time": 2}),
        ("throttled", "throttle_activity_1_active_time_nc0_percent", 0.049, 0.05, {}),
    ],
    ids=["transpose", "spill", "model", "no matrix", "time", "share"],
)
def test_a_rule_is_broken_beyond_its_bound(rule, key, inside, outside, others):
    """The bound itself is in order."""
    assert [] == rules(**others, **{key: inside})
    assert [rule] == rules(**others, **{key: outside})


def test_what_is_not_told_breaks_nothing():
    """Half of what a rule needs is not enough."""
    for values in (
        {"transpose_flops": 50},
        {"spill_reload_bytes": 50},
        {"mfu_estimated_percent": 0.01},
        {"tensor_engine_active_time_percent": 0.9},
        {"throttle_active_nc0_time_ns": None, "total_active_time": 1e-9},
        {"throttle_active_nc0_time_ns": True, "total_active_time": 1e-9},
        {"throttle_active_nc0_time_ns": 1e9},
        {"throttle_active_nc0_time_ns": 1e9, "total_active_time": 0},
        {"throttle_activity_1_avg_util_limit_nc0_percent": 0.5},
    ):
        assert [] == rules(**values)


def test_a_finding_has_its_numbers_and_is_in_the_line():
    """A sentence with what was found and what is good, what to do, and the names for a query."""
    good, bad = (profile_of(one, SUBJECT) for one in made("workers"))
    assert () == good.advice
    assert "transpose, spill, low_model_flops, throttled" in bad.line
    assert "15.8 % of the tensor engine's operations" in bad.advice[0].sentence
    assert "35.0 % of the reads" in bad.advice[1].sentence
    assert "61.2 % of the time and does 14.8 %" in bad.advice[2].sentence
    assert "84.2 % of the active time, to 64.1 % on average" in bad.advice[3].sentence
    assert all(one.advice for one in bad.advice)
    assert "Findings" not in line(total_time=1)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "no profiler version"),
        ({"profiler_version": "newest"}, "no profiler version"),
        ({"profiler_version": 2.28}, "no profiler version"),
        ({"profiler_version": "2.25.9"}, "profiler 2.25"),
        ({"profiler_version": "2.30.0"}, "profiler 2.30"),
        ({"profiler_version": "3.0"}, "profiler 3.0"),
        ({**KNOWN, "profile_schema_version": "12.0.1"}, "profile_schema_version"),
        ({**KNOWN, "mfu_estimated_percent": 2.01}, "percentages already"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_a_summary_that_is_not_known_is_doubted(values, words):
    """Its keys may mean other things; its line is made all the same."""
    (doubt,) = profile(total_time=1, **values).doubts
    assert words in doubt


@pytest.mark.parametrize(
    "version", ["2.26.0", "2.28.23.0", "2.29.18.0%kaena-tools/2.29@0000000", "2.29"]
)
def test_a_known_version_is_not_doubted(version):
    """The first and the last of them too."""
    assert () == profile(profiler_version=version, mfu_estimated_percent=2).doubts
