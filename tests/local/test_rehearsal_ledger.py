"""The replayed hour's ledger: lines, ledger, report and digest of the same fleet agree."""

from __future__ import annotations

import pytest

from local.rehearsal.ledger import settle_lines
from neuron_emf.reading.minute_lines import MinuteLines
from neuron_wire.then import Then
from tests.hour import END_S


@pytest.fixture
def past(hour):
    """The rehearsal's hour, settled."""
    return settle_lines(hour.lines, END_S // 60)


def test_it_is_what_settle_puts(past, hour):
    """The same bytes as settle's own run over its table."""
    assert hour.ledger == past.objects


def test_lines_ledger_report_and_digest_say_the_same(past):
    """To the last digit, and the digest names who costs most."""
    assert 1 == len(set(past.idle_usd().values()))
    assert [] == past.problems()
    assert (
        "The replayed hour has 29.85 USD of idle cores by the ledger, the lines, the report and "
        "the digest, to the last digit."
    ) == past.sentence()
    _, text = past.digest()
    assert "Idle cores cost 29.85 USD, of which at most 18.09 USD avoidable: 46.0 core" in text
    assert "16.48 USD  slurm:4711 ml-user, cluster research, team ml: 24.5 core hours" in text
    assert "167 hours of 168 without a summary" in text


@pytest.mark.parametrize(
    ("place", "name", "planted"),
    [
        (Then, "fold_summary", lambda *_: None),
        (Then, "fold_row", lambda *_: None),
        (MinuteLines, "fold_lines", lambda *_: []),
    ],
)
def test_a_planted_fault_is_said(past, monkeypatch, place, name, planted):
    """With each amount."""
    monkeypatch.setattr(place, name, planted)
    (problem,) = past.problems()
    assert "the ledger 29.85" in problem
