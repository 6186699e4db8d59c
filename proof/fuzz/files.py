"""
What an earlier run, another version or the machine left: the spool, its state, files under /etc.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.fold import Fold, FoldSettings, Stamp
from emitter.fold.state import FoldState, read_state
from emitter.instance.cluster_source import FoundCluster, Surroundings
from emitter.instance.instance_tags import InstanceTags
from emitter.instance.machine import board_instance_id, guessed_instance_id
from emitter.instance.metadata_service import MetadataService
from emitter.instance.slurm import slurm
from emitter.lines import Lines, LineSettings
from emitter.reports.last_words import MAX_CHARS, LastWords
from emitter.spool import NewRecord, Spool
from emitter.spool.disk import SpoolUnusableError
from neuron_wire import MinuteRecord, parse
from proof.factories.reports import START_S
from proof.fuzz import broken_json
from proof.fuzz.target import Target, require_sentence, reworded, spoiled

if TYPE_CHECKING:
    import random

NOW_S: Final = START_S
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
_TABLES: Final = ("boots", "drops", "records", "fold")
_CELLS: Final = (
    "", "x", b"", b"\x00blob", -1, 0, 5, (1 << 63) - 1, -(1 << 63), 0.5, 1e300, "9" * 400,
)  # fmt: skip
ROOT: Final = Path(_FOLDER.name) / "root"
SPOOL: Final = Path(_FOLDER.name) / "spool"
FILES: Final = (
    "etc/machine-id", "proc/self/mountinfo", "proc/sys/kernel/random/boot_id",
    "etc/parallelcluster/cfnconfig", "etc/slurm/slurm.conf", "etc/ecs/ecs.config",
    "sys/devices/virtual/dmi/id/board_asset_tag",
)  # fmt: skip


def reads_machine_files(content: bytes) -> None:
    """
    The same bytes in every file of the machine: names out of them are texts, ids have their form.
    """
    for name in FILES:
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    found = guessed_instance_id(ROOT, environ={"container": "docker"})
    assert re.fullmatch(r"host-[0-9a-f]{16}", found)
    assert found == guessed_instance_id(ROOT, environ={"container": "docker"})
    board = board_instance_id(ROOT)
    assert board is None or re.fullmatch(r"i-[0-9a-f]{8,17}", board)
    service = MetadataService(disabled=True)
    around = Surroundings({}, ROOT, "http://127.0.0.1:1", service, InstanceTags(service, ()))
    cluster = slurm(around)
    if isinstance(cluster, FoundCluster):
        assert cluster.name
        assert isinstance(cluster.name, str)


def reads_a_state(content: bytes) -> None:
    """What cannot be read begins again: the next minute closes, and the stack reads its line."""
    state = read_state(content)
    assert isinstance(state, FoldState)
    fold = Fold(FoldSettings(period_s=5.0), content)
    fold.open(START_S)
    stamp = Stamp(cluster="blue", boot="b", seq=1, instance_id="host-guess")
    line, *_ = Lines(LineSettings()).minute(fold.close(stamp))
    assert isinstance(parse(line), MinuteRecord)
    assert isinstance(read_state(fold.state()), FoldState)


def opens_a_spool(content: bytes) -> None:
    """
    Whatever the file holds, it is of a newer version, or a spool that takes records and gives them.
    """
    shutil.rmtree(SPOOL, ignore_errors=True)
    SPOOL.mkdir()
    (SPOOL / "spool.sqlite").write_bytes(content)
    logging.disable(logging.CRITICAL)
    try:
        _uses_the_spool()
    except SpoolUnusableError as error:
        require_sentence(error, 500)
    finally:
        logging.disable(logging.NOTSET)


def _uses_the_spool() -> None:
    with Spool.open(SPOOL, clock=lambda: NOW_S, monotonic=lambda: 0.0) as spool:
        for line in ("a line", "new line"):
            spool.append([NewRecord(int(NOW_S * 1000), line)], b"{}")
            waiting = spool.oldest(1000, 1 << 20)
            if line in [one.line for one in waiting]:
                break
            # A line that is no text shows when it is read; the file is replaced, once.
            assert {"damaged": 1} == spool.health().dropped
        assert line in [one.line for one in waiting]
        spool.settle(dropped={"invalid": [waiting[0].id]})
        spool.settle([one.id for one in waiting[1:]])
        for counters in spool._queue.counters.values():
            gone = counters.delivered + sum(counters.dropped.values())
            assert counters.produced == gone + counters.records
    with Spool.open(SPOOL, clock=lambda: NOW_S, monotonic=lambda: 0.0) as spool:
        assert [] == spool.oldest(1000, 1 << 20)


def hears_last_words(content: bytes) -> None:
    """What a monitor wrote before it died is printable, on one line and short."""
    words = LastWords()
    for start in range(0, len(content), 1000):
        words.hear(content[start : start + 1000])
    for text, most in ((words.text(), MAX_CHARS), (words.last_line(), 200)):
        assert len(text) <= most
        assert text.isprintable()


def _spools() -> list[bytes]:
    shutil.rmtree(SPOOL, ignore_errors=True)
    contents = []
    for records in (0, 3, 40):
        with Spool.open(SPOOL, clock=lambda: NOW_S) as spool:
            spool.append([NewRecord(int(NOW_S * 1000), "x" * 700)] * records, b'{"cores":2}')
            spool.settle(dropped={"too_old": [one.id for one in spool.oldest(1, 1 << 20)]})
        contents.append((SPOOL / "spool.sqlite").read_bytes())
    return contents


def _page_changed(content: bytes, chance: random.Random) -> bytes:
    """A spool's file with bytes of one page changed in place, cut, or a page put over another."""
    way = chance.randrange(6)
    if way > 3:
        return _cell_changed(content, chance)
    page = 1024
    pages = max(1, len(content) // page)
    if way == 0:
        return content[: chance.randrange(len(content))]
    if way == 1:
        start, source = (page * chance.randrange(pages) for _ in range(2))
        return content[:start] + content[source : source + page] + content[start + page :]
    changed = bytearray(content)
    start = page * chance.randrange(pages)
    for _ in range(chance.choice([1, 2, 8])):
        place = start + chance.choice([chance.randrange(page), chance.randrange(16), page - 9])
        if place < len(changed):
            changed[place] = chance.choice([0, 1, 2, 5, 6, 7, 8, 13, 127, 128, 255])
    return bytes(changed)


def _cell_changed(content: bytes, chance: random.Random) -> bytes:
    """A spool's file with something of another type in one column: SQLite takes it."""
    path = Path(_FOLDER.name) / "changed"
    path.write_bytes(content)
    database = sqlite3.connect(path)
    try:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
        table = chance.choice([name for name in tables if name in _TABLES])
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        with database:
            database.execute(
                f"UPDATE OR IGNORE {table} SET {chance.choice(columns)} = ?",
                (chance.choice(_CELLS),),
            )
    except sqlite3.Error as error:
        raise ValueError from error
    finally:
        database.close()
    return path.read_bytes()


def _states() -> list[bytes]:
    whole = FoldState(
        instance_id="i-0123456789abcdef0",
        instance_type="trn1.2xlarge",
        cores=2,
        cores_per_device=2,
        device_memory_bytes=32 << 30,
        idle_label=29_833_333,
        idle_minutes=[0, 20],
        idle_watched=2,
        ecc={"0 mem_ecc_corrected": 5},
    )
    return [whole.encoded(), json.dumps({"later": [1], "cores": 2}).encode()]


_MACHINE: Final = [
    b"ClusterName=training\nSlurmctldHost=head # a comment\n",
    b"export stack_name='blue'\nECS_CLUSTER=blue\n",
    b"36 35 98:0 / / rw,noatime shared:1 - overlay overlay rw\n",
    b"0123456789abcdef0123456789abcdef\n",
    b"i-0123456789abcdef0\n",
]
_WORDS: Final = [
    b"\x1b[31mfatal\x1b[0m: no driver\r\n\x1b]0;title\x07panic\n",
    "é \u202e\n".encode(),
]

MACHINE: Final = Target("machine files", reads_machine_files, lambda: _MACHINE, reworded)
STATE: Final = Target("kept state", reads_a_state, _states, broken_json.broken)
SPOOLS: Final = Target("spool files", opens_a_spool, _spools, _page_changed)
LAST_WORDS: Final = Target("monitor's stderr", hears_last_words, lambda: _WORDS, spoiled)
