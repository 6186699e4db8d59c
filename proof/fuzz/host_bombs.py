"""
Inputs made to cost a reader on the host much: long, deep, or with more digits than a number has.
"""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING, Final

from emitter.owners.process import MAX_ENVIRON_BYTES
from proof.fuzz.answers import answered
from proof.fuzz.owners import CONTAINER, POD
from proof.fuzz.targets import target

if TYPE_CHECKING:
    from collections.abc import Callable

MIB: Final = 1 << 20
MOST_MIB: Final = 48
"""
What a reader, the input and its copies in the check may take together: an environment is read up
to 4 MiB and cut into its entries.
"""

_DEPTH: Final = 200_000
_DEEP_LISTS: Final = b"[" * _DEPTH
_DEEP_OBJECTS: Final = b'{"":' * _DEPTH
_DIGITS: Final = b"9" * MIB


def _groups(unit: bytes) -> Callable[[], bytes]:
    return lambda: b"0::/" + unit * (MIB // len(unit)) + b"\n0::/x.service\n"


def _files(place: int, content: bytes) -> bytes:
    parts = [b"", b"", b"", b""]
    parts[place] = content
    return b"\n--\n".join(parts)


def _inside(name: bytes, content: bytes) -> bytes:
    return b'{"%b":%b' % (name, content)


BOMBS: Final[dict[str, tuple[str, Callable[[], bytes]]]] = {
    "one long part": ("control groups", _groups(b"a")),
    "many parts": ("control groups", _groups(b"a/")),
    "many parents": ("control groups", _groups(b"../")),
    "many jobs": ("control groups", _groups(b"job_1/uid_2/")),
    "many containers": ("control groups", _groups(b"%b/" % CONTAINER.encode())),
    "many pods": ("control groups", _groups(b"pod%b/" % POD.encode())),
    "almost containers": ("control groups", _groups(b"x:cri-containerd:/")),
    "many hierarchies": ("control groups", lambda: b"0::/a.service\n" * (MIB // 14)),
    "brackets in stat": ("processes", lambda: _files(0, b"42 (" + b")" * MIB)),
    "digits in stat": ("processes", lambda: _files(0, b"42 (x) S " + b"0 " * 18 + _DIGITS)),
    "digits of a user": ("processes", lambda: _files(1, b"Uid:\t" + _DIGITS)),
    "no end of Uid": ("processes", lambda: _files(1, b"Uid:\n" * (MIB // 5))),
    "a long variable": ("processes", lambda: _files(2, b"SLURM_JOB_ID=" + b"1" * 2 * MIB)),
    "many variables": ("processes", lambda: _files(2, b"SLURM_JOB_ID=1\0" * (2 * MIB // 15))),
    "nothing but ends": ("processes", lambda: _files(2, b"\0" * (MAX_ENVIRON_BYTES // 8))),
    "a long user": ("processes", lambda: _files(3, b"a" * MIB + b":x:1000:")),
    "many users": ("processes", lambda: _files(3, b"a:x:1000:\n" * (2 * MIB // 10))),
    "colons in passwd": ("processes", lambda: _files(3, b":" * 2 * MIB)),
    "lists in lists": ("container files", lambda: _DEEP_LISTS),
    "objects in labels": (
        "container files",
        lambda: _inside(b"Config", _inside(b"Labels", _DEEP_OBJECTS)),
    ),
    "objects in annotations": ("container files", lambda: _inside(b"annotations", _DEEP_OBJECTS)),
    "objects nobody reads": ("container files", lambda: _inside(b"other", _DEEP_OBJECTS)),
    "digits for a name": ("container files", lambda: _inside(b"Name", _DIGITS)),
    "a long name": ("container files", lambda: b'{"Name":"%b"}' % (b"a" * (MIB - 20))),
    "many labels": (
        "container files",
        lambda: b'{"annotations":{%b"a":"b"}}' % b"".join(b'"%d":"",' % at for at in range(80_000)),
    ),
    "a file beyond its bound": ("container files", lambda: b'{"Name":"a"}' + b" " * 4 * MIB + b"x"),
    "many names": ("log folders", lambda: b"a\n" * (MIB // 2)),
    "long names": ("log folders", lambda: b"\n".join([b"a" * 255] * 200)),
    "lists in an answer": ("services that name owners", lambda: answered(_DEEP_LISTS)),
    "objects in pods": (
        "services that name owners",
        lambda: answered(b'{"items":[{"metadata":{"annotations":' + _DEEP_OBJECTS),
    ),
    "objects in a task": (
        "services that name owners",
        lambda: answered(_inside(b"Containers", _DEEP_OBJECTS)),
    ),
    "many containers in a pod": (
        "services that name owners",
        lambda: answered(b'{"items":[%b{}]}' % (b"{}," * 60_000)),
    ),
    "a length beyond all": (
        "services that name owners",
        lambda: b"HTTP/1.1 200 OK\r\nContent-Length: %b\r\n\r\n{" % (b"9" * 4000),
    ),
    "no end of a record": ("kernel records", lambda: b"4,1,1,-;NEURON_HW_ERR=" + b"x" * MIB),
    "a long record": ("kernel records", lambda: b"4,1,1,-;NEURON_HW_ERR=" + b"x" * MIB + b"\n"),
    "escapes": ("kernel records", lambda: b"4,1,1,-;NEURON_HW_ERR=" + b"\\x00" * (MIB // 4)),
    "digits of a number": ("kernel records", lambda: b"4,%b,1,-;x\n" % _DIGITS),
    "flags without end": ("kernel records", lambda: b"4,1,1" + b",a" * (MIB // 2)),
    "empty records": ("kernel records", lambda: b"\n" * MIB),
    "a long code": ("hardware faults", lambda: b"NEURON_HW_ERR=" + b"X" * MIB),
    "many marks": ("hardware faults", lambda: b"NEURON_HW_ERR=" * (MIB // 14)),
    "many members": ("hardware faults", lambda: b"NEURON_HW_ERR=X" + b" nd-id=1" * (MIB // 8)),
    "objects in a position": ("kernel log positions", lambda: _inside(b"kernel", _DEEP_OBJECTS)),
    "objects beside a position": ("kernel log positions", lambda: _inside(b"x", _DEEP_OBJECTS)),
    "digits of a position": (
        "kernel log positions",
        lambda: b'{"kernel":{"counted":{"boot_id":"a","seq":%b}}}' % _DIGITS,
    ),
    "lists for a pulse": ("pulse file", lambda: _DEEP_LISTS),
    "digits for a pulse": ("pulse file", lambda: _DIGITS),
    "objects for a system": ("system groups", lambda: b"[" + _DEEP_OBJECTS),
    "digits for a period": ("system groups", lambda: b'[{"memory_info":{"period":%b}}]' % _DIGITS),
    "many systems": ("system groups", lambda: b"[%b{}]" % (b'{"vcpu_usage":{}},' * 20_000)),
}
"""The target that reads each."""


def peak_mib(name: str) -> float:
    """The most memory that the reader of a bomb takes; raises when it breaks its promise."""
    reader, make = BOMBS[name]
    subject, content = target(reader), make()
    for seed in subject.seeds()[:1]:
        subject.once(seed)  # what is made once is no part of it
    gc.collect()
    tracemalloc.start()
    try:
        subject.once(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak / MIB
