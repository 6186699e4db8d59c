"""Lines to a file that is rotated: nothing lost, nothing twice, and what stands in the way said."""

from __future__ import annotations

import errno
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.delivery import rotating_file
from emitter.delivery.batches import MAX_BATCH_BYTES
from emitter.delivery.destination import Delivered, Refused, Retry
from emitter.delivery.rotating_file import RotatingFile, file_of
from emitter.errors import SettingsError
from emitter.spool.records import SpooledRecord

NOW_MS = 1_795_000_000_000


def batch_of(*lines):
    """Records that say *lines*."""
    return [
        SpooledRecord(i, "019aa3c5d2f04f1e2d3c", i, NOW_MS, line) for i, line in enumerate(lines, 1)
    ]


def contents(path):
    """The text of the file and of its older ones, by number; 0 is the newest."""
    found = {0: path.read_text()} if path.exists() else {}
    for older in path.parent.glob(f"{path.name}.*"):
        found[int(older.name.rpartition(".")[2])] = older.read_text()
    return found


@pytest.fixture
def path(tmp_path):
    """Where the file will be."""
    return tmp_path / "neuron.log"


@pytest.fixture
def open_file(path):
    """Open the destination under test."""
    opened = []

    def make(max_bytes=20, keep=2, at=path):
        opened.append(RotatingFile(at, max_bytes=max_bytes, keep=keep))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=3)),
    st.integers(1, 30),
)
def test_the_files_read_together_are_all_that_was_sent(tmp_path_factory, batches, max_bytes):
    """From the oldest to the newest, with enough of them kept: each line once, in order."""
    path = tmp_path_factory.mktemp("rotating") / "file"
    destination = RotatingFile(path, max_bytes=max_bytes, keep=len(batches))
    for batch in batches:
        assert Delivered() == destination.send(batch_of(*batch))
    destination.close()
    found = contents(path)
    lines = "".join(found[number] for number in sorted(found, reverse=True)).splitlines()
    assert [line for batch in batches for line in batch] == lines
    for text in found.values():
        assert len(text) <= max_bytes or text.rstrip("\n") in map("\n".join, batches)


@pytest.mark.parametrize(
    ("second", "expected"),
    [("x" * 9, {0: "123456789\nxxxxxxxxx\n"}), ("x" * 10, {0: "xxxxxxxxxx\n", 1: "123456789\n"})],
)
def test_a_file_at_exactly_its_size_is_not_rotated(open_file, path, second, expected):
    """The size is inclusive: one byte more begins a new file."""
    destination = open_file(max_bytes=20)
    destination.send(batch_of("123456789"))
    destination.send(batch_of(second))
    assert expected == contents(path)


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        (0, {0: "e\n"}),
        (1, {0: "e\n", 1: "d\n"}),
        (3, {0: "e\n", 1: "d\n", 2: "c\n", 3: "b\n"}),
        (9, {0: "e\n", 1: "d\n", 2: "c\n", 3: "b\n", 4: "a\n"}),
    ],
)
def test_as_many_older_files_are_kept_as_asked_for(open_file, path, keep, expected):
    """The highest number is the oldest; the one beyond is removed."""
    destination = open_file(max_bytes=2, keep=keep)
    for line in "abcde":
        destination.send(batch_of(line))
    assert expected == contents(path)


def test_a_batch_is_never_split_over_two_files(open_file, path):
    """One write: a reader that follows the file sees all of it or nothing."""
    destination = open_file(max_bytes=6)
    destination.send(batch_of("a", "b"))
    destination.send(batch_of("c", "d"))
    assert {0: "c\nd\n", 1: "a\nb\n"} == contents(path)


def test_a_batch_is_no_larger_than_a_file(open_file):
    """And no larger than one call to CloudWatch Logs would be."""
    assert 20 == open_file(max_bytes=20).limits.max_bytes
    assert MAX_BATCH_BYTES == open_file(max_bytes=64 << 20).limits.max_bytes
    assert 1 == open_file().limits.event_overhead_bytes


def test_a_rotation_that_a_crash_broke_off_is_no_loss(open_file, path):
    """A number that is free is filled by the next rotation."""
    destination = open_file(max_bytes=2, keep=3)
    for line in "abc":
        destination.send(batch_of(line))
    path.with_name("neuron.log.1").rename(path.with_name("neuron.log.4"))  # as if between two
    path.with_name("neuron.log.2").rename(path.with_name("neuron.log.3"))
    path.with_name("neuron.log.4").rename(path.with_name("neuron.log.2"))
    destination.send(batch_of("d"))
    assert {0: "d\n", 1: "c\n", 3: "b\n"} == contents(path)


def test_a_file_that_was_removed_is_made_again(open_file, path):
    """With its folder, if that comes back too."""
    destination = open_file()
    destination.send(batch_of("a"))
    path.unlink()
    destination.send(batch_of("b"))
    assert "b\n" == path.read_text()
    path.unlink()
    path.parent.rmdir()
    outcome = destination.send(batch_of("c"))
    assert "no_folder" == outcome.reason
    assert str(path.parent) in outcome.sentence
    path.parent.mkdir()
    assert Delivered() == destination.send(batch_of("c"))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, (Retry, "disk_full")), (errno.EDQUOT, (Retry, "disk_full")),
        (errno.EFBIG, (Retry, "disk_full")), (errno.EIO, (Retry, "file_failed")),
        (errno.EMFILE, (Retry, "file_failed")), (errno.EACCES, (Refused, "not_writable")),
        (errno.EROFS, (Refused, "not_writable")), (errno.EPERM, (Refused, "not_writable")),
        (errno.EISDIR, (Refused, "not_writable")), (errno.ENOENT, (Refused, "no_folder")),
    ],
)  # fmt: skip
def test_what_passes_is_a_retry_and_what_somebody_must_change_a_refusal(
    open_file, path, monkeypatch, number, expected
):
    """With the path and the system's words; afterwards it goes on."""
    destination = open_file()
    original = rotating_file.WholeLines

    def fail(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(rotating_file, "WholeLines", fail)
    outcome = destination.send(batch_of("a"))
    assert expected == (type(outcome), outcome.reason)
    assert str(path.parent) in outcome.sentence
    monkeypatch.setattr(rotating_file, "WholeLines", original)
    assert Delivered() == destination.send(batch_of("a"))
    assert "a\n" == path.read_text()


def test_a_folder_and_a_pipe_are_refused(open_file, tmp_path):
    """Each with a sentence, and no thread that waits for a reader."""
    os.mkfifo(tmp_path / "pipe")
    assert "not_writable" == open_file(at=tmp_path).send(batch_of("a")).reason
    assert "not_a_file" == open_file(at=tmp_path / "pipe").send(batch_of("a")).reason


@pytest.mark.parametrize("path", ["", ".", "/", "a\0b"])
def test_a_path_that_cannot_be_is_wrong_use(path):
    """Found before the first record."""
    with pytest.raises(SettingsError, match="--output file:PATH"):
        RotatingFile(file_of(f"file:{path}", "file:"), max_bytes=1, keep=0)


def test_a_path_may_be_in_the_home_folder(monkeypatch):
    """A shell does not fill in a tilde behind the colon."""
    monkeypatch.setenv("HOME", "/home/someone")
    assert "/home/someone/lines" == str(file_of("file:~/lines", "file:"))
