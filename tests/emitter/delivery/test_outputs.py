"""The output that the settings ask for: the right destination, or one sentence at the start."""

from __future__ import annotations

import io
import sys

import pytest
from scripted import NOW_MS

from emitter.delivery.outputs import Output
from emitter.errors import DeliveryError, SettingsError
from emitter.run.outlet import Outlet
from emitter.settings import RunSettings
from emitter.spool import NewRecord, Spool

RECORDS = [NewRecord(NOW_MS, '{"Text":"first"}'), NewRecord(NOW_MS, '{"Text":"second"}')]


@pytest.fixture
def deliver_as():
    """Deliver two records as the settings say."""

    def deliver(instance_id="i-1", cluster="blue", **changes):
        with Spool.open(None, max_age_s=None) as spool:
            spool.append(RECORDS)
            Outlet(RunSettings(**changes), spool, cluster=cluster).finish(instance_id)
            assert 2 == spool.health().delivered

    return deliver


def test_lines_on_standard_output_are_whole_lines(deliver_as, monkeypatch):
    """One per record, in order."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    deliver_as(output="stdout")
    assert '{"Text":"first"}\n{"Text":"second"}\n' == stream.getvalue()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"log_group": "a b"}, "Invalid --log-group"),
        ({"log_stream": "{host}"}, "unknown placeholder {host}"),
        ({"log_stream": "a:b"}, "--log-stream"),
        ({"log_stream": "{region}"}, "Use --region"),
    ],
)
@pytest.mark.usefixtures("no_aws")
def test_a_setting_that_cannot_be_is_found_before_the_first_record(changes, words):
    """With the name of the option."""
    with pytest.raises(SettingsError) as caught:
        Output(RunSettings(**changes), "blue")
    assert words in str(caught.value)


def test_a_stream_that_is_not_used_is_not_looked_at():
    """One configuration file may serve outputs that have no log stream."""
    Output(RunSettings(output="stdout", log_stream="{host}"), "blue")


def test_the_region_of_a_stream_may_come_from_the_environment(no_aws):
    """As the SDK finds it; else it is the one the instance is in."""
    no_aws.setenv("AWS_DEFAULT_REGION", "us-west-2")
    output = Output(RunSettings(log_stream="{region}/{instance}"), "blue")
    assert "us-west-2/i-1" == output.destination("i-1")._stream
    no_aws.delenv("AWS_DEFAULT_REGION")
    output = Output(RunSettings(log_stream="{region}/{instance}"), "blue", "eu-west-3")
    assert "eu-west-3/i-1" == output.destination("i-1")._stream


def test_a_closed_standard_output_is_found_before_the_first_record(monkeypatch):
    """Python has no sys.stdout then."""
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(DeliveryError, match="Standard output is closed"):
        Output(RunSettings(output="stdout"), "blue")


@pytest.mark.parametrize("instance_id", ["i-1", "arn:aws:x*y", "a b"])
def test_by_default_the_stream_is_named_after_the_instance(instance_id):
    """What a stream's name cannot have becomes a hyphen."""
    expected = instance_id.replace(":", "-").replace("*", "-").replace(" ", "-")
    assert expected == Output(RunSettings(), "blue").destination(instance_id)._stream
