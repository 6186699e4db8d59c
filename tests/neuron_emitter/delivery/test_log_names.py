"""Names of log groups and streams: valid names, and the stream of an instance."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.delivery.destination import stream_name
from neuron_emitter.errors import SettingsError
from proof.factories.records import AN_INSTANCE

TEMPLATES = st.lists(
    st.sampled_from(["{cluster}", "{instance}", "{region}", "{shard:7}", "/", "name", "é"]),
    min_size=1,
).map("".join)

NAME_VALUES = st.text(min_size=1)


def name_of(template, instance_id=AN_INSTANCE, cluster="blue", region="eu-north-1"):
    """Return the stream of an instance for *template*."""
    return stream_name(template, cluster=cluster, instance_id=instance_id, region=region)


@given(TEMPLATES, NAME_VALUES, NAME_VALUES, NAME_VALUES)
def test_any_values_make_a_valid_name(template, instance_id, cluster, region):
    """Any template, instance, cluster and region give a valid stream name."""
    assert re.fullmatch(r"[^:*]{1,512}", name_of(template, instance_id, cluster, region))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{instance}", AN_INSTANCE),
        ("{cluster}/{instance}", f"blue/{AN_INSTANCE}"),
        ("{region}.{cluster}.{cluster}", "eu-north-1.blue.blue"),
        ("one-for-all", "one-for-all"),
        ("{shard:1}", "0"),
    ],
)
def test_placeholders_are_filled_in(template, expected):
    """Placeholders are replaced. Without a placeholder, all instances share one stream."""
    assert expected == name_of(template)


def test_names_that_would_be_too_long_stay_apart():
    """A name has at most 512 characters. The end of a longer name becomes a hash of the name."""
    longest = name_of("{instance}", "i" * 512)
    cut = [name_of("{instance}", "i" * 513 + end) for end in "ab"]
    assert "i" * 512 == longest
    assert [512, 512] == [len(name) for name in cut]
    assert 3 == len({longest, *cut})


@pytest.mark.parametrize(
    ("template", "mistake"),
    [
        ("", "nothing"), ("{host}", "{host}"), ("{Cluster}", "{Cluster}"), ("{}", "{}"),
        ("{shard}", "{shard}"), ("{shard:0}", "{shard:0}"), ("{shard:01}", "{shard:01}"),
        ("{shard:1001}", "1001 shards"), ("{instance", "an unmatched brace"),
        ("instance}", "an unmatched brace"), ("a:b", "an unmatched brace, white space, : or *"),
        ("a*", "an unmatched brace, white space, : or *"),
        ("a b", "an unmatched brace, white space, : or *"),
    ],
)  # fmt: skip
def test_a_wrong_template_is_an_error_of_use(template, mistake):
    """A wrong template is an error of use with the option, the placeholders and the mistake."""
    with pytest.raises(SettingsError, match="Invalid --log-stream") as caught:
        stream_name(template, cluster="c", instance_id="i", region="r")
    assert mistake in str(caught.value)
    assert "{shard:N} (N from 1 to 1000)" in str(caught.value)


@pytest.mark.parametrize("group", ["", "has space", "aws/reserved", "g" * 513])
def test_a_wrong_name_is_an_error_of_use(group):
    """A wrong name is an error before the first record, not a refusal of records."""
    with pytest.raises(SettingsError, match="Invalid") as caught:
        LogStream(group, "s")
    assert len(str(caught.value)) < 300
