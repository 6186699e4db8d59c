"""The messages as people get them, each in a file that is read in review."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.explain.event import transition_of
from aggregator.explain.notification import notify
from neuron_wire import OtherRecord, parse
from neuron_wire.catalogue import undocumented
from neuron_wire.names import MESSAGE
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import (
    ENVIRONMENT,
    MINUTE,
    OVER,
    RANG_S,
    iso,
    of_a_contributor,
    of_an_alarm,
    rollup,
    state,
    table_with,
)

DATA = Path(__file__).parents[2] / "data"
MESSAGES, WIRE = DATA / "messages", DATA / "wire" / "v1"
AT_OVER_S = RANG_S + 47 * 60 + 11

SILENT = rollup(
    Instances=2,
    SilentInstances=10,
    TopIdleInstances=None,
    SilentInstanceNames=[
        {
            "InstanceId": f"i-0{number:016x}",
            "InstanceType": "trn1.32xlarge",
            "LastSeen": iso(MINUTE - 6 - number),
        }
        for number in range(9)
    ]
    + [{"InstanceId": "host-7c9e6679", "LastSeen": iso(MINUTE - 20)}],
)
ECC = rollup(
    minute=MINUTE - 1,
    EccUncorrectedRise=3,
    EccInstances=[
        {"InstanceId": "i-0a1b2c3d4e5f60718", "EccUncorrectedRise": 2},
        {"InstanceId": "i-0d4e6f8091a2b3c4d", "EccUncorrectedRise": 1},
    ],
)
HARDWARE = {
    **ECC,
    "HardwareErrors": 7,
    "HardwareFaults": 5,
    "FaultyInstances": [
        {"InstanceId": "i-0c3f5a7b9d1e2f4a6", "HardwareFaults": 4},
        {"InstanceId": "i-0a1b2c3d4e5f60718", "HardwareFaults": 1},
    ],
}
ERRORS = rollup(
    ExecutionErrors=1_204,
    ErrorInstances=[{"InstanceId": "i-0c3f5a7b9d1e2f4a6", "ExecutionErrors": 1_204}],
)
UNPRICED = rollup(
    UnknownCores=12,
    SilentInstances=1,
    UnpricedCores=64,
    UnpricedTypes=["us-east-2/trn2.48xlarge"],
    PricesOverridden=["trn1.32xlarge"],
    AvoidableCostPerHour=10.75,
    SharedCostPerHour=8.0625,
    SunkCostPerHour=5.375,
    WhollyIdleInstances=1,
    StragglerInstances=[
        {
            "InstanceId": "i-0a1b2c3d4e5f60718",
            "InstanceType": "trn1.32xlarge",
            "BusyUtilization": 11.5,
            "TypeMedian": 61.25,
        }
    ],
)
FILLED = (
    "Threshold Crossed: 2 out of the last 15 datapoints were greater than or equal to the threshold"
    " (20.0) and 13 missing datapoints were treated as [NonBreaching]."
)
GONE = "No data was returned for this contributor"
ENDED = {"now": state("OK", OVER, "Threshold Crossed: 6 of 15."), "before": state("ALARM")}
NO_DATA = {"now": state("INSUFFICIENT_DATA", OVER, "No data."), "before": state("ALARM")}
FREE = rollup(
    IdleCores=1,
    IdleCorePercent=0.8,
    IdleCostPerHour=None,
    PricesAsOf=None,
    PriceRegions=None,
    UnpricedCores=128,
    UnpricedTypes=["us-east-2/trn2.48xlarge", "us-east-2/unknown type"],
    TopIdleInstances=[
        {"InstanceId": "i-0a1b2c3d4e5f60718", "IdleCores": 1, "Cores": "7", "IdleMinutes": 15}
    ],
    IdleInstanceCount=31,
    TopIdleOwners=[
        {
            "Owner": f"slurm:{job} ada",
            "Cores": 0.166667,
            "Instances": 1,
            "IdleMinutes": 15,
            "UnpricedCores": 0.166667,
        }
        for job in range(6)
    ],
    AvoidableCostPerHour=None,
    AvoidableHeldCostPerHour=None,
    SharedCostPerHour=None,
    SunkCostPerHour=None,
)

IN_USE = rollup(
    TopIdleOwners=[
        {"Owner": "unit:jupyter-ada", "Cores": 8, "Instances": 1, "HeldCores": 24, "BusyCores": 16,
         "IdleMinutes": 60, "UsdPerHour": 5.375, "UnpricedCores": 0},
        {"Owner": "search/live-0", "Cores": 2, "Instances": 1, "HeldCores": 2, "BusyCores": 0,
         "IdleMinutes": 60, "UsdPerHour": 1.34375, "UnpricedCores": 0},
    ],
    TopIdleInstances=[
        {
            "InstanceId": "i-0c3f5a7b9d1e2f4a6", "InstanceType": "trn1.32xlarge",
            "NeuronCores": 32, "BusyCores": 16, "Executions": 52_076, "IdleCores": 16,
            "Cores": "16-31", "IdleMinutes": 60, "UsdPerHour": 10.75, "AttachedCores": "16-23",
            "Holders": [{"Cores": "16-23", "Name": "unit:jupyter-ada", "Pid": 4242,
                         "LastExecution": iso(MINUTE)}],
        },
        {
            "InstanceId": "i-0a1b2c3d4e5f60718", "InstanceType": "trn1.2xlarge",
            "NeuronCores": 2, "BusyCores": 0, "Executions": 80, "IdleCores": 2, "Cores": "0-1",
            "IdleMinutes": 60, "UsdPerHour": 1.34375, "AttachedCores": "0-1",
            "Holders": [{"Cores": "0-1", "Name": "search/live-0", "Pid": 9,
                         "LastExecution": iso(MINUTE - 1)}],
        },
    ],
)  # fmt: skip
"""An owner that is busy on other cores, and a live service that keeps none busy."""

KEPT = ("idle-cores-of-a-contributor", "idle-cores-over-and-gone", "no-cluster")

SCENES = {
    "idle-cores": (of_an_alarm(), table_with(rollup())),
    "idle-cores-of-a-contributor": (of_a_contributor(), table_with(rollup())),
    "idle-cores-unpriced": (of_an_alarm(), table_with(FREE)),
    "idle-cores-in-use": (of_an_alarm(), table_with(IN_USE)),
    "idle-cores-over": (
        of_an_alarm(**ENDED),
        table_with(rollup(minute=MINUTE + 47, IdleCores=2, IdleCorePercent=1.5625)),
    ),
    "idle-cores-over-without-data": (
        of_an_alarm(**{**ENDED, "now": state("OK", OVER, FILLED)}),
        table_with(rollup()),
    ),
    "idle-cores-over-and-gone": (
        of_a_contributor(now=state("OK", OVER, GONE)),
        table_with(rollup()),
    ),
    "idle-cores-no-data": (of_an_alarm(**NO_DATA), table_with(rollup())),
    "idle-cores-old": (of_an_alarm(), table_with(rollup(minute=MINUTE - 90))),
    "idle-cores-no-rollup": (of_an_alarm(), MemoryTable()),
    "idle-cores-no-core-known": (
        of_an_alarm(),
        table_with(rollup(IdleCores=None, IdleCorePercent=None)),
    ),
    "idle-cores-muted": (
        of_a_contributor(
            now=state("OK", OVER),
            muteDetail={
                "mutedByArn": "arn:aws:cloudwatch:us-east-1:123456789012:alarm-mute-rule:load-test"
            },
        ),
        table_with(rollup(minute=MINUTE + 47)),
    ),
    "idle-cost": (of_a_contributor("IdleCostPerHour"), table_with(UNPRICED)),
    "low-utilization": (of_an_alarm("NeuronCoreUtilization"), table_with(UNPRICED)),
    "silent-instances": (of_an_alarm("SilentInstances"), table_with(SILENT)),
    "silent-instances-over": (
        of_an_alarm("SilentInstances", **ENDED),
        table_with(rollup(minute=MINUTE + 47)),
    ),
    "hardware-errors": (of_an_alarm("HardwareErrors"), table_with(HARDWARE, about="hardware")),
    "hardware-errors-over": (
        of_an_alarm("HardwareErrors", **ENDED),
        table_with(HARDWARE, about="hardware"),
    ),
    "hardware-errors-before-an-upgrade": (
        of_an_alarm("EccUncorrectedRise"),
        table_with(ECC, about="ecc"),
    ),
    "execution-errors": (of_an_alarm("ExecutionErrors"), table_with(ERRORS, about="errors")),
    "another-metric": (of_an_alarm("LateRecords"), table_with(rollup())),
    "no-cluster": (of_an_alarm(cluster=""), table_with(rollup())),
}


def message_of(event, table, environment=ENVIRONMENT, now_s=RANG_S):
    """The message about *event*."""
    return notify(transition_of(event), table, environment, lambda *_: None, now_s).message


def told(name):
    """The message of one scene."""
    event, table = copy.deepcopy(SCENES[name])
    now_s = AT_OVER_S if "over" in name or "no-data" in name or "muted" in name else RANG_S + 1
    return message_of(event, table, now_s=now_s)


@pytest.mark.parametrize("name", SCENES)
def test_a_message_reads_as_it_did(golden, name):
    """Every scene in one file: the subject line, the text message, then the whole."""
    message = told(name)
    attributes = ", ".join(
        f"{key}={value if isinstance(value, str) else ' or '.join(value)}"
        for key, value in message.attributes.items()
    )
    head = f"Subject: {message.subject}\nSMS: {message.sms}\nAttributes: {attributes}\n\n"
    golden(MESSAGES / f"{name}.txt", head + message.text)


def test_the_form_for_programs_reads_as_it_did(golden):
    """The same with the rollup itself, so that nobody has to read numbers out of sentences."""
    document = json.loads(told("idle-cores").document)
    golden(MESSAGES / "idle-cores.json", json.dumps(document, indent=2) + "\n")


def test_the_forms_for_chat_and_programs_read_as_they_did(golden):
    """What the how-to pages show; review reads it here."""
    event, table = copy.deepcopy(SCENES["idle-cores-of-a-contributor"])
    sent = []
    environment = replace(ENVIRONMENT, chat_topic_arn=f"{ENVIRONMENT.alarm_topic_arn}-chat")
    notify(
        transition_of(event), table, environment, lambda *one: sent.append(one), RANG_S + 1,
        printer=lambda _: None,
    )  # fmt: skip
    (_, people), (_, chat) = sent
    document = json.loads(json.loads(people.body)["https"])
    for name, payload in (
        ("chat", json.loads(chat.body)),
        ("webhook", {one: value for one, value in document.items() if one != "Rollup"}),
    ):
        golden(MESSAGES / f"{name}.json", json.dumps(payload, indent=2) + "\n")


def thread_of(event):
    """The thread that a message belongs to."""
    sent = []
    environment = replace(ENVIRONMENT, alarm_topic_arn="", chat_topic_arn="chat")
    notify(
        transition_of(event), MemoryTable(), environment, lambda *one: sent.append(one), RANG_S,
        printer=lambda _: None,
    )  # fmt: skip
    ((_, publication),) = sent
    return json.loads(publication.body)["metadata"]["threadId"]


def test_an_alarm_of_one_cluster_and_its_end_are_one_thread():
    """Another cluster, and another alarm, have threads of their own."""
    alarm = of_a_contributor()
    assert thread_of(alarm) == thread_of(of_a_contributor(now=state("OK", OVER)))
    others = {
        thread_of(of_a_contributor(cluster="serving")),
        thread_of(of_a_contributor("SilentInstances")),
    }
    assert 3 == len({thread_of(alarm), *others})


def test_who_reads_the_json_of_an_earlier_release_reads_this_one():
    """Each member is there, of the same type; what tells messages apart has the same value."""
    earlier = json.loads((MESSAGES / "old-reader.json").read_text(encoding="utf-8"))
    now = json.loads(told("idle-cores").document)
    assert {name: type(value) for name, value in earlier.items()} == {
        name: type(now[name]) for name in earlier
    }
    same = "Schema State StateBefore Since LastedMinutes ClusterName Metric Alarm AlarmArn Account"
    assert [earlier[name] for name in same.split()] == [now[name] for name in same.split()]


@pytest.mark.parametrize("name", SCENES)
def test_a_message_is_a_line_that_no_function_reads(name):
    """Of a kind of its own, documented, without the word that the subscription lets through."""
    event, table = copy.deepcopy(SCENES[name])
    lines = []
    told = notify(
        transition_of(event), table, ENVIRONMENT, lambda *_: None, RANG_S, printer=lines.append
    )
    (line,) = lines
    assert OtherRecord(MESSAGE) == parse(line)
    assert "CoveredSeconds" not in line
    found = json.loads(line)
    assert [] == undocumented(found)
    assert (told.message.subject, told.message.text) == (found["Subject"], found["Text"])
    assert found["State"] in {"ALARM", "OK", "NO DATA"}
    metrics = told.message.attributes["Metric"]
    assert found["Metrics"] == ([metrics] if isinstance(metrics, str) else list(metrics))


def test_a_line_has_the_members_that_it_always_had():
    """Each of the kept lines, which later readers are tried on; the words may change."""
    kept = (WIRE / "messages.lines.jsonl").read_text(encoding="utf-8").splitlines()
    for name, line in zip(KEPT, map(json.loads, kept), strict=True):
        event, table = copy.deepcopy(SCENES[name])
        lines = []
        notify(
            transition_of(event), table, ENVIRONMENT, lambda *_: None, RANG_S, printer=lines.append
        )
        found = json.loads(lines[0])
        assert {one: type(value) for one, value in line.items()} == {
            one: type(found.get(one)) for one in line
        }
        assert line["State"] == found["State"]


@pytest.mark.parametrize(
    "line", [rollup(), SILENT, HARDWARE, ERRORS, UNPRICED, FREE, IN_USE], ids=str
)
def test_the_scenes_hold_only_what_a_rollup_has(line):
    """A message must not wait for a member that no rollup ever has."""
    assert [] == undocumented(line)


@pytest.mark.parametrize("first", [0, 1])
def test_who_works_gets_no_words_of_an_idle_one(first):
    """Whoever believes `no execution since`, or is sent to ask about unused cores, stops work."""
    entries = IN_USE["TopIdleInstances"][first:]
    text = message_of(of_an_alarm(), table_with({**IN_USE, "TopIdleInstances": entries})).text
    assert "no execution since" not in text
    assert "Held, not used" not in text
    asked = [
        "unit:jupyter-ada: it uses 16 of 24 cores. Asking for 8 cores fewer frees 4 devices.",
        "search/live-0: it is executing, last at 03:12 UTC. Ask whoever runs it",
    ]
    assert f"Do not stop {asked[first]}" in text


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("Asking for 8 cores fewer frees 4 devices.", {}),
        ("Asking for 6 cores fewer frees 3 devices.", {"AttachedCores": "16-31"}),
        ("No device is idle as a whole", {"NeuronCores": 512}),
        ("Ask whoever runs it whether fewer cores would do.", {"NeuronCores": None}),
        ("Ask whoever runs it whether fewer cores would do.", {"InstanceType": "odd"}),
    ],
)
def test_only_wholly_idle_devices_can_be_given_to_others(expected, changes):
    """A core that somebody else holds, idle or not, keeps its device."""
    first = copy.deepcopy(IN_USE["TopIdleInstances"][0])
    first["Holders"][0]["Cores"] = "16-22" if "AttachedCores" in changes else "16-23"
    first = {name: one for name, one in {**first, **changes}.items() if one is not None}
    assert (
        expected
        in message_of(of_an_alarm(), table_with({**IN_USE, "TopIdleInstances": [first]})).text
    )


def test_every_golden_message_has_a_scene():
    """One that is left over would be read for nothing."""
    assert SCENES.keys() == {one.stem for one in MESSAGES.glob("*.txt")}


def test_without_a_runbook_and_log_groups_there_is_no_link_to_them():
    """Nothing is made up."""
    environment = replace(ENVIRONMENT, runbook="", records_log_group="", rollups_log_group="")
    event, table = copy.deepcopy(SCENES["idle-cores"])
    message = message_of(event, MemoryTable(), environment)
    assert "Runbook:" not in message.text
    assert "Logs Insights" not in message.text
    assert {"Query", "Runbook"}.isdisjoint(json.loads(message.document))
    assert "Query" in json.loads(message_of(event, table).document)


def test_holders_beyond_four_are_counted():
    """Those that the rollup itself only counts are among them."""
    line = rollup()
    first = line["TopIdleInstances"][0]
    first["Holders"] = [{"Cores": str(core), "Pid": 100 + core} for core in range(6)]
    first["HoldersMore"] = 3
    assert "core 3 by pid 103 and 5 more\n" in message_of(of_an_alarm(), table_with(line)).text


def test_the_query_of_silent_instances_begins_before_they_fell_silent():
    """What they said last is 10 minutes of the one that is silent longest."""
    since = MINUTE - 300
    line = rollup(
        SilentInstances=2,
        SilentInstanceNames=[
            {"InstanceId": "host-1", "LastSeen": iso(MINUTE - 6)},
            {"InstanceId": "host-2", "LastSeen": iso(since)},
        ],
    )
    message = message_of(of_an_alarm("SilentInstances"), table_with(line))
    assert f"--start-time {(since - 10) * 60} " in message.text


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ("eu-central-1", "https://eu-central-1.console.aws.amazon.com/cloudwatch/"),
        ("cn-north-1", "https://cn-north-1.console.amazonaws.cn/cloudwatch/"),
        ("us-gov-west-1", "https://us-gov-west-1.console.amazonaws-us-gov.com/cloudwatch/"),
    ],
)
def test_the_console_of_each_partition(region, expected):
    """China and GovCloud have consoles of their own."""
    message = message_of({**of_an_alarm(), "region": region}, MemoryTable())
    assert f"Dashboard: neuron-emf-{region}, {expected}" in message.text
    assert f"--region {region} " in message.text
