"""The stack's input: log lines, deliveries, batches of a stream, items of its table."""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import json
import zlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from aggregator import runtime
from aggregator.arrivals.arrival import LogLine
from aggregator.close.run import CloseRun
from aggregator.environment import Environment, Rules
from aggregator.ingest import function as ingest
from aggregator.ingest.intake import take_in
from aggregator.storage.item import item_of, packed, unpacked
from aggregator.storage.pack import identity_of, packs_of, records_of
from neuron_wire import MinuteRecord, WireFormatError, emf, parse
from neuron_wire.errors import REASONS
from neuron_wire.prices import Prices
from proof.factories.deliveries import batch, payload
from proof.factories.invocations import Context
from proof.factories.records import MINUTE, lines, message, record, some_holders
from proof.fuzz import broken_json
from proof.fuzz.target import Target, require_sentence, spoiled
from proof.memory_table import MemoryTable

if TYPE_CHECKING:
    import random

NOW_S: Final = MINUTE * 60 + 70.0
ENVIRONMENT: Final = Environment(
    table_name="records",
    stack_name="neuron-emf",
    rules=Rules(),
    own_log_groups=frozenset({"/neuron-emf/rollups", "/neuron-emf/ingest"}),
    own_log_group="/neuron-emf/ingest",
)
MAX_LOGGED_CHARS: Final = 16_384


class IngestFunction:
    """
    One function that takes in one event: the real handler, a table in memory.

    Attributes:
        table: What it stored.

        printed: What it wrote.
    """

    def __init__(self) -> None:
        self.table = MemoryTable()
        self.printed = ""

    def handle(self, event: dict[str, Any]) -> dict[str, Any]:
        """The handler's answer."""
        written = io.StringIO()
        before = ingest.logger.registered_handler.stream, runtime.stack, ingest.time
        ingest.logger.registered_handler.stream = written
        runtime.stack = lambda: (ENVIRONMENT, self.table)
        ingest.time = SimpleNamespace(time=lambda: NOW_S)
        try:
            with contextlib.redirect_stdout(written):
                return ingest.handler(event, Context())
        finally:
            ingest.logger.registered_handler.stream, runtime.stack, ingest.time = before
            self.printed = written.getvalue()
            self._check_log()

    @property
    def records(self) -> set[tuple[str, str, str, int]]:
        """Identities of what it stored."""
        identities = set()
        for (minute, _), items in self.table.records.items():
            for content in items.values():
                records, unreadable = records_of(content, minute)
                assert 0 == unreadable
                identities |= {identity_of(one) for one in records}
        return identities

    def _check_log(self) -> None:
        """What it wrote is JSON in whole characters, and not as long as somebody else likes."""
        for one in self.printed.splitlines():
            assert isinstance(json.loads(one), dict)
            assert len(one.encode()) <= MAX_LOGGED_CHARS


def reads_a_line(content: bytes) -> None:
    """A line is refused with a reason of the list, or is a record that comes back the same."""
    text = content.decode(errors="replace")
    try:
        record_read = parse(text)
    except WireFormatError as error:
        require_sentence(error, 200)
        record_read, reason = None, error.reason
    else:
        reason = None
    assert reason is None or reason in REASONS
    if not isinstance(record_read, MinuteRecord):
        return
    again = parse(message(record_read))
    assert isinstance(again, MinuteRecord)
    assert identity_of(record_read) == identity_of(again)
    assert again == parse(message(again))
    minute = record_read.minute_ms // 60_000
    for item in (item_of(record_read, 0), *packs_of([record_read], 120)):
        records, unreadable = records_of(item.payload, minute)
        assert [identity_of(record_read)] == [identity_of(one) for one in records]
        assert 0 == unreadable
        assert 1 <= len(item.key.encode()) <= 1024
    _closes_beside(LogLine("1", text), minute)


def _closes_beside(line: LogLine, minute: int) -> None:
    """The minute is closed, and the cluster that stands beside has its rollup."""
    table, printed = MemoryTable(), []
    beside = record(minute=minute, cluster="beside", instance_id="i-beside", boot="beside")
    end_s = (minute + 1) * 60.0
    take_in([line, *lines(beside)], table, 120, lambda: end_s)
    times = {"now_s": lambda: end_s + 130, "remaining_s": lambda: 50.0}
    CloseRun(table=table, rules=Rules(), emit=printed.append, prices=Prices({}), **times).run()
    assert all([] == emf.violations(one) for one in printed)
    rollups = [json.loads(one) for one in printed]
    assert ["beside"] == [
        one["ClusterName"]
        for one in rollups
        if one["Kind"] == "rollup" and one["ClusterName"] == "beside"
    ]


def takes_in_a_delivery(content: bytes) -> None:
    """The document fails the invocation, or every line of it is stored or counted."""
    _takes_in(gzip.compress(content, 1))


def _takes_in(compressed: bytes) -> None:
    function = IngestFunction()
    failed = False
    try:
        counts = function.handle({"awslogs": {"data": base64.b64encode(compressed).decode()}})
    except (AssertionError, MemoryError):
        raise
    except Exception:  # noqa: BLE001  # of whatever kind: Lambda keeps the event
        failed = True
    if failed:
        assert not function.table.records
        return
    document = json.loads(gzip.decompress(compressed))
    is_control = document["messageType"] == "CONTROL_MESSAGE"
    delivered = 0 if is_control else len(document["logEvents"])
    assert counts.get("RecordsStored", 0) == len(function.records)
    assert 0 <= sum(counts.values()) <= delivered


def takes_in_a_batch(compressed: bytes) -> None:
    """What stands between two good records of a stream costs neither, and is read or named."""
    first, last = record(instance_id="i-first"), record(instance_id="i-last")
    event = batch(payload(*lines(first)), compressed, payload(*lines(last)))
    function = IngestFunction()
    answer = function.handle(event)
    assert {identity_of(first), identity_of(last)} <= function.records
    named = [one["itemIdentifier"] for one in answer["batchItemFailures"]]
    assert named in ([], ["n-1"])
    try:
        document = json.loads(gzip.decompress(compressed))
        is_delivery = document["messageType"] == "CONTROL_MESSAGE" or "logEvents" in document
    except Exception:  # noqa: BLE001  # of whatever kind: it is none
        is_delivery = False
    assert named or is_delivery
    assert ("DeliveriesUnreadable" in function.printed) == bool(named)


def reads_an_item(content: bytes) -> None:
    """What stands in the table is records, and the rest of it a count."""
    records, unreadable = records_of(content, MINUTE)
    assert len(records) + unreadable >= 1
    for one in records:
        assert isinstance(parse(message(one)), MinuteRecord)


def recompressed(content: bytes, chance: random.Random) -> bytes:
    """Compressed content changed below its compression."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        plain = unpacker.decompress(content, 1 << 20)
    except zlib.error as error:
        raise ValueError from error
    return gzip.compress(broken_json.broken(plain, chance), 1)


def repacked(content: bytes, chance: random.Random) -> bytes:
    """A packed item changed line by line."""
    texts = unpacked(content).split(b"\n")
    place = chance.randrange(len(texts))
    change = chance.choice([broken_json.broken, spoiled])
    texts[place] = change(texts[place], chance).rstrip(b"\n")
    return packed(b"\n".join(texts))


def changed_within(content: bytes, chance: random.Random) -> bytes:
    """The document of a delivery broken, or one of its lines."""
    if chance.random() < 0.5:
        return broken_json.broken(content, chance)
    document = json.loads(content)
    event = chance.choice(document["logEvents"])
    event["message"] = broken_json.broken(event["message"].encode(), chance).decode(
        errors="replace"
    )
    return json.dumps(document).encode()


def _messages() -> list[str]:
    wide = record(
        core_state="a" * 64 + "?" * 64,
        utilization_percent=(0.0,) * 64 + (None,) * 64,
        idle_minutes=(20,) * 128,
        holders=some_holders(64, 1),
        region="us-east-1",
    )
    return [
        message(record()),
        message(wide),
        message(record(bye=True, core_state="", utilization_percent=(), idle_minutes=())),
    ]


def _deliveries() -> list[bytes]:
    made = [lines(record(seq=seq)) for seq in (1, 2)]
    whole = payload(*made[0], *made[1], LogLine("3", "junk"))
    control = payload(kind="CONTROL_MESSAGE")
    own = payload(*made[0], log_group="/neuron-emf/rollups")
    return [whole, control, own]


LINES: Final = Target(
    "log lines", reads_a_line, lambda: [one.encode() for one in _messages()], broken_json.broken
)
DELIVERIES: Final = Target(
    "deliveries",
    takes_in_a_delivery,
    lambda: [gzip.decompress(one) for one in _deliveries()],
    changed_within,
)
BATCHES: Final = Target("stream batches", takes_in_a_batch, _deliveries, recompressed)
ITEMS: Final = Target(
    "table items",
    reads_an_item,
    lambda: [
        item_of(record(), 0).payload,
        packs_of([record(seq=seq) for seq in range(1, 5)], 120)[0].payload,
    ],
    repacked,
)
