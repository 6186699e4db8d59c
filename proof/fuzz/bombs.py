"""
Decompression bombs, and a process that takes them in and says how much memory each needed.

    python -m proof.fuzz.bombs

The process is the function as far as memory goes: the real reading and the real
intake, with a table that forgets. What a function has beside, its runtime and
the client of its table, is `REST_MIB`.
"""

from __future__ import annotations

import base64
import gc
import gzip
import json
import resource
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "lambda")]

MIB: Final = 1 << 20
DIRECT_MIB: Final = 256  # of ingest, in template.yaml
STREAM_MIB: Final = 1024
REST_MIB: Final = 48  # Lambda's runtime client and boto3, measured: 26
COPIES: Final = 30  # of a bomb in a batch; kept beside each other they would be 240 MiB

_BODY: Final = (
    b'{"messageType":"DATA_MESSAGE","owner":"123456789012","logGroup":"/g","logStream":"s",'
    b'"subscriptionFilters":["f"],"logEvents":[%s]}'
)
_EVENT: Final = b'{"id":"%d","timestamp":1764000000000,"message":%s}'
_ASYNC_BYTES: Final = 1_000_000 * 3 // 4  # of an asynchronous invocation, less what base64 adds
_MOST: Final = 8 * MIB - 1000  # just less than is unpacked
_SMILE: Final = "\U0001f600"  # one such letter, and each of its text takes four bytes


def compressed(pieces: Iterator[bytes]) -> bytes:
    """The pieces in one member of gzip, never all of them in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(piece) for piece in pieces), packer.flush()])


def repeated(unit: bytes, total_bytes: int) -> Iterator[bytes]:
    """*unit* again and again."""
    block = unit * max(1, MIB // len(unit))
    for _ in range(total_bytes // len(block)):
        yield block
    yield unit * (total_bytes % len(block) // len(unit))


def array(unit: bytes, total_bytes: int) -> bytes:
    """A document whose size is in one array."""
    return b"[" + unit * (total_bytes // len(unit)) + b"0]"


def delivery(*messages: str) -> bytes:
    """A delivery of these lines."""
    events = (_EVENT % (place, json.dumps(one).encode()) for place, one in enumerate(messages))
    return gzip.compress(_BODY % b",".join(events))


def minute_line(place: int, minute: int) -> str:
    """The shortest line that is a record."""
    members = {
        "_aws": {"Timestamp": minute * 60_000, "CloudWatchMetrics": []}, "Schema": 1,
        "Kind": "minute", "Boot": "b", "Seq": place + 1, "ClusterName": "c", "InstanceId": "i",
        "CoveredSeconds": 60, "Reports": 1,
    }  # fmt: skip
    return json.dumps(members, separators=(",", ":"))


def _zeros() -> bytes:
    return compressed(repeated(b"\0", 100 * MIB))


def _of_array(unit: bytes) -> bytes:
    return gzip.compress(array(unit, _MOST))


def _lines(count: int) -> bytes:
    minute = int(time.time()) // 60
    return delivery(*(minute_line(place, minute) for place in range(count)))


Bombs = dict[str, "tuple[str, Callable[[], bytes]]"]

ALONE: Final[Bombs] = {
    "zeros": ("OversizeDeliveryError", _zeros),
    "white space": ("OversizeDeliveryError", lambda: compressed(repeated(b" ", 100 * MIB))),
    "a bomb in a bomb": ("UnicodeDecodeError", lambda: gzip.compress(_zeros())),
    "two members": ("TruncatedDeliveryError", lambda: delivery("x") + _zeros()),
    "empty members": ("TruncatedDeliveryError", lambda: gzip.compress(b"") * (_ASYNC_BYTES // 20)),
    "cut off": ("TruncatedDeliveryError", lambda: delivery("x" * 1000)[:-9]),
    "objects": ("OversizeDeliveryError", lambda: _of_array(b'{"":0},')),
    "arrays": ("OversizeDeliveryError", lambda: _of_array(b"[[]],")),
    "almost too many objects": ("DeliveryFormatError", lambda: _of_array(b'{"":{}},' + b"1," * 29)),
    "texts": ("DeliveryFormatError", lambda: _of_array(b'"ab",')),
    "numbers": ("DeliveryFormatError", lambda: _of_array(b"999,")),
    "fractions": ("DeliveryFormatError", lambda: _of_array(b"1e9,")),
    "depth": ("RecursionError", lambda: gzip.compress(b"[" * (1 << 18))),
    "digits": ("ValueError", lambda: gzip.compress(b"1" * _MOST)),
    "digits behind a point": ("DeliveryFormatError", lambda: gzip.compress(b"1." + b"1" * _MOST)),
    "twice a member": ("KeyError", lambda: gzip.compress(b'{%s"a":1}' % (b'"a":"ab",' * 900_000))),
    "one line": ("1 line", lambda: delivery("x" * _MOST)),
    "one wide line": ("1 line", lambda: delivery(_SMILE + "x" * _MOST)),
    "half a letter": ("1 line", lambda: delivery("\ud800" + "x" * MIB)),
    "a line of objects": ("1 line", lambda: delivery(array(b'{"":0},', MIB).decode())),
    "a line of numbers": ("1 line", lambda: delivery(array(b"999,", 7 * MIB).decode())),
    "empty lines": ("139810 lines", lambda: delivery(*[""] * (8 * MIB // 60))),
    "records": ("24000 lines", lambda: _lines(24_000)),
}
"""What one invocation is given, and the error or the count of lines that it gives."""

IN_A_BATCH: Final[Bombs] = {
    "batch of zeros": ("0 lines, 30 unreadable, 0 left", _zeros),
    "batch of no JSON": ("0 lines, 30 unreadable, 0 left", lambda: gzip.compress(b"x" * _MOST)),
    "batch of other objects": (
        "0 lines, 30 unreadable, 0 left",
        lambda: gzip.compress(b'{"a":"' + b"x" * _MOST + b'"}'),
    ),
    "batch of wide lines": (
        "9 lines, 0 unreadable, 21 left",
        lambda: delivery(_SMILE + "x" * _MOST),
    ),
}
"""The same for many of one kind in a batch of a stream."""


class NoTable:
    """Takes everything and keeps nothing."""

    def put_records(self, items: Any) -> None:
        for _ in items:
            pass

    def put_markers(self, *_: object) -> None:
        pass


def forget_peak() -> None:
    """Begin to measure: a process that was just made has its parent's peak."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_mib() -> float:
    """The most memory this process had since then."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (kib,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kib) / 1024


def taken(event: dict[str, Any]) -> str:
    """What becomes of an event."""
    from aggregator.ingest.intake import take_in  # noqa: PLC0415  # the path is set above
    from aggregator.runtime import arrival_of  # noqa: PLC0415

    try:
        arrival = arrival_of(event)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    lines = [line for one in arrival.deliveries for line in one.lines]
    take_in(lines, NoTable(), 120, time.time, in_packs=arrival.by_stream)  # type: ignore[arg-type]
    count = f"{len(lines)} line{'s' if len(lines) != 1 else ''}"
    if not arrival.by_stream:
        return count
    return f"{count}, {len(arrival.unreadable)} unreadable, {len(arrival.left)} left"


def run(every: int = 1) -> dict[str, tuple[str, float]]:
    """
    What became of each bomb, in a process of its own, and the most memory meanwhile, in MiB.

    With *every* 2 only of each second one, alone and in a batch.
    """
    command = [sys.executable, "-m", "proof.fuzz.bombs", str(every)]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return {name: (became, mib) for name, became, mib in json.loads(ended.stdout)}


def broken_promises(ran: dict[str, tuple[str, float]], every: int = 1) -> list[str]:
    """Sentences about the bombs of which something else became, or that needed too much memory."""
    problems = []
    for name, (expected, _) in {**sample(ALONE, every), **sample(IN_A_BATCH, every)}.items():
        became, mib = ran.get(name, ("nothing", 0.0))
        function_mib = STREAM_MIB if name in IN_A_BATCH else DIRECT_MIB
        if became.startswith("0 lines"):
            function_mib = DIRECT_MIB  # of what cannot be read nothing is kept
        if became != expected:
            problems.append(f"{name}: became {became}, expected {expected}")
        most_mib = function_mib - REST_MIB
        if mib > most_mib:
            problems.append(f"{name}: took {mib:.0f} MiB, expected at most {most_mib}")
    return problems


def sample(bombs: Bombs, every: int) -> Bombs:
    """The first of each so many."""
    return dict(list(bombs.items())[::every])


def main(every: int) -> int:
    """Take the first of *every* so many in, one after the other, and print what was measured."""
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # the machine is not to suffer
    measures = []
    for name, (_, make) in sample(ALONE, every).items():
        event: dict[str, Any] = {"awslogs": {"data": base64.b64encode(make()).decode()}}
        forget_peak()
        measures.append((name, taken(event), peak_mib()))
    for name, (_, make) in sample(IN_A_BATCH, every).items():
        text = base64.b64encode(make()).decode()
        records = [
            {"kinesis": {"data": text, "sequenceNumber": f"n-{place}"}} for place in range(COPIES)
        ]
        forget_peak()
        measures.append((name, taken({"Records": records}), peak_mib()))
    sys.stdout.write(json.dumps(measures) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
