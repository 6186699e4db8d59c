"""
docs/how-to/large-fleets.md has the figures that were measured, and a file that the emitter reads.
"""

from __future__ import annotations

import re
from statistics import mean

import pytest

from emitter.replay import replay
from emitter.settings import ReplaySettings, RunSettings
from tests.docs.shown_blocks import DOCS, blocks_of, files_of, tomllib

PAGE = DOCS / "how-to" / "large-fleets.md"
START = "2026-11-20T08:00:00Z"
SCALE = DOCS / "explanation" / "scale.md"


@pytest.fixture(scope="module")
def text():
    """The page as it is written."""
    return PAGE.read_text("utf-8")


@pytest.mark.parametrize(
    ("figure", "of_scale"),
    [
        ("| 310 instances | `Mode=kinesis`", "From about 310 instances on `Mode=kinesis`"),
        ("| 8,600 instances in `Mode=direct`", "passes the first at 8,600 instances"),
        ("| 150,000 instances |", "are 150,000 instances with the default spread"),
        ("need 33 minutes with a stream each", "100,000 instances that start at once take 33"),
        ("1 for each 20,000 instances", "as the fleet grows, 5 for 100,000 instances"),
        ("takes 4,000 write units a second", "it takes 4,000 write units a second"),
        ("'{cluster}-{shard:256}'", "`--log-stream '{cluster}-{shard:256}'`"),
    ],
)
def test_a_figure_is_the_one_of_the_page_on_scale(text, figure, of_scale):
    """That page is written by a program; when it changes, so must this one."""
    assert figure in text
    assert of_scale in SCALE.read_text("utf-8")


def test_the_file_has_settings_of_the_emitter():
    """By their names, and those that are called a default are the default."""
    document = files_of(PAGE)["config.toml"]
    given = tomllib.loads(document)
    defaults = {name: getattr(RunSettings(), name.replace("-", "_")) for name in given}
    for line in document.splitlines():
        name = line.partition(" ")[0]
        assert ("the default;" in line) == (defaults[name] == given[name]), name


def test_lines_without_metrics_are_shorter(hour):
    """By about 400 bytes: minute lines of the rehearsal's hour, written with and without."""
    reports = sorted(hour.folder.glob("*.reports"))
    size = {
        metrics: mean(
            len(line)
            for file in reports
            for line in replay(
                [file], ReplaySettings(cluster="c", interval=15.0, start=START, metrics=metrics)
            )
            if '"Kind":"minute"' in line
        )
        for metrics in ("none", "cluster")
    }
    assert 350 < size["cluster"] - size["none"] < 450


def test_parameters_and_their_defaults_exist(text, template):
    """What the table changes is a parameter; what it calls defaults are those."""
    rows = re.findall(r"^\| ((?:`[A-Z]\w+`(?:, )?)+) \| ([^|]+) \|", text, re.MULTILINE)
    parameters = template["Parameters"]
    table = {names: value for names, value in rows if re.findall(r"\w+", names)[0] in parameters}
    assert 5 == len(table)
    for names in table:
        assert set(re.findall(r"\w+", names)) <= set(parameters)
    defaults = [parameters[name]["Default"] for name in ("StreamBatchSize", "StreamWindowSeconds")]
    assert table["`StreamBatchSize`, `StreamWindowSeconds`"] == ", ".join(map(str, defaults))
    assert blocks_of(PAGE)
