"""Tags that the operator adds to every line, and tags that are refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.errors import SettingsError
from neuron_emitter.lines.line_settings import COMMON_DIMS, parse_tags, require_lines
from neuron_emitter.settings import MinuteSettings
from neuron_wire.catalogue import EMITTED, members_of
from neuron_wire.extraction import violations
from tests.neuron_emitter.lines.line_records import (
    TAG_SETTING,
    full,
    lines_of,
)


def tagged(tags, dimensions=()):
    """Return settings with *tags*; *dimensions* are also dimensions."""
    texts = tuple(f"{name}={value}" for name, value in tags.items())
    return MinuteSettings(tag=texts, tag_dimension=tuple(dimensions))


@given(st.dictionaries(st.text(max_size=260), st.text(max_size=40), max_size=3))
def test_tags_that_pass_are_in_every_line_as_they_are(tags):
    """Accepted tags are in every line unchanged, as properties and as dimensions."""
    try:
        settings = require_lines(tagged(tags, tags))
    except SettingsError:
        return
    tags = parse_tags(settings.tag)
    lines = lines_of(full(4), settings)
    assert [] == [violation for line in lines for violation in violations(line)]
    for line in lines:
        assert tags == {name: json.loads(line)[name] for name in tags}


def test_tags_are_read_as_key_and_value():
    """A tag is split at its first equals sign, and blanks around both parts are removed."""
    assert {"team": "search", "query": "a=b"} == parse_tags(["team = search", "query=a=b"])
    assert {"team": "search"} == parse_tags(["team=search", "team=search"])


@pytest.mark.parametrize("texts", [["team"], ["team="], ["=search"], [""], ["team=a", "team=b"]])
def test_a_tag_without_key_or_value_is_refused(texts):
    """A tag without key or value, or with two values for one key, is refused."""
    with pytest.raises(SettingsError, match="tag"):
        parse_tags(texts)


def test_a_tag_cannot_take_the_name_of_a_member():
    """A tag with the name of any line's member is refused, because it would replace the member."""
    members = {name for line_kind in EMITTED for name in members_of(line_kind) if "." not in name}
    by_core = {"NeuronCoreUtilizationNC0", "NeuronCoreUtilizationNC999"}
    for name in members | by_core | {*COMMON_DIMS, "_aws", "Timestamp"}:
        with pytest.raises(SettingsError, match="Use another key"):
            require_lines(tagged({name: "value"}))


@pytest.mark.parametrize(
    "tags",
    [
        {"k" * 251: "v"},
        {"a\tb": "v"},
        {" ": "v"},
        {"k": "v" * 1025},
        {"k": "\x00"},
        {"k": " "},
        {"k": "\ud800"},
        {str(number): "v" for number in range(51)},
    ],
    ids=lambda tags: ascii(tags)[:24],
)
def test_a_tag_that_would_damage_a_line_is_refused(tags):
    """
    A tag that is too long, blank, not printable or half a character is refused.

    So are too many tags.
    """
    with pytest.raises(SettingsError):
        require_lines(tagged(tags))


@pytest.mark.parametrize(
    ("tags", "dimension"),
    [
        ({"team": "search"}, "owner"),
        ({"équipe": "search"}, "équipe"),
        ({"team": "recherché"}, "team"),
        ({":team": "search"}, ":team"),
    ],
)
def test_a_tag_that_cannot_be_a_dimension_is_refused_as_one(tags, dimension):
    """A tag with other characters than ASCII can be a property, but not a dimension."""
    require_lines(tagged(tags))
    with pytest.raises(SettingsError):
        require_lines(tagged(tags, [dimension]))


@pytest.mark.parametrize(
    "settings",
    [
        MinuteSettings(tag=("Kind=x",)),
        MinuteSettings(common_dims=("InstanceId",)),
        MinuteSettings(metrics="none", common_dims=("instance_id",)),
        MinuteSettings(metrics="none", high_resolution_metrics=True),
        MinuteSettings(metrics="none", tag=TAG_SETTING, tag_dimension=("team",)),
        MinuteSettings(metrics="legacy", tag=TAG_SETTING, tag_dimension=("team",)),
    ],
    ids=str,
)
def test_settings_that_contradict_each_other_are_refused(settings):
    """Settings that contradict each other are refused, rather than ignored."""
    with pytest.raises(SettingsError):
        require_lines(settings)
