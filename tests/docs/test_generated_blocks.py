"""
What stands between markers of a page is what the code and the template say.

`--update-golden` writes it again, and the difference is read in review.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.core import ParameterSource

from benchmarks.scale import tables
from emitter import VARIABLE_PREFIX
from local.alarms.template import load
from neuron_emf.cli import COMMANDS, cli
from neuron_emf.cost.measurements import read
from neuron_emf.deploy.package import read_template
from neuron_wire.catalogue import EVENT_NAMES, MEMBERS, members_of
from tests.docs.reference import (
    acceptance,
    alarms,
    change_set,
    commands,
    differences,
    events,
    findings,
    metrics,
    parameters,
    prometheus,
    settings,
    walk,
)
from tests.stack.template_resources import of_type

ROOT = Path(__file__).parents[2]
TEXT = read_template(ROOT / "template.yaml")
TEMPLATE = load(TEXT)
OF_OTHER_TESTS = {"demo", "run", "supervisord"}
"""What programs print or read: test_rehearsal_shown, test_shown_commands, test_supervised_pipe."""

MAKERS = {
    "README.md": {
        "bills": lambda: f"{tables.bills(read())}\n",
        "small-fleets": lambda: tables.small_fleets(read()),
    },
    "docs/how-to/migrating.md": {"small-fleets": lambda: tables.small_fleets(read())},
    "docs/reference/metrics.md": metrics.subject_tables(),
    "docs/reference/options.md": {
        "commands": commands.sections,
        "exit-codes": commands.exit_codes,
        "errors": commands.error_classes,
    },
    "docs/reference/commands.md": {"change-set": change_set.shown},
    "docs/reference/settings.md": {
        name: lambda group=group: settings.sections(group)
        for name, group in settings.GROUPS.items()
    },
    "docs/reference/prometheus.md": {
        name: lambda listed=listed: prometheus.families(listed)
        for name, listed in prometheus.TABLES.items()
    },
    "docs/reference/alarms.md": {
        "on-clusters": lambda: alarms.alarms_table(TEMPLATE, on_clusters=True),
        "on-the-pipeline": lambda: alarms.alarms_table(TEMPLATE, on_clusters=False),
        "faults": alarms.faults_table,
    },
    "docs/reference/differences.md": {
        "bases": differences.bases,
        "in-the-rehearsal": lambda: differences.played(is_rehearsed=True),
        "in-tests": lambda: differences.played(is_rehearsed=False),
        "not-deployed": lambda: differences.not_deployed(TEMPLATE),
        "recorded": differences.recorded,
    },
    "docs/reference/parameters.md": {
        "parameters": lambda: parameters.groups(TEMPLATE),
        "outputs": lambda: parameters.outputs(TEMPLATE),
    },
    "docs/reference/events.md": {"events-told": events.events_table, "event-lines": events.lines},
    "docs/reference/findings.md": {"members": findings.members, "events": findings.events},
    "docs/how-to/acceptance.md": {"steps": acceptance.steps, "decides": acceptance.decides},
    "docs/architecture.md": {
        "walk-report": walk.report,
        "walk-minute": lambda: walk.shown(walk.minute_line()),
        "walk-rollup": lambda: walk.shown(walk.rollup_line(walk.minute_line())),
    },
}
MARKED = re.compile(r"<!-- ([a-z-]+) -->\n(\n?)(.*?)(\n?)<!-- /\1 -->", re.DOTALL)


@pytest.mark.parametrize("page", MAKERS)
def test_what_stands_between_markers_is_what_the_code_says(page, golden):
    """Nothing between markers is written by hand."""
    text = (ROOT / page).read_text(encoding="utf-8")

    def made(found):
        name, before, _, after = found.groups()
        if name in OF_OTHER_TESTS - MAKERS[page].keys():
            return found[0]
        assert name in MAKERS[page], f"{page} has a block {name} that nobody makes"
        block = MAKERS[page][name]().rstrip()
        return f"<!-- {name} -->\n{before}{block}\n{after and before}<!-- /{name} -->"

    golden(ROOT / page, MARKED.sub(made, text))


def text_of(page):
    """A page of reference."""
    return (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "row", "names"),
    [
        ("metrics", "\n| `{}`", {member.name for member in MEMBERS}),
        ("options", "\n## {}\n", [name for name, _ in commands.each_command()]),
        ("alarms", "[`{}`](", of_type(TEMPLATE["Resources"], alarms.ALARM)),
        ("parameters", "\n| `{}` |", {*TEMPLATE["Parameters"], *TEMPLATE["Outputs"]}),
        ("events", "\n| `{}` |", EVENT_NAMES),
        ("commands", "`neuron-emf {}", COMMANDS),
    ],
)
def test_everything_that_there_is_is_on_its_page(page, row, names):
    """Also a name that no group, family or condition has."""
    assert [] == sorted(name for name in names if row.format(name) not in text_of(page))


SETTINGS = [
    (command, one)
    for command, groups in {
        "run": ("minutes", "monitor", "run"),
        "replay": ("minutes", "replay"),
    }.items()
    for group in groups
    for one in settings.own_settings(settings.GROUPS[group])
]


def taken(command, words, variables=None):
    """What *command* takes from these words and variables."""
    one = cli.get_command(commands.CONTEXT, command)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (variables or {}).items():
            patch.setenv(name, value)
        files = ["reports.jsonl"] if command == "replay" else []
        return one.make_context(command, [*words, *files], parent=commands.CONTEXT)


def test_a_setting_is_taken_from_the_file_and_from_its_variable(tmp_path):
    """The line of the page, in a file, means the value that the page shows; the variable too."""
    page = text_of("settings")
    file, empty = tmp_path / "config.toml", tmp_path / "empty.toml"
    empty.touch()
    for command, one in SETTINGS:
        example, key = settings.example(one), settings.key_of(one)
        shown = f"{key} = {settings.toml_of(example)}"
        file.write_text(f"{shown}\n", encoding="utf-8")
        variable = f"{VARIABLE_PREFIX}_{one.name.upper()}"
        assert f"`{shown}`" in page
        assert f"\n### {key}" in page
        of_file = taken(command, ["--config", str(file)])
        assert ParameterSource.DEFAULT_MAP is of_file.get_parameter_source(one.name), key
        text = ",".join(example) if isinstance(example, tuple) else str(example)
        of_variable = taken(command, ["--config", str(empty)], {variable: text})
        assert ParameterSource.ENVIRONMENT is of_variable.get_parameter_source(one.name), key
        assert {str(example)} == {str(of_file.params[one.name]), str(of_variable.params[one.name])}


def test_no_sentence_of_the_template_ends_in_a_comment():
    """Where ` #` is in a sentence that nobody quoted, YAML drops the rest of it."""
    prose = re.findall(
        r"^ +(?:ConstraintDescription|Description): (?!['\">|])(.*)$", TEXT, re.MULTILINE
    )
    assert prose
    assert [] == [one for one in prose if " #" in one]


def test_there_is_a_line_of_every_event_and_how_often_it_is_told():
    """Each member of it is in the catalogue; one without a bound would be missed here."""
    lines = events.examples()
    assert EVENT_NAMES.keys() == lines.keys()
    known = members_of("event").keys()
    for name, event in lines.items():
        assert set() == event.details.keys() - known, name
    bounds = text_of("events").partition("## How often")[2].partition("## Lines")[0]
    assert [] == [name for name in EVENT_NAMES if f"`{name}`" not in bounds]
