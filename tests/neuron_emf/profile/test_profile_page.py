"""
The page about profiles says what the command says.

What stands between its markers is written by `--update-golden`, and read in review.
"""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from neuron_emf.cli import cli
from neuron_emf.profile import advice
from tests.neuron_emf.profile.profiled import FOLDER, SUBJECT, made, profile_of

BOUNDS = {
    "transpose": f"`TransposePercent` above {advice.TRANSPOSE_PERCENT:g}",
    "spill": f"`SpillReloadPercent` above {advice.SPILL_PERCENT:g}",
    "low_model_flops": f"`MfuPercent` below {100 * advice.MODEL_SHARE:g} % of "
    "`TensorActivePercent`",
    "throttled": f"a core was held back for {advice.THROTTLED_PERCENT:g} % of its active time "
    "or more",
}


def table():
    """Every rule with its bound and its advice."""
    broken = profile_of(made("workers")[1], SUBJECT).advice
    assert list(BOUNDS) == [one.rule for one in broken]
    rows = [f"| `{one.rule}` | {BOUNDS[one.rule]} | {one.advice} |\n" for one in broken]
    return "".join(["| rule | found when | what to do |\n|---|---|---|\n", *rows])


def example():
    """What is said of two profiles."""
    path = str(FOLDER / "workers.json")
    said = CliRunner().invoke(cli, ["profile", path, "--findings"], standalone_mode=False).output
    shown = "\n".join(line.rstrip() for line in said.replace(path, "llama-8b.json").splitlines())
    return f"```\n$ neuron-emf profile llama-8b.json --findings\n{shown}\n```\n"


@pytest.mark.parametrize("name", ["profile-findings", "profile-example"])
def test_the_page_shows_what_the_command_says(repository, marked, name):
    """Every rule of thumb, and what is printed of a profile that breaks all of them."""
    expected = {"profile-findings": table, "profile-example": example}[name]()
    marked(repository / "docs" / "reference" / "profile.md", name, expected)


def test_the_page_counts_the_metrics_and_bytes_that_there_are(repository):
    """17 metrics twice, in a line of about 2.5 KB."""
    page = (repository / "docs" / "reference" / "profile.md").read_text(encoding="utf-8")
    lines = [profile_of(one, SUBJECT).line for one in made("workers")]
    document = json.loads(lines[0])
    (directive,) = document["_aws"]["CloudWatchMetrics"]
    count = len(directive["Metrics"])
    assert f"\n{count} metrics, by model and by core, are {2 * count} for" in page
    assert f"A core more is {count} metrics more." in page
    assert all(2300 <= len(one) <= 2900 for one in lines), [len(one) for one in lines]
    assert f"{2 * count * 0.30 / 730:.3f} USD for each hour" in page
