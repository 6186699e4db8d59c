"""A rehearsal: its output, amounts and page, and that it leaves nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.alarms.template import load_template
from local.embedded_aws.child_processes import EmbeddedAwsError
from local.monitor.runtime_groups import EXECUTION_ENDINGS
from local.rehearsal import __main__ as command_line
from local.rehearsal.comparison import expected_live
from local.rehearsal.focus_export import (
    billed_usd,
    charges_of,
    export_objects,
    past_days,
)
from local.rehearsal.live_fleet import REHEARSED_FLEET, LiveFleet, python_environment
from local.rehearsal.page import AccountEndpoint, open_page
from local.rehearsal.past_ledger import (
    agreement,
    days_before,
    differences,
    digest_of,
    digest_week,
    problems_of_week,
    report_of,
    settle_lines,
)
from local.rehearsal.rehearsal import DAYS, RehearsalOutcome
from local.rehearsal.rehearsal_stack import STACK_NAME
from local.rehearsal.workspace import StoppedError, Workspace
from neuron_accounts.ledger import PARTS_OF_HOUR, USD_PLACES, part_key
from neuron_accounts.then import Then
from neuron_emf import account as accounts
from neuron_emf.account import Account
from neuron_emf.command_options import AccountSettings
from neuron_emf.page.alarms import read_rehearsal_alarms
from neuron_emf.page.server import HOST, TOKEN_HEADER
from neuron_emf.reading.ledger_bucket import OUTPUT
from neuron_emf.reading.minute_lines import MinuteLines
from neuron_emf.report import terminal
from neuron_emf.report.bill_report import bill_report
from neuron_emf.report.chargeback import chargeback
from neuron_emf.report.month_ledger import S3, month_hours
from neuron_emf.report.settings import IdleReportSettings
from neuron_wire.names import HOUR_MS
from proof.emitter_process import HUNG_AFTER_S
from tests.hour import HOUR_END_S
from tests.neuron_emf.fake_account import FakeLedgerObjects
from tests.neuron_emf.report.report_faces import printed_parts
from tests.neuron_emitter.fake_monitor import alive

RIGHT_OUTCOME = RehearsalOutcome([], 120, 4, "It costs 28 USD.")


@pytest.fixture
def play(monkeypatch):
    """Return a function that runs a rehearsal with the given end."""

    def ending(end, *arguments):
        class Rehearsal:
            def __init__(self, *_):
                pass

            def run(self, seconds):
                self.seconds = seconds
                if isinstance(end, Exception):
                    raise end
                return end

        monkeypatch.setattr(command_line, "Rehearsal", Rehearsal)
        return command_line.main([*arguments])

    return ending


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        (
            RIGHT_OUTCOME,
            0,
            (
                "It costs 28 USD.",
                "RIGHT: 120 rollups of the replayed hour and 4 live ones are what was simulated.",
            ),
        ),
        (
            RehearsalOutcome(["problem 1", "problem 2"], 120, 4, ""),
            1,
            ("WRONG", "* problem 1\n", "* problem 2\n"),
        ),
        (
            EmbeddedAwsError("sam build failed with exit code 1", "Error: no pip"),
            3,
            ("rehearsal: sam build failed with exit code 1", "Error: no pip"),
        ),
        (StoppedError(signal.SIGTERM), 128 + 15, ("All its processes have stopped.",)),
    ],
    ids=["right", "wrong", "not started", "signal"],
)
def test_the_exit_code_shows_the_result(play, capsys, end, code, words):
    """
    The exit code depends on the end; the output has the comparison, each problem, or the last lines
    of the failed part.
    """
    assert code == play(end, "--seconds", "5")
    shown = "".join(capsys.readouterr())
    assert [] == [word for word in words if word not in shown]


@pytest.fixture
def workspace():
    """Yield a workspace; signals belong to pytest again after it."""
    with Workspace() as opened:
        yield opened


def test_the_users_own_settings_do_not_reach_the_emitters():
    """Settings in the user's shell, such as a cluster name, do not reach the emitters."""
    base = {"NEURON_EMF_CLUSTER": "mine", "NEURON_SIM": "{}", "PATH": "/bin"}
    variables = python_environment(base)
    assert "NEURON_EMF_CLUSTER" not in variables
    assert "NEURON_SIM" not in variables
    assert "/bin" == variables["PATH"]


def truth_line(instance, at_s):
    """Return a line of a truth file: two cores that work, 5 executions."""
    line = {
        "instance": instance,
        "cores": 2,
        "nominal_s": 5.0,
        "at_ms": round(1000 * at_s),
        "period_s": 5.0,
        "runtimes": 1,
        "percents": [50.0, 50.0],
        "held": [True, True],
        "executions": {**dict.fromkeys(EXECUTION_ENDINGS, 0), "completed": 5},
    }
    return f"{json.dumps(line)}\n"


def test_live_minutes_count_from_when_all_are_there_to_the_stop(workspace):
    """
    Compared minutes begin after all instances have started and end before the stop.

    A minute with a report so near to its end that the next minute may have it does not count.
    """
    opened = LiveFleet(workspace, {}, "/g")
    minute_s = 1_799_999_940
    for number, member in enumerate(REHEARSED_FLEET):
        truth = opened._truths[member] = workspace.folder / f"{number}.truth"
        moments: list[float] = [minute_s + 60 * minute + 30 for minute in range(number == 3, 6)]
        moments += [minute_s + 239.6] * (number == 4)
        truth.write_text("".join(truth_line(member.instance_id, at_s) for at_s in moments))
    live = expected_live(opened, minute_s + 300.0)
    assert {
        (cluster, minute_s + 60 * minute)
        for cluster in ("research", "serving")
        for minute in (1, 2)
    } == set(live)
    assert {(5, 25)} == {(rollup["Instances"], rollup["Executions"]) for rollup in live.values()}
    assert [] == opened.silent_members()
    opened._truths[REHEARSED_FLEET[5]].write_text("", encoding="utf-8")
    assert [REHEARSED_FLEET[5]] == opened.silent_members()


LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")

# A small rehearsal: a child process and a file.
PLAY = """
import os, sys
from local.embedded_aws.child_processes import ChildProcess
from local.rehearsal.workspace import Workspace, StoppedError

with Workspace() as workspace:
    (workspace.folder / "file").write_text("x")
    child = workspace.adopt(ChildProcess("c", [sys.executable, "-c", "import time; time.sleep(60)"],
        environment=os.environ, folder=workspace.folder, output=workspace.folder / "log"))
    print(child.pid, workspace.folder, flush=True)
    try:
        workspace.wait(60)
    except StoppedError as stopped:
        print("stopped by", stopped.signal_number, flush=True)
        if sys.argv[1:] == ["fail"]:
            raise
"""


@pytest.mark.proof
@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments", [[], ["fail"]])
def test_a_signal_leaves_no_process_and_no_folder(repository, number, arguments):
    """A signal ends all processes and removes the folder, also after an error."""
    command = [sys.executable, "-c", PLAY, *arguments]
    with subprocess.Popen(
        command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as play:
        child, folder = play.stdout.readline().split()
        assert Path(folder).is_dir()
        play.send_signal(number)
        assert f"stopped by {int(number)}\n" == play.stdout.readline()
        assert bool(arguments) == bool(play.wait(HUNG_AFTER_S))
    assert not alive(int(child))
    assert not Path(folder).exists()


@pytest.fixture
def past(hour):
    """Return the rehearsal's hour after settle."""
    return settle_lines(hour.lines, HOUR_END_S // 60)


def test_it_is_what_settle_puts(past, hour):
    """The rehearsal's ledger has the bytes of settle's own run over its table."""
    assert hour.ledger == past.objects


def test_lines_ledger_report_and_digest_say_the_same(past):
    """
    Lines, ledger and report have the same numbers to the last digit, and the digest names the most
    expensive owner.
    """
    amounts = past.idle_usd()
    assert [] == differences("Idle cores", amounts)
    assert (
        "Idle cores cost 29.85 USD by the lines, the report and the digest, to the last digit."
    ) == agreement("Idle cores", amounts)
    text = digest_of(digest_week(past.objects, past.hours.stop))
    assert "Idle cores cost 29.85 USD, of which at most 18.09 USD avoidable: 46.0 core" in text
    assert "16.48 USD  slurm:4711 ml-user, cluster research, team ml: 24.5 core hours" in text
    assert "Idle Neuron cores of stack neuron-emf: 1 of 168 hours from 2026-11-13" in text


def test_digest_report_and_page_of_the_ledger_agree_over_the_same_hours(past):
    """A problem names the amounts of digest, report and page if they or their hours differ."""
    objects = {**days_before(past, 1), **past.objects}
    week = digest_week(objects, past.hours.stop)
    page = {
        "start_ms": 0,
        "end_ms": 168 * HOUR_MS,
        "step_ms": HOUR_MS,
        "missing": [[0, 143 * HOUR_MS]],
        "amounts": {"owners": [["a", "b", None, 955.35, 1.0]]},
    }
    assert [] == problems_of_week(objects, week, page)
    for planted in ({"missing": [[0, 144 * HOUR_MS]]}, {"amounts": {"owners": []}}):
        (problem,) = problems_of_week(objects, week, {**page, **planted})
        assert "the digest 955.35 USD in 25 hours" in problem


@pytest.mark.parametrize(
    ("place", "name", "planted"),
    [
        (Then, "fold_summary", lambda *_: None),
        (Then, "fold_row", lambda *_: None),
        (MinuteLines, "fold_lines", lambda *_: []),
    ],
)
def test_a_planted_fault_is_reported(past, monkeypatch, place, name, planted):
    """A planted fault is reported with each amount."""
    monkeypatch.setattr(place, name, planted)
    (problem,) = differences("Idle cores", past.idle_usd())
    assert " 0, " in f"{problem}, "
    assert " 29.85" in problem


REHEARSAL_PLACE = AccountEndpoint("http://127.0.0.1:9", "us-east-1", "/records", "/r", STACK_NAME)
FIRING_ALARM = {
    "name": "rehearsal-IdleCoresAlarm",
    "title": "Idle cores",
    "state": "ALARM",
    "metrics": ["IdleCorePercent"],
    "urgency": "can wait",
    "contributors": [{"name": "research", "reason": "15 of 15"}],
}
FIRING_ALARMS: Any = SimpleNamespace(read_alarms=lambda: [FIRING_ALARM])


@pytest.fixture
def document(repository):
    """Return the repository's own template."""
    return load_template(repository / "template.yaml")


class RehearsedClient(FakeLedgerObjects):
    """Clients of the embedded AWS, whose only stack has a ledger of these objects."""

    def describe_stacks(self, **_):
        return {"Stacks": [{"Outputs": [{"OutputKey": OUTPUT, "OutputValue": "ledger"}]}]}


@pytest.fixture
def split_days(past, monkeypatch):
    """
    Return a function that splits a made-up bill of three days before an hour into rows, answer and
    ledger.
    """

    def split(stop_hour):
        moved = replace(past, hours=range(stop_hour, stop_hour + 1))
        charges = charges_of(past_days(stop_hour, DAYS))
        objects = {**days_before(moved, DAYS), **export_objects(charges)}
        monkeypatch.setattr(Account, "client", lambda *_: RehearsedClient(objects))
        settings = IdleReportSettings(rehearsal=True, bill=(S3,))
        where = accounts.rehearsed_account(asdict(REHEARSAL_PLACE))
        return charges, chargeback(settings, where), objects

    return split


@pytest.mark.parametrize(("into_month", "hours"), [(300, 72), (36, 36), (20, 51)])
def test_the_made_up_bill_is_split_to_the_last_digit(split_days, into_month, hours):
    """
    The owners' shares of a bill add up to it exactly, also at the edge of a month. Their time and
    list price are the report's for the same hours.
    """
    charges, split, objects = split_days(month_hours("2026-11").start + into_month)
    assert hours == len(split.hours)
    assert [] == differences("A bill", billed_usd(charges, split))
    by_usage = sum(Decimal(row["EffectiveCost"]) for row in charges)
    fee = Decimal("2.235") * hours
    assert fee + by_usage == sum(row.amount for row in split.rows)
    keys = [part_key(hour, part) for hour in split.hours for part in range(PARTS_OF_HOUR)]
    report = report_of({key: objects[key] for key in keys}).total
    assert report.cost == sum(row.list_cost or 0 for row in split.rows).scaleb(USD_PLACES)
    assert report.busy == split.table("day").total.exact.time.busy


def test_the_page_on_money_shows_the_made_up_bill(split_days, marked, repository):
    """The page shows the report that splits the made-up bill of three November days by team."""
    split = split_days(month_hours("2026-11").start + 300)[1]
    report = bill_report(IdleReportSettings(by="team"), split)
    text = printed_parts(terminal.parts(report, 3))
    lines = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    block = f"```\n$ neuron-emf report --rehearsal --bill --by team --rows 3\n{lines}```\n"
    marked(repository / "docs/how-to/money.md", "rehearsed-bill", block)


def asked(server, path, token=""):
    """Return the document at a path of the page."""
    address = f"http://{HOST}:{server.port}{path}"
    request = urllib.request.Request(address, headers={TOKEN_HEADER: token})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)


def test_the_alarms_are_the_evaluators(document):
    """The page gets the evaluator's alarms with its token."""
    with open_page(REHEARSAL_PLACE, FIRING_ALARMS, document, 0) as server:
        (alarm,) = asked(server, "/alarms.json", server.token)["alarms"]
    assert "Idle cores" == alarm["title"]
    assert "research" == alarm["contributors"][0]["name"]


def test_commands_find_the_rehearsal_and_its_alarms(document, monkeypatch):
    """
    `--rehearsal` finds the rehearsal and, for the page, the evaluator's alarms, without a token.
    """
    with open_page(REHEARSAL_PLACE, FIRING_ALARMS, document, 0) as server:
        address = f"http://{HOST}:{server.port}/rehearsal.json"
        monkeypatch.setattr(accounts, "REHEARSAL", address)
        account = accounts.account(AccountSettings(rehearsal=True))
        assert account.is_rehearsal
        names = ("log_group", "rollups_log_group", "stack_name")
        assert all(getattr(REHEARSAL_PLACE, name) == getattr(account, name) for name in names)
        assert REHEARSAL_PLACE.endpoint_url == account.client("logs").meta.endpoint_url
        assert [FIRING_ALARM] == read_rehearsal_alarms()


def test_a_port_in_use_is_reported_and_another_is_used(document, capsys):
    """
    If a port is in use, the rehearsal reports it and uses another, so that two rehearsals can run.
    """
    with open_page(REHEARSAL_PLACE, FIRING_ALARMS, document, 0) as first:
        capsys.readouterr()
        with open_page(REHEARSAL_PLACE, FIRING_ALARMS, document, first.port) as second:
            assert first.port != second.port
            output = capsys.readouterr().out
            assert f"Port {first.port} is in use" in output
