"""Replay writes the lines for saved reports, always with the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.errors import SettingsError
from neuron_emitter.replay import parse_time_s, replay
from neuron_emitter.settings import ReplaySettings
from neuron_wire import MinuteRecord, parse
from neuron_wire.extraction import violations
from neuron_wire.names import MINUTE_MS
from proof.emitter_process import environment
from tests.neuron_emitter.emitter_command import EMITTER_COMMAND
from tests.neuron_emitter.loop_rig import chunk
from tests.neuron_emitter.loop_rig import records as run_records
from tests.neuron_emitter.neuron_reports import (
    counters,
    executions,
    hardware,
    instance,
    memory,
    report,
    runtime,
    written,
)

REPLAY_START = "2026-01-01T00:00:00Z"


def good(percent=50.0, completed=1):
    """Return a report of one runtime on four cores, period 5 s."""
    return report(
        runtime(counters([percent, 0, 0, 0]), memory({0: 1}), executions(completed, total=None))
    )


def saved(path, *documents):
    """Write reports to a file and return its path."""
    path.write_bytes(b"".join(written(document) + b"\n" for document in documents))
    return path


def replayed(*files, **changes):
    """Return the lines for these files."""
    given = {
        "runtime_lines": "none",
        "cluster": "blue",
        "interval": 5.0,
        "start": REPLAY_START,
        **changes,
    }
    return list(replay(files, ReplaySettings(**given)))


def records(*files, **changes):
    """Return the minute records of these files."""
    return [parse(line) for line in replayed(*files, **changes)]


def test_the_same_input_gives_the_same_bytes_wherever_it_is_run(tmp_path):
    """Folder, file name, time zone, language and hash seed do not change the bytes."""
    first = saved(tmp_path / "reports.jsonl", *[good(index) for index in range(30)])
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "copy.jsonl").write_bytes(first.read_bytes())

    def run(file, folder, **variables):
        arguments = f"replay {file} --interval 5 --start {REPLAY_START} --cluster blue".split()
        return subprocess.run(
            [*EMITTER_COMMAND, *arguments],
            cwd=folder,
            env=environment(tmp_path, **variables),
            capture_output=True,
            check=True,
        ).stdout

    expected = "".join(f"{line}\n" for line in replayed(first, runtime_lines="changes")).encode()
    assert expected == run("reports.jsonl", tmp_path)
    assert expected == run(
        *(other / "copy.jsonl", other),
        TZ="Pacific/Chatham",
        LC_ALL="C",
        LANG="tr_TR.UTF-8",
        PYTHONHASHSEED="7",
        PYTHONUTF8="0",
    )


def test_an_instance_without_a_name_is_named_by_the_input(tmp_path):
    """An instance without a name gets a guess from the input, not from this machine."""
    nameless = saved(tmp_path / "a", report(instance_info=None))
    (record,) = records(nameless)
    assert record.instance_id.startswith("host-")
    assert record.identity_guessed
    assert records(nameless) == [record]
    other = records(saved(tmp_path / "b", report(instance_info=instance(instance_id=""))))
    assert other[0].instance_id != record.instance_id
    (reported,) = records(nameless, instance_id="i-told")
    assert "i-told" == reported.instance_id
    assert reported.identity_guessed is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01T00:00:00Z", 1_767_225_600.0), ("2026-01-01T00:00:00", 1_767_225_600.0),
        ("2026-01-01", 1_767_225_600.0), ("2026-01-01T01:00:00+01:00", 1_767_225_600.0),
        ("2026-01-01T00:00:00.250Z", 1_767_225_600.25), ("1970-01-01T00:00:00Z", 0.0),
    ],
)  # fmt: skip
def test_a_time_without_a_zone_is_utc(text, expected, monkeypatch):
    """A time without a zone is UTC, in any time zone of the machine."""
    monkeypatch.setenv("TZ", "America/New_York")
    assert expected == parse_time_s(text)


def test_a_compressed_file_is_replayed_like_its_content(tmp_path):
    """A gzip file is recognized by its first bytes, and gives the lines of its content."""
    plain = saved(tmp_path / "reports", *[good()] * 13)
    (tmp_path / "saved").write_bytes(gzip.compress(plain.read_bytes()))
    assert replayed(plain) == replayed(tmp_path / "saved")


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:20] + data[22:]])
def test_a_damaged_compressed_file_is_refused(tmp_path, damage):
    """A damaged gzip file is refused, rather than replayed in part."""
    plain = saved(tmp_path / "reports", *[good(percent) for percent in range(40)])
    (tmp_path / "saved.gz").write_bytes(damage(gzip.compress(plain.read_bytes())))
    with pytest.raises(SettingsError, match=r"saved\.gz: its gzip data"):
        replayed(tmp_path / "saved.gz")


def test_a_pipe_cannot_be_replayed(tmp_path):
    """A pipe is refused: replay reads the input twice, because the boot is its hash."""
    os.mkfifo(tmp_path / "pipe")
    keeper = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with pytest.raises(SettingsError, match="regular file"):
            replayed(tmp_path / "pipe")
    finally:
        os.close(keeper)


def test_an_interval_that_leaves_minutes_thin_is_logged(tmp_path, caplog):
    """
    Replay warns if the interval leaves minutes too thin for idle time.

    Reports of 5 s every 15 s cover 20 s of a minute, so no core would be idle.
    """
    file = saved(tmp_path / "a", *[good()] * 24)
    replayed(file)
    replayed(saved(tmp_path / "b", good()), interval=15.0)
    assert not caplog.messages
    replayed(file, interval=15.0)
    (warning,) = caplog.messages
    assert warning.startswith("The reports cover 20 s of a minute, too little for idle time.")


@settings(max_examples=20)
@given(
    documents=st.lists(st.builds(good, st.floats(0, 100)), min_size=1, max_size=20),
    interval=st.sampled_from([5.0, 17.0, 130.0]),
)
def test_the_running_loop_makes_the_minutes_of_replay(documents, interval, tmp_path_factory):
    """The running loop makes replay's minutes, except for the emitter's own members."""
    file = saved(tmp_path_factory.mktemp("replay") / "a", *documents)
    expected = records(file, interval=interval, start="2027-01-15T08:00:00Z")
    times_s = [interval * number for number in range(len(documents))]
    chunks = [(at_s, chunk(document)) for at_s, document in zip(times_s, documents, strict=True)]
    minutes = run_records([*chunks, (times_s[-1], None)], ended=True)
    assert [replace(minute, boot="", health={}) for minute in expected] == [
        replace(minute, boot="", health={}) for minute in minutes
    ]


DOCUMENTS = st.builds(good, st.floats(0, 100), st.integers(0, 1000)) | st.sampled_from(
    [
        report(),
        report(neuron_runtime_data=None),
        report(instance_info=None),
        {"neuron_runtime_data": []},
        report(neuron_hardware_info=hardware(0, 0)),
        report(runtime(counters([1.0], error="broken"))),
        report(runtime(counters([99.0], period=0.01))),
    ]
)


@settings(max_examples=40)
@given(
    documents=st.lists(DOCUMENTS, min_size=1, max_size=25),
    interval=st.floats(0.5, 200),
    start_s=st.integers(0, 4_000_000_000),
    tier=st.sampled_from(["none", "cluster"]),
)
def test_every_line_is_extracted_and_no_report_is_lost(
    documents, interval, start_s, tier, tmp_path_factory
):
    """
    CloudWatch extracts every line, and every report is in one minute.

    Each minute has one line, without a gap, and Seq has no gap.
    """
    file = saved(tmp_path_factory.mktemp("replay") / "a", *documents)
    seconds = start_s % 60
    start = f"2026-01-01T00:{start_s // 60 % 60:02}:{seconds:02}Z"
    lines = replayed(file, interval=interval, start=start, metrics=tier, runtime_lines="all")
    assert [*range(1, len(lines) + 1)] == [json.loads(line)["Seq"] for line in lines]
    minutes = [minute for minute in map(parse, lines) if isinstance(minute, MinuteRecord)]
    assert len(documents) == sum(minute.reports for minute in minutes)
    first = minutes[0].minute_ms
    assert [first + place * MINUTE_MS for place in range(len(minutes))] == [
        minute.minute_ms for minute in minutes
    ]
    assert [False] * (len(minutes) - 1) + [True] == [minute.is_clean_shutdown for minute in minutes]
    for line in lines:
        if "_aws" in line:
            assert [] == violations(line)
