"""
The pages of reference say what the code and the template say.

What stands between markers is made here; `--update-golden` writes it again, and
the difference is read in review.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.core import ParameterSource

from emitter import VARIABLE_PREFIX
from emitter.settings.options import SYSTEM_FILE
from local.alarms.template import load
from neuron_emf.cli import cli
from neuron_wire.catalogue import EVENT_NAMES, members_of
from tests.docs.reference import alarms, commands, events, parameters, settings, walk
from tests.docs.reference.markdown import table
from tests.stack.template_resources import of_type

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
TEXT = (ROOT / "template.yaml").read_text(encoding="utf-8")
TEMPLATE = load(TEXT)
TABLES = {
    ("options", "commands"): commands.sections,
    ("options", "exit-codes"): commands.exit_codes,
    ("options", "errors"): commands.error_classes,
    **{
        ("settings", name): lambda group=group: settings.sections(group)
        for name, group in settings.GROUPS.items()
    },
    ("alarms", "on-clusters"): lambda: alarms.alarms_table(TEMPLATE, on_clusters=True),
    ("alarms", "on-the-pipeline"): lambda: alarms.alarms_table(TEMPLATE, on_clusters=False),
    ("parameters", "parameters"): lambda: parameters.groups(TEMPLATE),
    ("parameters", "outputs"): lambda: parameters.outputs(TEMPLATE),
    ("events", "events-told"): events.events_table,
    ("events", "event-lines"): events.lines,
}
PAGES = dict.fromkeys(page for page, _ in TABLES)


def text_of(page):
    """The page as it is written."""
    return (REFERENCE / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "name"), TABLES, ids=[f"{page}-{name}" for page, name in TABLES])
def test_a_page_says_what_the_code_says(page, name, marked):
    """Every option, setting, alarm, query, parameter and event, none by hand."""
    marked(REFERENCE / f"{page}.md", name, f"\n{TABLES[page, name]().rstrip()}\n\n")


def test_the_walk_shows_what_the_code_makes_of_a_report(marked, tmp_path):
    """The report, the line of its minute and the rollup that it counts in."""
    line = walk.minute_line(tmp_path)
    found = {
        "walk-report": walk.report(),
        "walk-minute": walk.shown(line),
        "walk-rollup": walk.shown(walk.rollup_line(line)),
    }
    for name, text in found.items():
        marked(ROOT / "docs" / "architecture.md", name, f"\n{text}\n")


@pytest.mark.parametrize("page", PAGES)
def test_nothing_between_markers_is_written_by_hand(page):
    """Each pair of markers of a page is made here."""
    found = re.findall(r"<!-- /([a-z-]+) -->", text_of(page))
    assert sorted(name for one, name in TABLES if one == page) == sorted(found)


def test_every_command_and_option_is_on_the_page():
    """What click would accept, people can read about."""
    page = text_of("options")
    for name, command in commands.each_command():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert section, name
        own = [one for one in commands.options_of(command) if f"`{one.opts[-1]}`" not in section]
        shared = "[`run`](#run)" in section
        assert [] == [one.name for one in own if not (shared and commands.is_of_run(one))], name


def test_every_setting_has_a_heading_of_its_own():
    """So that a page can link to it."""
    page = text_of("settings")
    for group in settings.GROUPS.values():
        for one in settings.own_settings(group):
            assert f"\n### {settings.key_of(one)}" in page, one.name


SETTINGS = [
    pytest.param(command, one, id=f"{command}-{one.name}")
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


@pytest.mark.parametrize(("command", "one"), SETTINGS)
def test_what_stands_in_the_file_is_taken(command, one, tmp_path):
    """The line of the page, in a file, means the value that the page shows."""
    shown = f"{settings.key_of(one)} = {settings.toml_of(settings.example(one))}"
    assert f"`{shown}`" in text_of("settings")
    file = tmp_path / "config.toml"
    file.write_text(f"{shown}\n", encoding="utf-8")
    found = taken(command, ["--config", str(file)])
    assert ParameterSource.DEFAULT_MAP is found.get_parameter_source(one.name)
    assert str(settings.example(one)) == str(found.params[one.name])


@pytest.mark.parametrize(("command", "one"), SETTINGS)
def test_the_variable_of_a_setting_is_taken(command, one, tmp_path):
    """In place of the flag."""
    name = f"{VARIABLE_PREFIX}_{one.name.upper()}"
    example = settings.example(one)
    text = ",".join(example) if isinstance(example, tuple) else str(example)
    empty = tmp_path / "config.toml"
    empty.touch()
    found = taken(command, ["--config", str(empty)], {name: text})
    assert ParameterSource.ENVIRONMENT is found.get_parameter_source(one.name)
    assert str(example) == str(found.params[one.name])


@pytest.mark.parametrize("page", ["settings", "options"])
def test_the_file_is_where_the_code_looks(page):
    """The path in the prose is that of the code."""
    assert f"`{SYSTEM_FILE}`" in text_of("settings")
    assert str(SYSTEM_FILE) in text_of(page)


def test_every_alarm_of_the_template_is_on_the_page_once():
    """None is left out because it has another condition."""
    page = text_of("alarms")
    names = of_type(TEMPLATE["Resources"], alarms.ALARM)
    assert [] == [name for name in names if 1 != page.count(f"[`{name}`](")]


def test_every_parameter_and_output_is_on_the_page_once():
    """Also one that no group of the console has."""
    page = text_of("parameters")
    names = [*TEMPLATE["Parameters"], *TEMPLATE["Outputs"]]
    assert [] == sorted(
        name for name in set(names) if names.count(name) != page.count(f"\n| `{name}` |")
    )


def test_no_sentence_of_the_template_ends_in_a_comment():
    """Where ` #` is in a sentence that nobody quoted, YAML drops the rest of it."""
    prose = re.findall(
        r"^ +(?:ConstraintDescription|Description): (?!['\">|])(.*)$", TEXT, re.MULTILINE
    )
    assert prose
    assert [] == [one for one in prose if " #" in one]


def test_there_is_a_line_of_every_event():
    """And each member of it is in the catalogue."""
    made = events.examples()
    assert list(EVENT_NAMES) == [name for name in EVENT_NAMES if name in made]
    assert set() == made.keys() - EVENT_NAMES.keys()
    known = members_of("event").keys()
    for name, event in made.items():
        assert set() == event.details.keys() - known, name


def test_the_page_says_of_every_event_how_often_it_is_told():
    """A new one without a bound would be missed here."""
    page = text_of("events").partition("## How often")[2].partition("## Lines")[0]
    assert [] == [name for name in EVENT_NAMES if f"`{name}`" not in page]


def test_a_cell_never_breaks_its_table():
    """A bar ends a cell for one reader and not for the other, so there is none."""
    with pytest.raises(ValueError, match="no bar"):
        table(["head"], [["a|b"]])
