"""
Rule: framing. A line of 32 runtimes with 20 models each was longer than the buffers of readers.
"""

from __future__ import annotations

import json

import pytest

from emitter.reports.framing import MAX_REPORT_BYTES
from proof.factories.reports import Reading, inf1_busy, line, trn1_job, trn1_nobody


def pretty(document):
    """The same over many lines."""
    return json.dumps(document, indent=2).encode()


@pytest.mark.parametrize(
    "content",
    [
        line(inf1_busy()) + line(trn1_nobody()),
        pretty(inf1_busy()) + b"\n" + pretty(trn1_nobody()),
        line(inf1_busy())[:-1] + line(trn1_nobody())[:-1],
        pretty(inf1_busy()) + line(trn1_nobody())[:-1],
    ],
    ids=["lines", "pretty-printed", "concatenated", "mixed"],
)
def test_one_json_object_per_line_is_the_norm(content):
    """
    One JSON object per line is the norm; pretty-printed and concatenated objects are accepted too.
    """
    reading = Reading()
    reading.take(content + b"\n")
    assert (2, 0) == (reading.fold.reports_read, reading.framer.malformed)


def test_one_report_can_exceed_440_kb():
    """One report can exceed 440 KB (32 runtimes): it is read in as many pieces as a pipe gives."""
    content = line(trn1_job([50.0] * 32, models=20))
    assert len(content) > 440_000
    reading = Reading()
    for start in range(0, len(content), 65_536):
        reading.take(content[start : start + 65_536])
    assert "b" * 32 == reading.close().core_state


def test_beyond_16_mib_it_resynchronises_and_counts_the_drop():
    """Bound 16 MiB, then resynchronise and count the drop: the reports around it are read."""
    assert 16 << 20 == MAX_REPORT_BYTES
    whole = line(inf1_busy())
    too_long = whole[:-2] + b',"padding":"' + b"x" * MAX_REPORT_BYTES + b'"}\n'
    reading = Reading()
    reading.take(whole + too_long + whole)
    assert (2, 1) == (reading.fold.reports_read, reading.framer.malformed)
