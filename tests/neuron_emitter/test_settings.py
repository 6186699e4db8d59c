"""Each setting comes from its flag, variable, file or default, in this order."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from neuron_emitter.errors import SettingsError
from neuron_emitter.settings import MonitorSettings, ReplaySettings, RunSettings
from neuron_emitter.settings import options as options_module
from neuron_emitter.settings.minute_settings import require_cluster
from neuron_emitter.settings.options import options
from neuron_emitter.settings.run_settings import read_listen_address

# Three values, other than the default, for a setting of each type.
SETTING_VALUES = {
    "cluster": ("from-flag", "from-variable", "from-file"),
    "metrics": ("none", "core", "legacy"),
    "kernel_messages": ("kmsg", "none", "file:/host/kmsg"),
    "prometheus": tuple(map(read_listen_address, ("8008", "0.0.0.0:8008", "[::1]:9"))),
    "spool_dir": (Path("/flag"), Path("/variable"), Path("/file")),
    "period": (1, 2, 3),
    "spread_seconds": (1.5, 2.5, 3.0),
    "verbose": (True, True, True),
    "tag": (("team=flag",), ("team=variable", "stage=test"), ("team=file", "a=b")),
}


@pytest.fixture(autouse=True)
def no_system_file(monkeypatch, tmp_path):
    """Ignore the settings file in /etc of this machine."""
    monkeypatch.setattr(options_module, "SYSTEM_FILE", tmp_path / "system.toml")
    for name in ("ATTRIBUTION", "KERNEL_MESSAGES"):  # a conftest sets these
        monkeypatch.delenv(f"NEURON_EMF_{name}")


def read(settings, *arguments, **variables):
    """Return the settings that a command reads."""
    given = []

    @click.command(context_settings={"auto_envvar_prefix": "NEURON_EMF"})
    @options(settings)
    def command(**values):
        given.append(settings(**values))

    runner = CliRunner(env=variables)
    runner.invoke(command, list(arguments), catch_exceptions=False, standalone_mode=False)
    return given[0]


def flag_of(name, value):
    """Return a setting as arguments of a command line."""
    flag = f"--{name.replace('_', '-')}"
    if type(value) is tuple:
        return [word for text in value for word in (flag, text)]
    return [flag] if value is True else [flag, str(value)]


def toml_of(name, value):
    """Return a setting as a line of a file."""
    written = {True: "true"}.get(value) if isinstance(value, bool) else None
    if type(value) is tuple:
        written = str(list(value))
    if written is None:
        written = str(value) if isinstance(value, (int, float)) else f'"{value}"'
    return f"{name.replace('_', '-')} = {written}\n"


@pytest.mark.parametrize("name", SETTING_VALUES)
def test_flag_wins_over_variable_over_file_over_default(name, tmp_path):
    """A flag wins over a variable, a variable over a file, and a file over the default."""
    flag, variable, file = SETTING_VALUES[name]
    config = tmp_path / "config.toml"
    config.write_text(toml_of(name, file))
    given = ["--config", str(config)]
    written = ",".join(variable) if type(variable) is tuple else str(variable)
    environment = {f"NEURON_EMF_{name.upper()}": written}
    default = getattr(RunSettings(), name)
    assert default == getattr(read(RunSettings), name)
    assert file == getattr(read(RunSettings, *given), name) != default
    assert variable == getattr(read(RunSettings, *given, **environment), name)
    flagged = read(RunSettings, *given, *flag_of(name, flag), **environment)
    assert flag == getattr(flagged, name)


@pytest.fixture
def read_file(tmp_path):
    """Return a function that reads the settings of a --config file with some text."""

    def given(text, settings=RunSettings):
        config = tmp_path / "config.toml"
        config.write_text(text)
        return read(settings, "--config", str(config))

    return given


def test_the_file_of_the_system_is_read_where_it_exists(tmp_path):
    """Without --config, the system's file is read. With --config, only the given file is read."""
    (tmp_path / "system.toml").write_text('cluster = "system"\nperiod = 7\n')
    assert "system" == read(RunSettings).cluster
    other = tmp_path / "other.toml"
    other.write_text('cluster = "other"\n')
    settings = read(RunSettings, "--config", str(other))
    assert "other" == settings.cluster
    assert 5 == settings.period
    by_variable = read(RunSettings, NEURON_EMF_CONFIG=str(other))
    assert "other" == by_variable.cluster


def test_one_file_serves_all_commands(read_file):
    """A file may have settings of other commands, which a command ignores."""
    text = 'cluster = "blue"\nspread-seconds = 5\nstart = "2026-01-01"\n'
    assert 5.0 == read_file(text).spread_seconds
    assert "2026-01-01" == read_file(text, ReplaySettings).start


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('clutser = "x"', ["'clutser'", "settings are", "cluster, common-dims", "Correct"]),
        ("[run]\nperiod = 5", ["'run'", "settings are"]),
        ("config = 'x'", ["'config'"]),
        ("cluster = blue", ["TOML"]),
        ("a = \x00", ["TOML"]),
        ("cluster = 5", ["cluster", "a string in quotes", "is a number"]),
        ("log-group = {a = 1}", ["log-group", "a string", "is a table"]),
        ("start = 2026-01-01", ["start", "a string", "is a date or time"]),
        ("period = 5.0", ["period", "a whole number", "is a number"]),
        ("period = true", ["period", "a whole number", "is true or false"]),
        ('interval = "5"', ["interval", "a number", "is a string"]),
        ("spool-dir = 5", ["spool-dir", "a path", "is a number"]),
        ("tag = ['a=b', 5]", ["tag", "strings in brackets", "is an array"]),
        ("verbose = 1", ["verbose", "true or false", "is a number"]),
    ],
)
def test_a_file_is_refused_with_one_sentence(text, words, read_file):
    """An unknown key or a value of another type is refused with the expected and found values."""
    with pytest.raises(SettingsError) as caught:
        read_file(text)
    message = str(caught.value)
    assert [] == [word for word in ["config.toml", *words] if word not in message]


@pytest.mark.parametrize("value", ["0", "-1", "3600.1", "nan", "inf", "x"])
def test_a_number_out_of_its_bounds_is_a_usage_error(value):
    """NaN and numbers beyond their bounds are errors of use."""
    with pytest.raises(click.UsageError):
        read(RunSettings, "--interval", value)


def test_a_list_takes_repeated_options_or_commas():
    """A list takes repeated options and commas, also together, and ignores empty parts."""
    given = ["--groups", "a, b", "--groups", ",c,"]
    assert ("a", "b", "c") == read(RunSettings, *given).groups


@pytest.mark.parametrize("namespace", ["", "AWS/Neuron", ":a", "a b", "a" * 256, "caf\u00e9"])
def test_a_namespace_that_cloudwatch_would_refuse_is_refused(namespace):
    """A namespace that CloudWatch refuses is an error: CloudWatch drops its metrics silently."""
    with pytest.raises(SettingsError, match="Invalid --namespace"):
        RunSettings(namespace=namespace)
    assert "a" * 255 == RunSettings(namespace="a" * 255).namespace


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("(", False), ("a)", False), ("[", False), ("*", False), ("a{2,1}", False), ("", True),
        ("^serve-[0-9]+$", True), (r"\Q(\E", True), (r"a\z", True), (r"\p{Greek}", True),
        ("a(?i)b", True), ("(?U:a+)", True), ("[[:alpha:]]+", True), (r"\\z(", False),
    ],
)  # fmt: skip
def test_a_tag_filter_that_is_not_an_expression_is_refused(text, is_one):
    """
    A tag filter must be an expression in Python's or neuron-monitor's syntax.

    neuron-monitor would exit at each start because of another filter.
    """
    with nullcontext() if is_one else pytest.raises(SettingsError, match="--tag-filter"):
        MonitorSettings(tag_filter=text)


@pytest.mark.parametrize("name", ["", "  ", "caf\u00e9", "a\nb", "a\x7f", "i" * 256])
def test_a_name_that_no_record_may_have_is_refused(name):
    """A name is refused if CloudWatch or the stack would refuse it in a line."""
    with pytest.raises(SettingsError, match="Invalid instance ID"):
        RunSettings(instance_id=name)
    with pytest.raises(SettingsError, match=r"cluster name.*\. Use --cluster"):
        require_cluster(name)
    assert "i" * 128 == RunSettings(instance_id="i" * 128).instance_id
    assert [] == [good for good in ("c" * 255, "Blue (1)", "a/b") if good != require_cluster(good)]


@pytest.mark.parametrize("settings", [RunSettings, ReplaySettings])
def test_the_help_of_an_option_ends_with_its_default(settings):
    """The help of each option ends with its default, in brackets or words, or with `required`."""
    command = click.command(options(settings)(lambda **_values: None))
    context = click.Context(command)
    texts = {
        param.name: param.get_help_record(context)[1]
        for param in command.params
        if not getattr(param, "is_flag", False)
    }
    assert {"cluster", "config"} < texts.keys()
    end = re.compile(r"(\[default: [^\]]+\]|by default .+\.( +\[.+\])?|required\.( +\[.+\])?)$")
    assert {} == {name: text for name, text in texts.items() if not end.search(text)}
