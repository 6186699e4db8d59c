"""
Send emitters' lines to ingest through kinesalite, an independent Kinesis.

`EventSource` reads the shards like Lambda's event source mapping of the template. A batch that
failed in part continues at the first record that ingest names. A batch that failed as a whole is
halved. A record without attempts left is given up.
"""

from __future__ import annotations

import base64
import random
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final

import boto3

from proof.chaos.chaos_fleet import fleet
from proof.chaos.functions import DONE, Functions, InjectedFaults
from proof.chaos.subscription import UNREADABLE, SubscriptionFilter
from proof.factories.invocations import batch
from proof.real import npm_server
from proof.real.instance_hour import PlayedHour

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from neuron_wire import MinuteRecord
    from proof.chaos.chaos_fleet import Accepted

TITLE: Final = "kinesalite"
CLAIM: Final = (
    "Deliveries of a subscription go through a stream of kinesalite, an independent Kinesis, into "
    "ingest; the rollups equal the reference's."
)
KINESALITE_STREAM: Final = "lines"
SHARDS: Final = 2
KINESALITE_SEED: Final = 8
KINESALITE_INSTANCES: Final = 60
KINESALITE_MINUTES: Final = 30
MAX_KINESALITE_BATCH: Final = 40  # deliveries; fewer than the template's 500 make more batches
MAX_PUT: Final = 500  # records in one PutRecords
PUT_ATTEMPTS_OF_STREAM: Final = 4  # in the template: 101
TROUBLE_CHANCES: Final = {"twice": 0.1, "unreadable": 0.02, "refused": 0.1, "killed": 0.05}


def missing() -> str | None:
    """Return why kinesalite cannot run here, or None."""
    return npm_server.missing("kinesalite")


def versions() -> dict[str, str]:
    """Return the versions of the server, of its runtime and of the client."""
    return {**npm_server.versions("kinesalite"), "boto3": boto3.__version__}


def run(_: Path) -> list[str]:
    """Compare all rollups; raise AssertionError with the first differences."""
    lived = fleet(KINESALITE_SEED, KINESALITE_INSTANCES, KINESALITE_MINUTES)
    options = {"createStreamMs": 0, "deleteStreamMs": 0, "updateStreamMs": 0}
    with npm_server.serving("kinesalite", options) as address:
        hour = StreamHour(lived, address)
        rollups = hour.live()
    source = hour.source
    assert source.given_up == hour.unreadable, "given up: other records than the unreadable ones"
    counts = source.counts
    assert min(counts[result] for result in ("whole", "in part", "failed")) > 0, counts
    return [
        f"{KINESALITE_INSTANCES} instances, {KINESALITE_MINUTES} minutes, {len(lived):,} lines.",
        f"{hour.put:,} records on {SHARDS} shards in {counts.total():,} batches.",
        f"Taken whole {counts['whole']}, in part {counts['in part']}, failed {counts['failed']}.",
        f"Given up: the {len(source.given_up)} unreadable records alone.",
        f"{rollups.total():,} rollups in {len(rollups)} clusters, no difference.",
    ]


class StreamHour(PlayedHour):
    """
    Lines that pass through the stream.

    Attributes:
        source: Reader of the stream.

        put: Records in the stream.

        unreadable: Data of records that are not deliveries.
    """

    def __init__(self, lived: list[Accepted], address: str) -> None:
        super().__init__(lived)
        self._rng = random.Random(KINESALITE_SEED)
        self._subscription = SubscriptionFilter(self._rng)
        self._functions = Functions(lambda: self.now_s, self.take_line)
        self.table = self._functions.table
        self._client = boto3.client(
            "kinesis",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )
        self._client.create_stream(StreamName=KINESALITE_STREAM, ShardCount=SHARDS)
        self._client.get_waiter("stream_exists").wait(StreamName=KINESALITE_STREAM)
        self.source = EventSource(self._client, self._invoke)
        self.put = 0
        self.unreadable: Counter[bytes] = Counter()

    def deliver(self, records: list[MinuteRecord]) -> None:
        """
        Put the deliveries as CloudWatch Logs does, some of them twice, and poll until all are read.
        """
        entries = []
        for delivery in self._subscription.deliveries(records):
            copies = 1 + self._happens("twice")
            entries += [(delivery.stream, delivery.payload)] * copies
            if self._happens("unreadable"):
                odd = self._subscription.odd(UNREADABLE, delivery)
                entries.append((delivery.stream, odd.payload or b"\0"))
                self.unreadable[entries[-1][1]] += 1
        self._rng.shuffle(entries)
        self.put += len(entries)
        for first in range(0, len(entries), MAX_PUT):
            request = [
                {"Data": data, "PartitionKey": stream}
                for stream, data in entries[first : first + MAX_PUT]
            ]
            answer = self._client.put_records(StreamName=KINESALITE_STREAM, Records=request)
            assert answer["FailedRecordCount"] == 0
        self.source.poll()

    def run_close(self) -> Mapping[str, float]:
        return self._functions.close(InjectedFaults()).health

    def _happens(self, what: str) -> bool:
        return self._rng.random() < TROUBLE_CHANCES[what]

    def _invoke(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """Run ingest; return the answer, None if the invocation failed or was killed."""
        faults = InjectedFaults()
        if self._happens("refused"):
            faults = InjectedFaults(refused_at=1)
        elif self._happens("killed"):
            faults = InjectedFaults(killed_at=self._rng.randint(1, 6), after=True)
        result = self._functions.ingest(event, faults)
        return result.answer if result.ended == DONE else None


class EventSource:
    """
    The event source mapping: reads every shard in order and calls a function with batches.

    Attributes:
        counts: Batches by result.

        given_up: Data of records without attempts left.
    """

    def __init__(
        self, client: Any, invoke: Callable[[dict[str, Any]], dict[str, Any] | None]
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.given_up: Counter[bytes] = Counter()
        self._client = client
        self._invoke = invoke
        answer = client.describe_stream(StreamName=KINESALITE_STREAM)["StreamDescription"]
        self._arn = answer["StreamARN"]
        self._iterators = {
            shard["ShardId"]: client.get_shard_iterator(
                StreamName=KINESALITE_STREAM,
                ShardId=shard["ShardId"],
                ShardIteratorType="TRIM_HORIZON",
            )["ShardIterator"]
            for shard in answer["Shards"]
        }
        assert len(self._iterators) == SHARDS

    def poll(self) -> None:
        """
        Read every shard to its current end, and call the function until it has taken all records.
        """
        for shard in self._iterators:
            while True:
                answer = self._client.get_records(
                    ShardIterator=self._iterators[shard], Limit=MAX_KINESALITE_BATCH
                )
                self._iterators[shard] = answer["NextShardIterator"]
                if not answer["Records"]:
                    break
                self._process(shard, answer["Records"])

    def _process(self, shard: str, records: list[dict[str, Any]]) -> None:
        """Call the function until it has taken each of *records* or its attempts are used up."""
        attempts: Counter[str] = Counter()
        batches = deque([records])
        while batches:
            batch_records = batches.popleft()
            first = batch_records[0]["SequenceNumber"]
            attempts[first] += 1
            answer = self._invoke(self._event(shard, batch_records))
            if answer is None:
                self.counts["failed"] += 1
                middle = len(batch_records) // 2
                halves = [batch_records[:middle], batch_records[middle:]]
                batches.extendleft(filter(None, reversed(halves)))
                continue
            named = {item["itemIdentifier"] for item in answer["batchItemFailures"]}
            numbers = [record["SequenceNumber"] for record in batch_records]
            assert named <= set(numbers), "ingest names records that it was not given"
            self.counts["in part" if named else "whole"] += 1
            left = batch_records[min(map(numbers.index, named), default=len(numbers)) :]
            if left and attempts[left[0]["SequenceNumber"]] >= PUT_ATTEMPTS_OF_STREAM:
                self.given_up[left.pop(0)["Data"]] += 1
            if left:
                batches.appendleft(left)

    def _event(self, shard: str, records: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the event of *records* as Lambda makes it."""
        event = batch(*(record["Data"] for record in records))
        for sent, record in zip(event["Records"], records, strict=True):
            assert base64.b64decode(sent["kinesis"]["data"]) == record["Data"]
            sent["eventSourceARN"] = self._arn
            sent["eventID"] = f"{shard}:{record['SequenceNumber']}"
            sent["kinesis"] |= {
                "partitionKey": record["PartitionKey"],
                "sequenceNumber": record["SequenceNumber"],
                "approximateArrivalTimestamp": record["ApproximateArrivalTimestamp"].timestamp(),
            }
        return event
