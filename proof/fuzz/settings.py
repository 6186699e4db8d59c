"""
Configuration that people wrote: the emitter's file, neuron-monitor's, the functions' variables.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from aggregator.environment import Environment, SettingError, read
from emitter.errors import SettingsError
from emitter.reports.monitor_config import monitor_config, read_monitor_config
from emitter.settings import RunSettings
from emitter.settings.options import options
from proof.fuzz import broken_json
from proof.fuzz.target import Target, require_sentence, reworded

if TYPE_CHECKING:
    import random

MAX_SENTENCE_CHARS: Final = 3_000  # the names of all settings stand in one of them

_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
_FILE: Final = Path(_FOLDER.name) / "input"

_WHOLE: Final = b"""\
cluster = "training"
idle-below-percent = 2.5
metrics = "instance"
tag = ["team=search", "stage=prod"]
tag-dimension = "team"
period = 5
groups = ["neuroncore_counters", "memory_used"]
tag_filter = "job-.*"
output = "file:/var/log/lines"
log-stream = "{cluster}-{shard:16}"
spool-dir = "/var/lib/neuron-emf"
spool-max-mib = 64
spread-seconds = 10
interval = 5.0
verbose = true
"""
_SMALL: Final = b"cluster = '''a'''\ncommon-dims = \"instance_id\"\nrotate-keep = 0x10\n"


@click.command()
@options(RunSettings)
def command(**values: Any) -> RunSettings:
    return RunSettings(**values)


def reads_settings(content: bytes) -> None:
    """The file gives settings of the declared types, or one sentence that a person can act on."""
    _FILE.write_bytes(content)
    try:
        settings = command.main(["--config", str(_FILE)], standalone_mode=False)
    except (SettingsError, click.UsageError) as error:
        require_sentence(error, MAX_SENTENCE_CHARS)
        return
    assert isinstance(settings, RunSettings)
    for one in dataclasses.fields(settings):
        if isinstance(one.default, (bool, int, float, str, tuple)):
            assert type(getattr(settings, one.name)) is type(one.default), one.name


def reads_a_monitor_configuration(content: bytes) -> None:
    """
    The file is passed on byte for byte, and what is understood of it is in bounds; or one sentence.
    """
    _FILE.write_bytes(content)
    try:
        configuration = read_monitor_config(_FILE)
    except SettingsError as error:
        require_sentence(error, 500)
        return
    assert content == configuration.text.encode()
    assert 1 <= configuration.period_s <= 999_999
    assert isinstance(configuration.only_matched, bool)
    for warning in configuration.warnings:
        assert len(warning) < 1_000


def reads_variables(content: bytes) -> None:
    """The variables of a function give rules within their ranges, or one sentence."""
    try:
        variables = json.loads(content)
    except (ValueError, RecursionError):
        return
    if not isinstance(variables, dict):
        return
    # No variable has another type, half a character or a null byte: the system takes none.
    given = {name: str(value).replace("\0", "") for name, value in variables.items()}
    try:
        environment = read(given)
    except SettingError as error:
        require_sentence(error, 300)
        return
    assert isinstance(environment, Environment)
    assert 45 <= environment.rules.grace_s <= 900
    assert 3 <= environment.rules.late_minutes <= 1440
    assert environment.rules.silent_after_minutes <= environment.rules.silent_forget_minutes <= 1440
    assert all(0 <= usd <= 100_000 for usd in environment.price_overrides.values())
    assert environment.table_name
    assert (
        environment.own_log_group is None or environment.own_log_group in environment.own_log_groups
    )


def _edited(content: bytes, chance: random.Random) -> bytes:
    """The value of one variable changed."""
    variables = json.loads(content)
    name = chance.choice(sorted(variables))
    value = str(variables[name]).encode(errors="replace")
    variables[name] = reworded(value, chance).decode(errors="replace")
    return json.dumps(variables).encode()


def _variables() -> list[bytes]:
    whole = {
        "TABLE_NAME": "records", "STACK_NAME": "neuron-emf", "GRACE_SECONDS": "120",
        "LATE_MINUTES": "120", "IDLE_AFTER_MINUTES": "15", "SILENT_AFTER_MINUTES": "5",
        "SILENT_FORGET_MINUTES": "60", "PRICE_OVERRIDES": "trn1.32xlarge=13.5,inf2.xlarge=0.6",
        "PAID_BY_TYPE": "trn1.32xlarge=sunk", "TEAMS": "research|slurm:*=ml,*|prod/*=serving",
        "ROLLUPS_LOG_GROUP": "/neuron-emf/rollups",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/neuron-emf/ingest",
    }  # fmt: skip
    return [json.dumps(whole).encode()]


def _monitor_configurations() -> list[bytes]:
    ours = monitor_config(5)
    theirs = json.loads(ours)
    theirs["neuron_runtimes"].append(
        {"tag_filter": "job", "period": "10s", "metrics": [{"type": "neuroncore_counters"}]}
    )
    return [ours.encode(), json.dumps(theirs).encode()]


SETTINGS: Final = Target("settings file", reads_settings, lambda: [_WHOLE, _SMALL], reworded)
MONITOR: Final = Target(
    "monitor configuration",
    reads_a_monitor_configuration,
    _monitor_configurations,
    broken_json.broken,
)
VARIABLES: Final = Target("function variables", reads_variables, _variables, _edited)
