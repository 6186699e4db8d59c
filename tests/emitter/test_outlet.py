"""
The sending side: who sends, and the one sentence when it does not get there.
"""

from __future__ import annotations

import io
import logging
import sys
import threading

import pytest
from emitter_process import wait_until

from emitter import outlet as outlet_module
from emitter.delivery.destination import Delivered, Refused, Retry
from emitter.errors import DeliveryError, SettingsError
from emitter.outlet import Outlet
from emitter.settings import RunSettings
from emitter.spool import NewRecord, Spool

REFUSED = Refused("no_log_group", "there is no log group: deploy the stack")
RECORD = NewRecord(1_800_000_000_000, "line")


class Place:
    """
    A destination that answers as it is told, and remembers what it took.
    """

    def __init__(self, outcome):
        self.limits = outlet_module.StreamDestination.limits
        self.outcome = outcome
        self.taken = []
        self.threads = set()
        self.offered = threading.Event()

    def send(self, batch):
        """
        Take it or not.
        """
        self.threads.add(threading.current_thread())
        if isinstance(self.outcome, Delivered):
            self.taken += [one.line for one in batch]
        self.offered.set()
        return self.outcome

    def close(self):
        """
        Nothing to let go of.
        """


@pytest.fixture
def spool(tmp_path):
    """
    A spool on disk that never finds a record too old.
    """
    with Spool.open(tmp_path / "spool", max_age_s=None) as opened:
        yield opened


@pytest.fixture
def outlet_to(spool, monkeypatch):
    """
    Make an outlet whose destination answers with one outcome.
    """
    made = []

    def make(outcome, **changes):
        place = Place(outcome)
        monkeypatch.setattr(outlet_module, "LogStream", lambda *_, **__: place)
        monkeypatch.setattr(outlet_module, "StreamDestination", lambda _: place)
        made.append(Outlet(RunSettings(spread_seconds=0, **changes), spool))
        return made[-1], place

    yield make
    for one in made:
        one.stop()


@pytest.mark.parametrize("output", ["logs", "stdout"])
def test_records_are_sent_by_a_thread_of_its_own(output, spool, outlet_to):
    """
    No answer may stop the reading of reports.
    """
    outlet, place = outlet_to(Delivered(), output=output)
    spool.append([RECORD])
    outlet.send("i-1")
    assert place.offered.wait(8)
    outlet.stop()
    assert ["line"] == place.taken
    assert threading.current_thread() not in place.threads


def test_the_end_of_an_input_is_sent_by_whoever_waits_for_it(spool, outlet_to):
    """
    Nothing else is left to do; and nothing is logged beside the sentence.
    """
    outlet, place = outlet_to(Delivered())
    spool.append([RECORD])
    outlet.finish("i-1")
    assert {threading.current_thread()} == place.threads
    assert ["line"] == place.taken


def test_what_an_input_leaves_unsent_is_one_sentence(spool, outlet_to, caplog):
    """
    How many, where they are, and why; exit code 4.
    """
    outlet, _ = outlet_to(REFUSED)
    spool.append([RECORD] * 2)
    with pytest.raises(DeliveryError) as caught:
        outlet.finish("i-1")
    expected = (
        f"2 record(s) were not delivered and are kept in {spool.directory} for the next run, "
        "because there is no log group: deploy the stack"
    )
    assert expected == str(caught.value)
    assert not caplog.records


def test_a_planned_stop_only_warns(spool, outlet_to, caplog):
    """
    The records are kept: that is no failure.
    """
    caplog.set_level(logging.WARNING)
    outlet, place = outlet_to(REFUSED)
    spool.append([RECORD])
    outlet.send("i-1")
    assert place.offered.wait(8)
    outlet.stop()
    outlet.stop()
    kept = [one for one in caplog.records if "1 record(s) were not delivered" in one.getMessage()]
    assert [logging.WARNING] == [one.levelno for one in kept]


def test_a_memory_spool_does_not_promise_to_keep(monkeypatch):
    """
    What is not delivered is lost with the process, and the sentence says so.
    """
    place = Place(Retry("timeout", "no answer came"))
    monkeypatch.setattr(outlet_module, "StreamDestination", lambda _: place)
    monkeypatch.setattr(outlet_module, "FINISH_WITHIN_S", 0.0)
    with Spool.open(None, max_age_s=None) as spool:
        spool.append([RECORD])
        with pytest.raises(DeliveryError, match=r"are lost with this process, because no answer"):
            Outlet(RunSettings(output="stdout"), spool).finish("i-1")


def test_a_reader_that_has_gone_is_the_end(spool, outlet_to, caplog):
    """
    Unlike a service: it is found in the reading loop, and said once.
    """
    outlet, place = outlet_to(REFUSED, output="stdout")
    outlet.require_reader()
    spool.append([RECORD])
    outlet.send("i-1")
    assert place.offered.wait(8)

    wait_until(lambda: raises(DeliveryError, outlet.require_reader))
    assert not caplog.records
    outlet.require_reader()


def raises(kind, call):
    """
    Whether a call fails in this way, now.
    """
    try:
        call()
    except kind:
        return True
    return False


def test_a_service_that_refuses_is_not_the_end(spool, outlet_to):
    """
    Somebody may make the log group while we go on reading.
    """
    outlet, place = outlet_to(REFUSED)
    spool.append([RECORD])
    outlet.send("i-1")
    assert place.offered.wait(8)
    outlet.require_reader()


def test_a_log_group_that_cannot_be_is_found_before_the_first_record(spool):
    """
    With the name of the option.
    """
    with pytest.raises(SettingsError, match="--log-group must be"):
        Outlet(RunSettings(log_group="a b"), spool)


def test_a_closed_standard_output_is_found_before_the_first_record(spool, monkeypatch):
    """
    Python has no sys.stdout then.
    """
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(DeliveryError, match="standard output was expected to take lines"):
        Outlet(RunSettings(output="stdout"), spool)


def test_lines_on_standard_output_are_whole_lines(spool, monkeypatch):
    """
    One per record, in order.
    """
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    spool.append([RECORD, NewRecord(RECORD.timestamp_ms, "second")])
    Outlet(RunSettings(output="stdout"), spool).finish("i-1")
    assert "line\nsecond\n" == stream.getvalue()


@pytest.mark.parametrize("instance_id", ["i-1", "arn:aws:x*y", "a b"])
def test_the_log_stream_is_named_after_the_instance(instance_id, spool, monkeypatch):
    """
    What a stream's name cannot have becomes a hyphen.
    """
    seen = []

    def stream(*arguments, **options):
        seen.append((arguments, options))
        return Place(Delivered())

    monkeypatch.setattr(outlet_module, "LogStream", stream)
    spool.append([RECORD])
    Outlet(RunSettings(log_group="/g", region="us-east-1"), spool).finish(instance_id)
    expected = instance_id.replace(":", "-").replace("*", "-").replace(" ", "-")
    assert (("/g", expected), {"region": "us-east-1"}) == seen[-1]
