"""Every setting by flag, variable, file and default, in this order, for every field there is."""

from __future__ import annotations

import dataclasses
import re
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from emitter.errors import SettingsError
from emitter.settings import MonitorSettings, ReplaySettings, RunSettings, require_cluster
from emitter.settings import options as options_module
from emitter.settings.options import options

# Three values of each setting that no default has.
VALUES = {
    "cluster": ("from-flag", "from-variable", "from-file"),
    "input": ("-", "flag.json", "file.json"),
    "output": ("stdout", "stdout", "stdout"),
    "log_group": ("/flag", "/variable", "/file"),
    "log_stream": ("{cluster}", "{region}/{instance}", "{shard:9}"),
    "region": ("us-east-1", "us-east-2", "us-west-2"),
    "spool_dir": (Path("/flag"), Path("/variable"), Path("/file")),
    "spool_max_mib": (1, 2, 3),
    "prometheus": ("8008", "0.0.0.0:8008", "[::1]:9"),
    "kernel_messages": ("kmsg", "journal", "file:/host/kmsg"),
    "period": (1, 2, 3),
    "interval": (1.5, 2.5, 3.0),
    "monitor_command": ("flag", "variable", "file"),
    "paid": ("sunk", "avoidable", "sunk"),
    "attribution": ("none", "none", "none"),
    "proc_dir": (Path("/flag/proc"), Path("/variable/proc"), Path("/file/proc")),
    "saved_proc": (Path("/flag/proc"), Path("/variable/proc"), Path("/file/proc")),
    "idle_below_percent": (2.5, 3.5, 4.0),
    "groups": (("neuroncore_counters",), ("memory_used", "vcpu_usage"), ("execution_stats",)),
    "tag_filter": ("flag", "variable", "file"),
    "monitor_config": (Path("/flag"), Path("/variable"), Path("/file")),
    "metrics": ("none", "core", "legacy"),
    "runtime_lines": ("all", "none", "all"),
    "metric": (("Executions",), ("TeraFlops", "Reports@instance"), ("BusyCores",)),
    "raw_reports": (1, 60, 1440),
    "tag": (("team=flag",), ("team=variable", "stage=test"), ("team=file", "a=b")),
    "tag_dimension": (("team",), ("stage",), ("team", "stage")),
    "namespace": ("Flag", "Variable", "File"),
    "common_dims": (("ami_id",), ("instance_id", "ami_id"), ("instance_type",)),
    "high_resolution_metrics": (True, True, True),
    "instance_id": ("i-flag", "i-variable", "i-file"),
    "spread_seconds": (1.5, 2.5, 3.0),
    "verbose": (True, True, True),
    "start": ("2026-01-01", "2026-01-02", "2026-01-03"),
}
CASES = [
    pytest.param(settings, one.name, id=f"{settings.__name__}-{one.name}")
    for settings in (RunSettings, ReplaySettings)
    for one in dataclasses.fields(settings)
]


@pytest.fixture(autouse=True)
def no_system_file(monkeypatch, tmp_path):
    """What this machine has in /etc changes no test."""
    monkeypatch.setattr(options_module, "SYSTEM_FILE", tmp_path / "system.toml")
    for name in ("ATTRIBUTION", "KERNEL_MESSAGES"):  # which a conftest sets
        monkeypatch.delenv(f"NEURON_EMF_{name}")


def read(settings, *arguments, **variables):
    """The settings that a command sees."""
    seen = []

    @click.command(context_settings={"auto_envvar_prefix": "NEURON_EMF"})
    @options(settings)
    def command(**values):
        seen.append(settings(**values))

    runner = CliRunner(env=variables)
    runner.invoke(command, list(arguments), catch_exceptions=False, standalone_mode=False)
    return seen[0]


def flag_of(name, value):
    """A setting on the command line."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, tuple):
        return [word for one in value for word in (flag, one)]
    return [flag] if value is True else [flag, str(value)]


def toml_of(name, value):
    """A setting in a file."""
    written = {True: "true"}.get(value) if isinstance(value, bool) else None
    if isinstance(value, tuple):
        written = str(list(value))
    if written is None:
        written = str(value) if isinstance(value, (int, float)) else f'"{value}"'
    return f"{name.replace('_', '-')} = {written}\n"


def test_every_setting_is_tried():
    """A new field needs three values above, and is then tried everywhere."""
    assert VALUES.keys() == {case.values[1] for case in CASES}


@pytest.mark.parametrize(("settings", "name"), CASES)
def test_flag_wins_over_variable_over_file_over_default(settings, name, tmp_path):
    """One declaration, four places to look."""
    flag, variable, file = VALUES[name]
    config = tmp_path / "config.toml"
    config.write_text(toml_of(name, file))
    given = ["--config", str(config)]
    written = ",".join(variable) if isinstance(variable, tuple) else str(variable)
    environment = {f"NEURON_EMF_{name.upper()}": written}
    default = getattr(settings(), name)
    assert default == getattr(read(settings), name)
    assert file == getattr(read(settings, *given), name) != default
    assert variable == getattr(read(settings, *given, **environment), name)
    flagged = read(settings, *given, *flag_of(name, flag), **environment)
    assert flag == getattr(flagged, name)


@pytest.fixture
def read_file(tmp_path):
    """The settings that a command sees with --config FILE of some text."""

    def given(text, settings=RunSettings):
        config = tmp_path / "config.toml"
        config.write_text(text)
        return read(settings, "--config", str(config))

    return given


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [('log_group = "/file"', "log_group", "/file"), ('groups = "a, b"', "groups", ("a", "b"))],
)
def test_a_file_may_be_written_otherwise(text, name, expected, read_file):
    """`log_group` is `log-group`; a list may be one text with commas, as a variable has it."""
    assert expected == getattr(read_file(text), name)


def test_the_file_of_the_system_is_read_where_it_exists(tmp_path):
    """Without --config; with it, only the named file counts."""
    (tmp_path / "system.toml").write_text('cluster = "system"\nperiod = 7\n')
    assert "system" == read(RunSettings).cluster
    other = tmp_path / "other.toml"
    other.write_text('cluster = "other"\n')
    found = read(RunSettings, "--config", str(other))
    assert ("other", 5) == (found.cluster, found.period)
    by_variable = read(RunSettings, NEURON_EMF_CONFIG=str(other))
    assert "other" == by_variable.cluster


def test_one_file_serves_all_commands(read_file):
    """What only the other command knows is left out, not refused."""
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
        ("cluster = 5", ["cluster", "a string in quotes", "is a number"]),
        ("cluster = ['a']", ["cluster", "a string in quotes", "is an array"]),
        ("cluster = true", ["cluster", "a string in quotes", "is true or false"]),
        ("log-group = {a = 1}", ["log-group", "a string", "is a table"]),
        ("start = 2026-01-01", ["start", "a string", "is a date or time"]),
        ('period = "5"', ["period", "a whole number", "is a string"]),
        ("period = 5.0", ["period", "a whole number", "is a number"]),
        ("period = true", ["period", "a whole number", "is true or false"]),
        ('interval = "5"', ["interval", "a number", "is a string"]),
        ("spool-dir = 5", ["spool-dir", "a path", "is a number"]),
        ("tag = ['a=b', 5]", ["tag", "strings in brackets", "is an array"]),
        ("groups = 5", ["groups", "strings in brackets", "is a number"]),
        ('verbose = "yes"', ["verbose", "true or false", "is a string"]),
        ("verbose = 1", ["verbose", "true or false", "is a number"]),
    ],
)
def test_a_file_is_refused_with_one_sentence(text, words, read_file):
    """A misspelt key or a value of another type says what was expected and what was found."""
    with pytest.raises(SettingsError) as caught:
        read_file(text)
    said = str(caught.value)
    assert [] == [word for word in ["config.toml", *words] if word not in said]
    assert 2 == caught.value.exit_code


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = \x00"])
def test_a_file_that_is_no_text_is_refused(content, tmp_path):
    """As a file that is no TOML."""
    config = tmp_path / "config.toml"
    config.write_bytes(content)
    with pytest.raises(SettingsError, match="TOML"):
        read(RunSettings, "--config", str(config))


@pytest.mark.parametrize(
    ("name", "accepted", "refused"),
    [
        ("period", ["1", "15"], ["0", "16", "1.5", "x"]),
        ("interval", ["0.001", "3600"], ["0", "-1", "3600.1", "nan", "inf"]),
        ("idle-below-percent", ["0", "100"], ["-0.1", "100.1", "nan"]),
        ("spread-seconds", ["0", "55"], ["-1", "55.1", "nan"]),
        ("spool-max-mib", ["1"], ["0", "-1", "1.5"]),
        ("raw-reports", ["1", "1440"], ["0", "1441", "1.5"]),
        ("output", ["logs", "stdout"], ["", "stderr", "agent", "file:x"]),
        ("metrics", ["none", "cluster", "instance", "core", "legacy"], ["", "all"]),
        ("runtime-lines", ["changes", "all", "none"], ["", "some"]),
    ],
)
def test_the_bounds_of_a_setting(name, accepted, refused):
    """The last value inside is taken, the first outside is usage error."""
    for value in accepted:
        read(RunSettings, f"--{name}", value)
    for value in refused:
        with pytest.raises(click.UsageError):
            read(RunSettings, f"--{name}", value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--groups", "a,b", "--groups", "c"], ("a", "b", "c")),
        (["--groups", " a , ,b,"], ("a", "b")),
        ([], ()),
    ],
)
def test_a_list_is_given_again_and_again_or_with_commas(given, expected):
    """Both at once, too; what is empty between two commas is nothing."""
    assert expected == read(RunSettings, *given).groups


@pytest.mark.parametrize(
    ("flag", "name"), [("-n", "namespace"), ("-r", "region"), ("-d", "common_dims")]
)
def test_the_short_flags_of_the_old_script_are_taken(flag, name):
    """A unit file made for neuron-monitor-cloudwatch.py need not be written anew."""
    expected = ("word",) if name == "common_dims" else "word"
    assert expected == getattr(read(RunSettings, flag, "word"), name)


@pytest.mark.parametrize("namespace", ["", "AWS/Neuron", ":a", "a b", "a" * 256, "caf\u00e9"])
def test_a_namespace_that_cloudwatch_would_refuse_is_refused(namespace):
    """It would drop every metric without a word."""
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
def test_a_tag_filter_that_is_no_expression_is_refused(text, is_one):
    """In Python's form or in neuron-monitor's: it would die of it, again and again."""
    with nullcontext() if is_one else pytest.raises(SettingsError, match="--tag-filter"):
        MonitorSettings(tag_filter=text)


@pytest.mark.parametrize("settings", [RunSettings, ReplaySettings])
@pytest.mark.parametrize("instance_id", ["", "  ", "caf\u00e9", "a\nb", "i" * 129])
def test_an_instance_id_that_no_record_may_have_is_refused(settings, instance_id):
    """The stack would refuse every line of this instance."""
    with pytest.raises(SettingsError, match="Invalid instance ID"):
        settings(instance_id=instance_id)
    assert "i" * 128 == settings(instance_id="i" * 128).instance_id


@pytest.mark.parametrize("cluster", ["c", "c" * 255, "Blue cluster (1)", "a/b"])
def test_a_cluster_name_is_taken_as_it_is(cluster):
    """Whatever a CloudWatch dimension can be."""
    assert cluster == require_cluster(cluster)


@pytest.mark.parametrize("cluster", ["", " ", "c" * 256, "caf\u00e9", "a\tb", "a\x7f"])
def test_a_cluster_name_that_cannot_be_one_is_refused(cluster):
    """Expected, found, what to do, and not the name itself."""
    with pytest.raises(SettingsError, match=r"cluster name.*\. Use --cluster"):
        require_cluster(cluster)


def help_of(settings):
    """The help text of every option, by name."""

    @click.command
    @options(settings)
    def command():
        pass

    context = click.Context(command)
    records = [one.get_help_record(context) for one in command.params]
    return {re.search(r"--[a-z-]+", names)[0]: text for names, text in records}


@pytest.mark.parametrize("settings", [RunSettings, ReplaySettings])
def test_the_help_of_an_option_ends_with_its_default(settings):
    """In brackets, or in words where it is no single value; or that it is required."""
    texts = help_of(settings)
    assert {"--cluster", "--config"} < texts.keys()
    end = re.compile(r"(\[default: [^\]]+\]|by default .+\.( +\[.+\])?|required\.( +\[.+\])?)$")
    assert {} == {name: text for name, text in texts.items() if not end.search(text)}
