"""
Names that pages tell a reader to type or to look for exist: outputs, parameters, metrics, queries.

A name in backticks that is written LikeThis is one of the template, of the catalogue or of AWS;
those of AWS are listed here, so that a typo in one of ours cannot pass for one of theirs.
"""

from __future__ import annotations

import re

import pytest

from local.alarms.template import load
from neuron_emf.cli import cli
from neuron_wire.catalogue import EVENT_NAMES, MEMBERS, ROLLUP
from tests.docs.shown_blocks import DOCS, ROOT

PAGES = [
    ROOT / "README.md",
    DOCS / "tutorial.md",
    DOCS / "operations.md",
    *sorted((DOCS / "how-to").glob("*.md")),
]
OURS = [
    DOCS / "tutorial.md",
    DOCS / "operations.md",
    *(
        DOCS / "how-to" / f"{name}.md"
        for name in ("cross-account", "large-fleets", "low-utilization", "quiet-hours", "scaling")
    ),
]
OF_AWS = {
    "AlarmName",
    "BatchItemFailures",
    "ConcurrentExecutions",
    "DeliveryErrors",
    "DeliveryThrottling",
    "DisableScaleIn",
    "Duration",
    "Errors",
    "IncomingBytes",
    "IncomingRecords",
    "IteratorAge",
    "PutLogEvents",
    "RetainExceptOnCreate",
    "ScaleInCooldown",
    "ScaleOutCooldown",
    "Throttles",
    "WriteProvisionedThroughputExceeded",
}
NAME = re.compile(r"`((?:[A-Z][a-z0-9]+){2,}[A-Z]?[A-Za-z0-9]*)`")
OUTPUT = re.compile(r"OutputKey=='(\w+)'")
OVERRIDES = re.compile(r"sam deploy[^\n`]*--parameter-overrides((?: \w+=[\w'\"-]*)+)")
QUERY = re.compile(r"[Ss]aved quer(?:y|ies) ((?:`[a-z-]+`(?:, | and )?)+)")
OPTION = re.compile(r"`(--[a-z][a-z-]+)[ `]")


@pytest.fixture(scope="module")
def outputs(template):
    """Of every template that a reader may deploy."""
    found = set(template["Outputs"])
    for file in sorted((ROOT / "deploy").rglob("*.yaml")):
        text = file.read_text("utf-8")
        if "\nOutputs:" in text:
            found |= set(load(text)["Outputs"])
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_output_that_a_command_asks_for_exists(page, outputs):
    """A name that no stack has gives an empty answer, and the next command a puzzle."""
    asked = OUTPUT.findall(page.read_text("utf-8"))
    assert [] == [name for name in asked if name not in outputs]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_parameter_that_a_command_sets_exists(page, template):
    """With a value that it may have, where there is a list of them."""
    for given in OVERRIDES.findall(page.read_text("utf-8")):
        for name, value in re.findall(r"(\w+)=([\w'\"-]*)", given):
            assert name in template["Parameters"], name
            allowed = template["Parameters"][name].get("AllowedValues", [value])
            assert value in allowed, f"{name}={value}"


@pytest.mark.parametrize("page", OURS, ids=lambda page: page.stem)
def test_every_name_in_backticks_is_known(page, template):
    """A member, an event, a parameter, an output, a resource, or one of AWS's."""
    known = {
        *OF_AWS,
        *EVENT_NAMES,
        *(member.name for member in MEMBERS),
        *template["Parameters"],
        *template["Outputs"],
        *template["Resources"],
    }
    named = NAME.findall(page.read_text("utf-8"))
    assert [] == sorted({name for name in named if name not in known})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_saved_query_that_a_page_names_is_deployed(page, template):
    """By the last part of its name."""
    deployed = {
        resource["Properties"]["Name"]["Fn::Sub"].rpartition("/")[2]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Logs::QueryDefinition"
    }
    for names in QUERY.findall(page.read_text("utf-8")):
        assert set(re.findall(r"[a-z-]+", names)) - {"and"} <= deployed, names


@pytest.mark.parametrize("page", OURS, ids=lambda page: page.stem)
def test_every_option_in_backticks_is_one_of_a_command(page):
    """Of `run` or of an operator's command."""
    options = {
        option
        for name in cli.list_commands(None)
        for parameter in cli.get_command(None, name).params
        for option in parameter.opts
    }
    named = OPTION.findall(page.read_text("utf-8"))
    assert [] == sorted({name for name in named if name not in options})


def test_every_output_that_a_setting_names_exists(template):
    """In the help of an option, which the pages of reference repeat."""
    helps = [
        parameter.help or ""
        for name in cli.list_commands(None)
        for parameter in cli.get_command(None, name).params
        if hasattr(parameter, "help")
    ]
    named = {name for one in helps for name in re.findall(r"stack's output (\w+)", one)}
    assert named
    assert named <= set(template["Outputs"])


def test_the_template_says_how_many_metrics_a_cluster_is(template):
    """Whoever sets MaxClusters reckons with it."""
    text = template["Parameters"]["MaxClusters"]["Description"]
    assert f"at least {len(ROLLUP)} metrics" in text


def test_a_typo_is_found():
    """The patterns above see what they are for."""
    text = (
        "`IdleCoress` and `--metrix none`; the saved query `no-such`;"
        " `sam deploy --parameter-overrides Mood=kinesis A=1`; OutputKey=='LogGroup'"
    )
    assert ["IdleCoress"] == NAME.findall(text)
    assert ["--metrix"] == OPTION.findall(text)
    assert ["`no-such`"] == QUERY.findall(text)
    assert [" Mood=kinesis A=1"] == OVERRIDES.findall(text)
    assert ["LogGroup"] == OUTPUT.findall(text)
