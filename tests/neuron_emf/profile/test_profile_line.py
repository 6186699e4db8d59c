"""One summary is one line: what is told is in it once, what is not told is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.profile.line import FRACTIONS, MAX_OTHER, profile_of, summaries_in
from neuron_wire.catalogue import PROFILE, members_of, undocumented
from neuron_wire.extraction import violations

FOLDER = Path(__file__).resolve().parents[2] / "data" / "profile"
AT_MS = 1_795_161_600_000  # 2026-11-20T08:00:00Z
SUBJECT = ("training", "llama-8b", AT_MS)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.sampled_from([*FRACTIONS, "nc_idx", "hbm_read_bytes", "spill_reload_bytes", "x_y"])


@given(st.dictionaries(KEYS | st.text(max_size=8), SCALARS | st.lists(SCALARS, max_size=2)))
def test_whatever_a_summary_holds_its_line_is_extracted(values):
    """By CloudWatch's rules, in the catalogue's words; without a metric it is no EMF document."""
    text = profile_of(values, *SUBJECT).line
    found = json.loads(text)
    assert [] == undocumented(found)
    assert ("_aws" in found) == bool(PROFILE.keys() & found.keys())
    assert [] == (violations(text, now_ms=AT_MS) if "_aws" in found else [])


def test_the_lines_of_the_made_file_are_as_ever(golden):
    """A changed byte is read in review, and every member but that of a bound is in them."""
    lines = [profile_of(values, *SUBJECT, name).line for name, values in made()]
    golden(FOLDER / "workers.lines.jsonl", "".join(f"{one}\n" for one in lines))
    written = {member for line in lines for member in json.loads(line)}
    missing = {"Timestamp", "KeysDropped"}
    assert members_of("profile").keys() - missing == written - {"_aws"}


def test_what_is_not_told_has_no_member_and_what_is_strange_is_counted():
    """Zero is zero; of percent that nobody can be sure of no metric is made."""
    odd = {"nested": {}, "long": "x" * 257, "1a": 1, "esc": "\x1b", "none": None, "big": 10**400}
    many = {f"key_{number}": number for number in range(MAX_OTHER + 5)}
    values = {"mfu_estimated_percent": 41.2, "total_time": 0, "transpose_flops": 1, **odd, **many}
    found = profile_of({**values, "hardware_flops": 0}, *SUBJECT)
    line = json.loads(found.line)
    assert (0, 41.2) == (line["TotalSeconds"], line["Other"]["mfu_estimated_percent"])
    assert not {"MfuPercent", "TransposePercent", "Findings"} & line.keys()
    assert (MAX_OTHER, 5 + 6) == (len(line["Other"]), line["KeysDropped"])
    assert "profiler version unknown" in found.doubts[0]
    assert "percentages already" in found.doubts[1]


@pytest.mark.parametrize(
    ("rule", "key", "inside", "outside", "others"),
    [
        ("transpose", "transpose_flops", 10, 11, {"hardware_flops": 100}),
        ("spill", "spill_reload_bytes", 25, 26, {"hbm_read_bytes": 100}),
        (
            *("low_model_flops", "mfu_estimated_percent", 0.3, 0.29),
            {"tensor_engine_active_time_percent": 0.6},
        ),
        ("throttled", "throttle_active_nc0_time_ns", 9.9e7, 1e8, {"total_active_time": 2}),
        ("throttled", "throttle_activity_1_active_time_nc0_percent", 0.049, 0.05, {}),
    ],
    ids=["transpose", "spill", "model", "time", "share"],
)
def test_a_rule_is_broken_beyond_its_bound(rule, key, inside, outside, others):
    """The bound itself is in order, and half of what a rule needs is not enough."""
    assert {} == profile_of({**others, key: inside}, *SUBJECT).findings
    assert [rule] == [*profile_of({**others, key: outside}, *SUBJECT).findings]
    assert {} == profile_of(others, *SUBJECT).findings


def made():
    """The summaries of two cores, of which the second breaks every rule of thumb."""
    return summaries_in(FOLDER / "workers.json")
