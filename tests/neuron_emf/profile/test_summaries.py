"""What a profiler writes, in its three shapes, is read; what is something else is refused."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.errors import SettingsError, SourceError
from neuron_emf.profile import summaries
from neuron_emf.profile.summaries import summaries_in
from tests.neuron_emf.profile.profiled import FOLDER, made

SUMMARY = {"mfu_estimated_percent": 0.5, "nc_idx": 1}


def written(folder, content):
    """A file with *content*: bytes, or a document."""
    path = folder / "summary.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (SUMMARY, [("", SUMMARY)]),
        ({"a": SUMMARY, "b": {"nc_idx": 2}}, [("a", SUMMARY), ("b", {"nc_idx": 2})]),
        ({"summary": [SUMMARY], "instruction": [{"nc_idx": 1}]}, [("", SUMMARY)]),
        ([SUMMARY, {"nc_idx": 2}], [("", SUMMARY), ("", {"nc_idx": 2})]),
        (
            {"a": SUMMARY, "version": 3, "other": {"x": 1}, "nested": {"nc_idx": {}}},
            [("a", SUMMARY)],
        ),
    ],
    ids=["alone", "by profile", "with instructions", "a list", "with others"],
)
def test_every_shape_is_read(tmp_path, document, expected):
    """What in it is no summary is left alone."""
    found = summaries_in(written(tmp_path, document))
    assert expected == [(one.name, one.values) for one in found]


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5), st.just(SUMMARY), min_size=1, max_size=5
    ).filter(lambda one: "summary" not in one)
)
def test_each_profile_is_a_summary(tmp_path_factory, named):
    """As many as there are, in their order, whatever they are called."""
    found = summaries_in(written(tmp_path_factory.mktemp("shape"), named))
    assert list(named) == [one.name for one in found]


def test_what_old_profilers_wrote_for_no_number_is_absent():
    """NaN and Infinity are no JSON, and no numbers."""
    (found,) = made("old")
    assert found.values["mfu_estimated_percent"] is None
    assert found.values["hbm_write_bytes"] is None
    assert found.values["hbm_read_bytes"] == 6582249472


def test_a_byte_order_mark_does_no_harm(tmp_path):
    """As some editors leave one."""
    content = b"\xef\xbb\xbf" + json.dumps(SUMMARY).encode()
    assert [SUMMARY] == [one.values for one in summaries_in(written(tmp_path, content))]


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"hello", b'{"mfu_estimated_percent": 0.5', b"\xff\xfe{", b"[" * 100_000),
        *({}, [], 3, {"summary": []}, {"summary": "none"}),
        *({"instruction": [{"opcode": "x"}]}, {"a": {"b": {"nc_idx": 1}}}),
    ],
    ids=lambda one: str(one)[:20],
)
def test_what_holds_no_summary_is_refused_with_what_to_do(tmp_path, content):
    """In one sentence, without the content."""
    path = written(tmp_path, content)
    with pytest.raises(SourceError) as caught:
        summaries_in(path)
    said = str(caught.value)
    assert said.startswith(f"{path} is not ")
    assert "--output-format summary-json" in said
    assert "hello" not in said


def test_a_missing_file_is_wrong_use(tmp_path):
    """The name is said."""
    with pytest.raises(SettingsError, match=r"Cannot read .*none\.json"):
        summaries_in(tmp_path / "none.json")


def test_standard_input_is_read_too(monkeypatch):
    """And a closed one is said."""
    content = io.TextIOWrapper(io.BytesIO((FOLDER / "workers.json").read_bytes()))
    monkeypatch.setattr(sys, "stdin", content)
    assert ["standard input"] * 2 == [one.file for one in summaries_in(Path("-"))]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="closed"):
        summaries_in(Path("-"))


def test_of_a_large_file_only_the_summary_is_kept(tmp_path, monkeypatch):
    """The instructions beside it, which may be 100 MB and more, become no objects."""
    instructions = [{"opcode": f"op{number}"} for number in range(1000)]
    path = written(tmp_path, {"instruction": instructions, "summary": [SUMMARY], "dma": []})
    small = summaries_in(path)
    monkeypatch.setattr(summaries, "LARGE_BYTES", 100)
    monkeypatch.setattr(summaries.json, "loads", lambda *_, **__: pytest.fail("it was all read"))
    assert [one.values for one in small] == [one.values for one in summaries_in(path)]
    with pytest.raises(SourceError, match="is not JSON"):
        summaries_in(written(tmp_path, b"[" * 101))


def test_what_is_read_is_bounded(tmp_path, monkeypatch):
    """In bytes, and in summaries."""
    path = written(tmp_path, {str(number): SUMMARY for number in range(4)})
    monkeypatch.setattr(summaries, "MAX_SUMMARIES", 3)
    with pytest.raises(SourceError, match="4 summaries, the maximum is 3"):
        summaries_in(path)
    monkeypatch.setattr(summaries, "MAX_FILE_BYTES", path.stat().st_size - 1)
    with pytest.raises(SourceError, match="has more"):
        summaries_in(path)
