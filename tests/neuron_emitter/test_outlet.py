"""The outlet: the sending thread, and the sentence if records cannot be sent."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest

from neuron_emitter.delivery.destination import BatchLimits, Delivered, Refused, Retry
from neuron_emitter.delivery.sender import offset_s
from neuron_emitter.errors import DeliveryError, SettingsError, SourceError
from neuron_emitter.run import outlet as outlet_module
from neuron_emitter.run.outlet import Outlet
from neuron_emitter.settings import RunSettings
from neuron_emitter.spool import NewRecord, Spool

REFUSED_CALL = Refused("no_log_group", "there is no log group: deploy the stack")

SENT_RECORD = NewRecord(1_800_000_000_000, "line")


class FakeDestination:
    """A destination with a fixed answer, which keeps the records it took."""

    def __init__(self, outcome):
        self.limits = BatchLimits()
        self.outcome = outcome
        self.taken = []
        self.names = []
        self.threads = set()
        self.offered = threading.Event()

    def rename(self, stream):
        """Note the name of the stream."""
        self.names.append(stream)

    def send(self, batch):
        """Return the fixed answer, and keep the records if it is Delivered."""
        self.threads.add(threading.current_thread())
        self.offered.set()
        if isinstance(self.outcome, Delivered):
            self.taken += [record.line for record in batch]
        return self.outcome

    def close(self):
        """Do nothing: the destination holds no resources."""


@pytest.fixture
def spool(tmp_path):
    """Yield a spool on disk without an age limit."""
    with Spool(tmp_path / "spool", max_age_s=1e12) as opened:
        yield opened


@pytest.fixture
def outlet_to(spool, monkeypatch):
    """Yield a function that makes an outlet whose destination has one answer."""
    with ExitStack() as stack:

        def make(outcome, **changes):
            place = FakeDestination(outcome)
            monkeypatch.setattr(outlet_module, "LogStream", lambda *_, **__: place)
            monkeypatch.setattr(outlet_module, "StreamDestination", lambda _: place)
            outlet = Outlet(RunSettings(**{"spread_seconds": 0, **changes}), spool)
            stack.callback(outlet.stop_sending)
            return outlet, place

        yield make


@pytest.mark.parametrize("output", ["logs", "stdout"])
def test_records_are_sent_by_a_thread_of_its_own(output, spool, outlet_to):
    """A thread of the outlet sends records, so that the service never delays reading."""
    outlet, place = outlet_to(Delivered(), output=output)
    spool.append([SENT_RECORD])
    outlet.send_records("i-1")
    assert place.offered.wait(60)
    outlet.stop_sending()
    assert ["line"] == place.taken
    assert threading.current_thread() not in place.threads


@pytest.mark.parametrize(
    ("failure", "before"), [(None, ""), (SourceError("The pipe ended."), "The pipe ended. ")]
)
def test_unsent_records_of_an_input_are_one_sentence(failure, before, spool, outlet_to, caplog):
    """
    The error has the number of undelivered records, their folder and the reason.

    The reason for the end of the input comes first.
    """
    outlet, _ = outlet_to(REFUSED_CALL)
    spool.append([SENT_RECORD] * 2)
    with pytest.raises(DeliveryError) as caught:
        outlet.finish_sending("i-1", failure)
    expected = (
        f"{before}2 records could not be delivered (kept in {spool.directory} for the next "
        "run). there is no log group: deploy the stack"
    )
    assert expected == str(caught.value)
    assert not caplog.records


@pytest.mark.parametrize(
    ("output", "missing", "is_over", "expected"),
    [
        ("logs", REFUSED_CALL, False, 1),
        ("logs", REFUSED_CALL, True, 0),
        ("logs", None, False, 0),
        ("stdout", REFUSED_CALL, False, 0),
    ],
)
def test_missing_credentials_are_logged_before_the_first_call(
    output, missing, is_over, expected, *, outlet_to, caplog, monkeypatch
):
    """
    The outlet checks credentials before its first call, long before the first minute is sent.

    An input that has ended reports the reason itself.
    """
    monkeypatch.setattr(outlet_module, "CREDENTIALS_AFTER_S", 60.0 if is_over else 0.0)
    outlet, place = outlet_to(Delivered(), output=output)
    place.missing_for_call = lambda: missing
    outlet.look_ahead()
    if is_over:
        outlet.stop_sending()
    for thread in [timer for timer in threading.enumerate() if isinstance(timer, threading.Timer)]:
        thread.join()
    logged = [(record.getMessage(), record.reason, record.why) for record in caplog.records]
    assert [("delivery refused", REFUSED_CALL.reason, REFUSED_CALL.sentence)] * expected == logged


def test_records_of_a_memory_spool_are_reported_as_lost(monkeypatch):
    """Records of a memory spool that are not delivered are reported as lost."""
    place = FakeDestination(Retry("timeout", "no answer came"))
    monkeypatch.setattr(outlet_module, "StreamDestination", lambda _: place)
    monkeypatch.setattr(outlet_module, "FINISH_WITHIN_S", 0.0)
    with Spool(None, max_age_s=1e12) as spool:
        spool.append([SENT_RECORD])
        with pytest.raises(DeliveryError, match=r"\(lost\)\. no answer"):
            Outlet(RunSettings(output="stdout"), spool).finish_sending("i-1")


def test_the_stream_is_renamed_when_the_instance_becomes_known(spool, outlet_to):
    """The stream is renamed when the instance becomes known, over the same connection."""
    outlet, place = outlet_to(Delivered(), log_stream="{cluster}/{instance}", cluster="blue")
    for instance_id in ("host-1", "host-1", "i-1", "i-1"):
        spool.append([SENT_RECORD])
        outlet.send_records(instance_id)
    outlet.stop_sending()
    assert ["blue/host-1", "blue/i-1", "blue/i-1"] == place.names
    assert ["line"] * 4 == place.taken


@pytest.mark.parametrize(
    ("changes", "expected_s"),
    [
        ({}, 30), ({"spread_seconds": 7.0}, 7), ({"output": "stdout"}, 0),
        ({"high_resolution_metrics": True}, 1),
        ({"high_resolution_metrics": True, "spread_seconds": 0.0}, 0),
    ],
)  # fmt: skip
def test_sends_are_spread_as_the_lines_allow(outlet_to, changes, expected_s):
    """Sends of a fleet are spread over the interval; one-second metrics over a second at most."""
    outlet, _ = outlet_to(Delivered(), **{"spread_seconds": 30.0, **changes})
    outlet.send_records("i-1")
    assert offset_s("i-1", expected_s) == outlet._sender._offset_s
    outlet._sender.rename("i-2")
    assert offset_s("i-2", expected_s) == outlet._sender._offset_s


def test_a_wrong_setting_is_found_before_the_first_record(spool, monkeypatch):
    """A wrong setting is an error before the first record. Standard output needs no stream."""
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    for settings, words in (
        (RunSettings(log_group="a b"), "Invalid --log-group"),
        (RunSettings(log_stream="{host}"), "unknown placeholder {host}"),
        (RunSettings(log_stream="a:b"), "--log-stream"),
        (RunSettings(log_stream="{region}"), "Use --region"),
    ):
        with pytest.raises(SettingsError, match=words):
            Outlet(settings, spool)
    Outlet(RunSettings(output="stdout", log_stream="{host}"), spool)
