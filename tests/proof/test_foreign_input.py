"""
Readers of four foreign inputs never raise, whatever is broken in the input.

`make test` uses the same examples each time; `make proof` draws new ones.
"""

from __future__ import annotations

import copy
import gzip
import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from aggregator.arrivals import LogLine
from aggregator.ingest.intake import take_in
from aggregator.runtime import arrival_of
from neuron_emf.reading.rollup_lines import PublishedRollup, rollup_of
from neuron_emitter.fold import Fold, FoldSettings, LineIdentity
from neuron_emitter.lines import LineWriter
from neuron_emitter.reports.framing import Framer
from neuron_emitter.settings import MinuteSettings
from neuron_wire import MinuteRecord, WireFormatError, line_members, parse
from proof.factories.invocations import batch, payload
from proof.factories.records import MINUTE, full_record, lines, message, record, some_holders
from proof.memory_table import MemoryTable
from tests.aggregator.memory_stack import MINUTE_END_S, MemoryStack
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    no_runtimes,
    two_cores,
    whole,
    written,
)

NESTING = 20_000  # deeper than any decoder's limit
RAW_VALUES = (
    b"null", b"true", b'""', b'"x"', b'"27.4"', b'"\\u0000\\u202e"', b'"\\ud800"', b'"\xff"',
    b'"' + b"y" * 3000 + b'"', b"-1", b"0.5", b"1e-320", b"1e300", b"1e999", b"2147483648",
    b"9223372036854775808", b"18446744073709551616", b"1" + b"0" * 400, b"[]", b"{}", b"[[]]",
    b"[null]", b"[{}]", b'{"0":null}', b'{"99999999999999999999":{"neuroncore_utilization":5}}',
    b"[" * 900 + b"]" * 900, b'"9999-12-31T23:59:59Z"', b"NaN", b"-Infinity", b"undefined", b"01",
    b"", b"[", b"}", b'"', b"\xff\xfe", b"[" * NESTING, b'{"a":' * NESTING, b"1" * 5000,
)  # fmt: skip
"""Substitutes for any value: JSON of any type and size, and text that is not JSON."""


def places(document, path=()):
    """Yield every place below *document*, outer places first."""
    items = document.items() if isinstance(document, dict) else ()
    for key, value in enumerate(document) if isinstance(document, list) else items:
        yield (*path, key)
        yield from places(value, (*path, key))


@st.composite
def broken(draw, *documents):
    """Draw one of *documents* as text, with one place removed or replaced."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    *way, last = draw(st.sampled_from(list(places(document))))
    holder = document
    for key in way:
        holder = holder[key]
    if draw(st.booleans()):
        holder[last] = "\u0001here\u0001"
    else:
        del holder[last]
    raw = draw(st.sampled_from(RAW_VALUES))
    return (
        json.dumps(document, separators=(",", ":"))
        .encode()
        .replace(json.dumps("\u0001here\u0001").encode(), raw)
    )


WHOLE_REPORTS = (whole(), two_cores(), no_runtimes())
FOREIGN_LINES = tuple(
    json.loads(message(value))
    for value in (
        record(),
        record(is_clean_shutdown=True),
        record(holders=some_holders(2, 1)),
        full_record(8, 1),
    )
)


@given(broken(*WHOLE_REPORTS) | st.binary(max_size=200), st.sampled_from([1 << 16, 100]))
@example(b"[" * NESTING, 100)
def test_a_report_is_read_or_counted_and_the_next_is_read(content, chunk_bytes):
    """
    A broken report is read or counted: its minute closes, the stack reads its line, and the saved
    state is read.
    """
    framer = Framer()
    fold = Fold(FoldSettings(period_s=5.0, runtime_lines="all"))
    fold.clock.open_minute(REPORTS_START_S)
    text = content + b"\n" + written(whole())
    for start in range(0, len(text), chunk_bytes):
        for frame in framer.frame_chunk(text[start : start + chunk_bytes]):
            fold.fold_report(frame, REPORTS_START_S + 5.0)
    for frame in framer.end_input():
        fold.fold_report(frame, REPORTS_START_S + 10.0)
    assert 1 <= fold.reports_read
    if content.strip():
        assert 2 <= fold.reports_read + framer.malformed
    identity = LineIdentity("blue", "i-1", identity_guessed=False, boot="b")
    minute, *_ = [
        record.line
        for record in LineWriter(MinuteSettings()).minute_records(fold.close_minute(identity, 1))
    ]
    assert isinstance(parse(minute), MinuteRecord)
    state = fold.encode_state()
    again = Fold(FoldSettings(), state).encode_state()
    assert json.loads(state) == json.loads(again)


@given(
    broken(*FOREIGN_LINES).map(lambda line: line.decode(errors="replace")) | st.text(max_size=100)
)
@example('{"Schema":1,"Kind":"minute","CoveredSeconds":NaN}')
@example("[" * 3000)
def test_a_line_is_refused_with_a_reason_or_is_a_record_that_comes_back_the_same(text):
    """A broken line is refused with a reason, or is a record that is read back unchanged."""
    parsed = None
    refused = None
    try:
        parsed = parse(text)
    except WireFormatError as error:
        refused = error
    if refused is not None:
        assert refused.reason in vars(line_members).values()
        assert len(str(refused)) < 200
    elif isinstance(parsed, MinuteRecord):
        again: Any = parse(message(parsed))
        assert again == parse(message(again))
        assert parsed.instance_id == again.instance_id
        assert parsed.boot == again.boot
        assert parsed.seq == again.seq


DELIVERY = json.loads(gzip.decompress(payload(*lines(record(), record(seq=2)))))


@given((broken(DELIVERY) | st.binary(max_size=100)).map(gzip.compress) | st.binary(max_size=100))
@example(gzip.compress(gzip.compress(b"{}")))
@example(payload(*lines(record()))[:-9])
@example(gzip.compress(json.dumps({**DELIVERY, "logStream": "i-\ud800"}).encode()))
@example(payload(LogLine("1", "junk")))
def test_a_delivery_between_two_good_ones_is_read_or_named_and_costs_neither(compressed):
    """
    A broken delivery is read or named, each of its lines is stored or counted, and its neighbors
    are stored.
    """
    good = payload(*lines(record(instance_id="i-first")))
    arrival = arrival_of(batch(good, compressed, payload(*lines(record(instance_id="i-last")))))
    assert arrival.unreadable in ((), ("n-1",))
    read_lines = [line for delivery in arrival.deliveries for line in delivery.lines]
    taken = take_in(read_lines, MemoryTable(), 120, lambda: MINUTE_END_S, in_packs=True)
    assert 2 <= taken.stored <= len(read_lines) - taken.rejected - taken.too_late


def a_rollup():
    """Return a cluster's line as close prints it."""
    stack = MemoryStack()
    stack.close(MINUTE_END_S - 60)
    stack.deliver(MINUTE_END_S + 5, record(), record(instance_id="i-2", core_state="aa"))
    stack.close(MINUTE_END_S + 125)
    return next(line for line in stack.rollups() if line["Instances"])


@given(broken(a_rollup()))
@example(json.dumps({**a_rollup(), "Minute": "9999-12-31T23:59-23:59"}).encode())
@example(json.dumps({**a_rollup(), "IdleCores": 10**308, "Instances": 10**400}).encode())
def test_a_rollup_is_one_or_none(content):
    """A broken rollup is None, or a rollup without its damaged members."""
    try:
        line = json.loads(content)
    except (ValueError, RecursionError):
        return  # not a line: every reader of lines drops it
    rollup = rollup_of(line)
    assert rollup is None or isinstance(rollup, PublishedRollup)
    if rollup is not None:
        assert all(0 <= value < 1 << 63 for value in rollup.gauges.values())


def test_what_is_not_broken_is_read():
    """
    Inputs that are not broken are read, so that the other tests of this module decide something.
    """
    rollup = rollup_of(a_rollup())
    assert rollup is not None
    assert MINUTE * 60_000 == rollup.minute_ms
    assert 2 == rollup.gauges["Instances"]
