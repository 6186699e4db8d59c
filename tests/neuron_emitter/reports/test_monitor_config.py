"""neuron-monitor's configuration: the emitter's, in whole seconds, or the user's file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.errors import SettingsError
from neuron_emitter.reports.monitor_config import (
    ALL_GROUPS,
    RUNTIMES_SECTION,
    SYSTEM,
    monitor_config,
    read_monitor_config,
)
from neuron_emitter.settings.options import MAX_SETTINGS_FILE_BYTES

COUNTERS_GROUP = "neuroncore_counters"
ANY_CONFIG = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["5s", "0.5s", ".*", COUNTERS_GROUP, "memory_info"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["period", "type", "metrics", "tag_filter", RUNTIMES_SECTION, SYSTEM]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def own_file(tmp_path_factory):
    """Return one file for all examples of a law."""
    return tmp_path_factory.mktemp("own") / "own.json"


@pytest.fixture
def user_config(tmp_path):
    """Return a function that writes a configuration file and reads it back."""

    def read(content):
        path = tmp_path / "own.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return read_monitor_config(path)

    return read


def asking(*groups, period=None, **members):
    """Return a user's file with these runtime groups and no system group."""
    metrics = [{"type": group, **({"period": period} if period else {})} for group in groups]
    return {RUNTIMES_SECTION: [{"tag_filter": ".*", "metrics": metrics}], **members}


def test_the_groups_are_those_of_the_user_guide():
    """The default configuration has all groups, each in its section of AWS's user guide."""
    config = json.loads(monitor_config(5))
    (runtimes,) = config["neuron_runtimes"]
    counted = [COUNTERS_GROUP, "execution_stats", "memory_used", "neuron_runtime_vcpu_usage"]
    assert ".*" == runtimes["tag_filter"]
    assert counted == [runtime["type"] for runtime in runtimes["metrics"]]
    system = [group["type"] for group in config["system_metrics"]]
    assert ["neuron_hw_counters", "memory_info", "vcpu_usage"] == system


@pytest.mark.parametrize(
    ("groups", "reported"),
    [([], "none"), (["nc_counters"], "nc_counters"), (["a", COUNTERS_GROUP], "a")],
)
def test_an_unknown_group_is_refused(groups, reported):
    """An unknown group is refused, and the error lists all groups."""
    with pytest.raises(SettingsError) as caught:
        monitor_config(5, groups)
    message = str(caught.value)
    assert f"in --groups: {reported}. Use" in message
    assert [] == [group for group in ALL_GROUPS if group not in message]


@pytest.mark.parametrize(
    "content", [b'{"neuron_runtimes": []}', b'\r\n {"x": "\xc3\xa9\\u00e9", "period" : "5s"}\r\n\n']
)
def test_a_users_own_file_is_passed_on_byte_for_byte(content, user_config):
    """A user's file is passed on byte for byte, with unknown members, line ends and spaces."""
    assert content == user_config(content).text.encode()


@pytest.mark.parametrize(
    ("document", "period_s"),
    [
        (asking(COUNTERS_GROUP, period="2s"), 2.0),
        ({**asking(COUNTERS_GROUP), "period": "3s"}, 3.0),
        (
            {
                RUNTIMES_SECTION: [{"period": "7s", "metrics": [{"type": COUNTERS_GROUP}]}],
                "period": "3s",
            },
            7.0,
        ),
        (asking(COUNTERS_GROUP), 5.0),
        ({}, 5.0),
        (
            {
                **asking(COUNTERS_GROUP, period="10s"),
                "period": "1s",
                SYSTEM: [{"type": "memory_info"}],
            },
            10.0,
        ),
        ({SYSTEM: [{"type": "memory_info", "period": "4s"}, {"type": "vcpu_usage"}]}, 4.0),
        (
            {
                RUNTIMES_SECTION: [
                    asking(COUNTERS_GROUP, period=period)[RUNTIMES_SECTION][0]
                    for period in ("2s", "6s")
                ]
            },
            6.0,
        ),
    ],
)
def test_the_nominal_period_is_that_of_the_counters(document, period_s, user_config):
    """The nominal period is the counters': the group's, else its entry's, the file's or 5 s."""
    assert period_s == user_config(document).period_s


@pytest.mark.parametrize(
    "period", ["0.5s", "1.0s", "5", "5 s", "0s", "-1s", "1m", "", 5, 0.5, True]
)
def test_a_period_that_becomes_5_seconds_has_a_warning(period, user_config):
    """A period that neuron-monitor replaces by 5 s has a warning, because it does so silently."""
    config = user_config({**asking(COUNTERS_GROUP), "period": period})
    assert 5.0 == config.period_s
    (warning,) = config.warnings
    assert json.dumps(period) in warning
    assert "neuron-monitor silently uses 5 s" in warning


@pytest.mark.parametrize(
    ("filters", "only_matched"),
    [
        ([".*"], False),
        ([None], False),
        (["serve"], True),
        ([""], True),
        (["a", "b", "a"], True),
        (["a", ".*"], False),
    ],
)
def test_a_tag_filter_leaves_cores_unknown(filters, only_matched, user_config):
    """A tag filter other than ".*" makes only cores of matching runtimes known."""
    entries = [
        {
            "metrics": [{"type": COUNTERS_GROUP}],
            **({} if pattern is None else {"tag_filter": pattern}),
        }
        for pattern in filters
    ]
    config = user_config({RUNTIMES_SECTION: entries})
    assert only_matched == config.only_matched
    assert any(pattern != ".*" and pattern is not None for pattern in filters) == bool(
        config.warnings
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({SYSTEM: [{"type": "memory_info"}]}, "neuroncore_counters is not configured"),
        (asking(COUNTERS_GROUP, "nc_counters"), "'nc_counters', which this release does not know"),
        (asking(COUNTERS_GROUP, "memory_info"), "neuron_runtimes has 'memory_info'"),
        ({**asking(COUNTERS_GROUP), SYSTEM: [{}]}, "'None', which this"),
        (
            {**asking(COUNTERS_GROUP, period="1s"), SYSTEM: [{"type": "vcpu_usage"}]},
            "different periods (1 s, 5 s)",
        ),
        (asking(COUNTERS_GROUP, period="60s"), "a period of 60 s is longer than 15 s"),
        ({**asking(COUNTERS_GROUP), SYSTEM: {}}, "system_metrics is not a list"),
        (
            {**asking(COUNTERS_GROUP), SYSTEM: [1]},
            "system_metrics has an entry that is not an object",
        ),
    ],
)
def test_a_configuration_that_loses_data_has_a_warning(document, words, user_config):
    """A configuration that loses data is used, with a warning of one sentence."""
    (warning,) = user_config(document).warnings
    assert words in warning


@pytest.mark.parametrize(("content", "reported"), [
    (b"", "line 1: Expecting value"), (b"{\n,}", "line 2: "),
    (b"\xef\xbb\xbf{}", "line 1: Unexpected UTF-8 BOM"), (b"\xff{}", "byte 0)"),
    (b"[]", "but a list"), (b"null", "but null"), (b'"x"', "but a text"),
    (b"true", "but true or false"), (b"5", "but a number"),
    (b"[" * 100_000, "nested too deeply"), (b"1" * 10_000, "a number"),
    (b" " * (MAX_SETTINGS_FILE_BYTES + 1), "larger than 1048576 bytes"),
], ids=range(12))  # fmt: skip
def test_an_invalid_configuration_is_refused(content, reported, user_config):
    """An invalid file is refused with its name and the place of the mistake."""
    with pytest.raises(SettingsError) as caught:
        user_config(content)
    message = str(caught.value)
    assert "own.json is " in message
    assert reported in message


@pytest.mark.parametrize(
    ("name", "reported"),
    [("missing", "No such file"), (".", "is not a regular file"), ("n" * 300, "name too long")],
)
def test_a_missing_configuration_is_refused(name, reported, tmp_path):
    """A missing file, or a path that is not a file, is refused with what was found."""
    with pytest.raises(SettingsError, match=reported):
        read_monitor_config(tmp_path / name)


@given(ANY_CONFIG)
def test_any_json_is_either_used_or_refused_with_a_sentence(own_file, value):
    """Any JSON in a user's file is used or refused with a sentence."""
    own_file.write_text(json.dumps(value))
    if not isinstance(value, dict):
        with pytest.raises(SettingsError):
            read_monitor_config(own_file)
        return
    config = read_monitor_config(own_file)
    assert config.period_s >= 1
    assert own_file.read_text() == config.text
