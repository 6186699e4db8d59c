"""The messages as people get them, each in a golden file, and the pages that show them."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.explain import notification
from aggregator.explain.event import IDLE_CORES, find_subject, read_transition
from aggregator.explain.notification import notify
from neuron_wire import OtherRecord, parse
from neuron_wire.catalogue import undocumented
from neuron_wire.names import MESSAGE
from tests.aggregator.explain.alarm_events import (
    ENVIRONMENT,
    RANG_S,
    of_an_alarm,
    table_with,
)
from tests.aggregator.explain.message_scenes import (
    PART,
    SCENES,
    SECOND,
    entry,
    of,
    row,
    waiting,
)
from tests.docs.shown_blocks import files_of

DATA = Path(__file__).parents[2] / "data"
MESSAGES, WIRE = DATA / "messages", DATA / "wire" / "v1"
AT_OVER_S = RANG_S + 47 * 60 + 11
KEPT = ("idle-cores-of-a-contributor", "idle-cores-over-and-gone", "no-cluster")


def message_of(event, table, environment=ENVIRONMENT, now_s=RANG_S):
    """The message about *event*."""
    return notify(
        read_transition(event), table, environment, lambda *_: None, now_s, printer=lambda _: None
    ).message


def scene_message(name):
    """The message of one scene."""
    event, table = copy.deepcopy(SCENES[name])
    now_s = AT_OVER_S if "over" in name or "no-data" in name or "muted" in name else RANG_S + 1
    return message_of(event, table, now_s=now_s)


def idle_text(line):
    """What a message about idle cores says of a rollup."""
    return message_of(of_an_alarm(), table_with(line)).text


@pytest.mark.parametrize("name", SCENES)
def test_a_message_reads_as_it_did(golden, name):
    """One file for each scene: subject, SMS, attributes and text."""
    message = scene_message(name)
    attributes = ", ".join(
        f"{key}={value if isinstance(value, str) else ' or '.join(value)}"
        for key, value in message.attributes.items()
    )
    head = f"Subject: {message.subject}\nSMS: {message.sms}\nAttributes: {attributes}\n\n"
    golden(MESSAGES / f"{name}.txt", head + message.text)


def test_every_golden_message_has_a_scene():
    """A golden file without a scene would be dead text."""
    assert SCENES.keys() == {path.stem for path in MESSAGES.glob("*.txt")}


def test_the_form_for_programs_reads_as_it_did(golden):
    """The JSON holds the rollup itself, so no program parses sentences."""
    document = json.loads(scene_message("idle-cores").document)
    golden(MESSAGES / "idle-cores.json", json.dumps(document, indent=2) + "\n")


def test_the_forms_for_chat_and_programs_read_as_they_did(golden):
    """These two are shown on the how-to pages."""
    event, table = copy.deepcopy(SCENES["idle-cores-of-a-contributor"])
    sent = []
    environment = replace(ENVIRONMENT, chat_topic_arn=f"{ENVIRONMENT.alarm_topic_arn}-chat")
    notify(
        read_transition(event), table, environment, lambda *one: sent.append(one), RANG_S + 1,
        printer=lambda _: None,
    )  # fmt: skip
    (_, people), (_, chat) = sent
    document = json.loads(json.loads(people.body)["https"])
    for name, payload in (
        ("chat", json.loads(chat.body)),
        ("webhook", {one: value for one, value in document.items() if one != "Rollup"}),
    ):
        golden(MESSAGES / f"{name}.json", json.dumps(payload, indent=2) + "\n")


def test_who_reads_the_json_of_an_earlier_release_reads_this_one():
    """Each member of an earlier release is there, with the same type."""
    earlier = json.loads((MESSAGES / "old-reader.json").read_text(encoding="utf-8"))
    now = json.loads(scene_message("idle-cores").document)
    assert {name: type(value) for name, value in earlier.items()} == {
        name: type(now[name]) for name in earlier
    }
    same = "Schema State StateBefore Since LastedMinutes ClusterName Metric Alarm AlarmArn Account"
    assert [earlier[name] for name in same.split()] == [now[name] for name in same.split()]


@pytest.mark.parametrize("name", SCENES)
def test_a_message_is_a_line_that_no_function_reads(name):
    """Its line has a documented Kind of its own and no member that the subscription matches."""
    event, table = copy.deepcopy(SCENES[name])
    lines = []
    notification = notify(
        read_transition(event), table, ENVIRONMENT, lambda *_: None, RANG_S, printer=lines.append
    )
    (line,) = lines
    assert OtherRecord(MESSAGE) == parse(line)
    assert "CoveredSeconds" not in line
    found = json.loads(line)
    assert [] == undocumented(found)
    message = notification.message
    assert (message.subject, message.text) == (found["Subject"], found["Text"])
    assert found["State"] in {"ALARM", "OK", "NO DATA"}
    metrics = message.attributes["Metric"]
    assert found["Metrics"] == ([metrics] if isinstance(metrics, str) else list(metrics))


def test_a_line_has_the_members_that_it_always_had():
    """Members of the kept lines stay, with their types; the words may change."""
    kept = (WIRE / "messages.lines.jsonl").read_text(encoding="utf-8").splitlines()
    for name, line in zip(KEPT, map(json.loads, kept), strict=True):
        event, table = copy.deepcopy(SCENES[name])
        lines = []
        notify(
            read_transition(event),
            table,
            ENVIRONMENT,
            lambda *_: None,
            RANG_S,
            printer=lines.append,
        )
        found = json.loads(lines[0])
        assert {one: type(value) for one, value in line.items()} == {
            one: type(found.get(one)) for one in line
        }
        assert line["State"] == found["State"]


WORKING = {
    "uses 16 of 24": {"HeldCores": 24, "BusyCores": 16},
    "little used": {"Executions": 80},
    "63 of 64 without a busy core": {"Siblings": 64, "IdleSiblings": 63},
}


@pytest.mark.parametrize("words", WORKING)
def test_who_works_gets_no_words_of_an_idle_one(words):
    """A working owner is never asked to stop, nor named first while another one is idle."""
    works = row("ml/a-0", 8, 90.0, **WORKING[words], WhollyIdleMinutes=None)
    owners = [{"Cores": "0-7", "Name": "ml/a-0"}]
    where = entry("a" * 8 + "b" * 24, 90.0, Owners=owners)
    text = idle_text(of([works], where))
    assert words in text.splitlines()[0]
    assert "Do not stop it: " in text
    assert "Answer now: nothing." in text
    for said in ("no execution since", "used none", "ask ", "it may be compiling"):
        assert said not in text
    both = idle_text(of([works, row("slurm:7 ada", 1, 0.5)], where))
    assert both.startswith("training: Slurm job 7 (ada) has not used its core for 1 h 1 min, ")
    assert f"next: ml/a-0 8 ({words}" in both


@pytest.mark.parametrize(
    ("minutes", "expected"), [(15, "has used none of its 4 cores for 15 min"), (14, "has 4 cores")]
)
def test_only_who_is_wholly_idle_has_used_none(minutes, expected):
    """It takes IdleAfterMinutes: an owner that has just executed may execute again."""
    idle = row("ml/a-0", 4, 1.0, WhollyIdleMinutes=minutes)
    assert f"training: pod ml/a-0 {expected}" in idle_text(of([idle]))


def test_most_avoidable_comes_first():
    """An owner alone on its instance comes before one with more cores on instances that work."""
    shared = entry("a" * 16 + "b" * 16, 10.75, SECOND, Owners=[{"Cores": "0-15", "Name": "ml/a"}])
    alone = entry("aa", 0.76, Owners=[{"Cores": "0-1", "Name": "ml/b"}])
    text = idle_text(of([row("ml/a", 16, 10.75), row("ml/b", 2, 0.76)], shared, alone))
    assert text.startswith("training: pod ml/b has used none of its 2 cores")


@pytest.mark.parametrize(("gone", "works"), [(True, False), (False, False), (True, True)])
def test_what_was_given_to_another_cannot_wait(gone, works):
    """
    The other owner may fail, however little it costs. Only a gone, idle process is to be ended.
    """
    line = waiting(gone=gone)
    if works:
        line["TopIdleInstances"][1]["Holders"][0]["LastExecution"] = line["Minute"]
    text = idle_text(line)
    assert text.startswith("training: 2 cores given to pod ml/trainer-b-0 are held by ")
    assert "Do not wait: pod ml/trainer-b-0 has not opened them and may fail to start." in text
    is_ended = gone and not works
    assert is_ended is ("end process 4242 there" in text)
    assert is_ended is ("Answer now: ask team ml" not in text)


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("asking for 16 cores frees 4 devices.", {}),
        ("asking for 18 cores frees 3 devices.", {"AttachedCores": "16-23", "Owners": [
            {"Cores": "0-21", "Name": "unit:jupyter-ada"}]}),
        ("no device of it is idle as a whole", {"NeuronCores": 512}),
        ("ask whether fewer cores would do.", {"NeuronCores": None}),
        ("ask whether fewer cores would do.", {"InstanceType": "odd"}),
    ],
)  # fmt: skip
def test_only_wholly_idle_devices_can_be_given_to_others(expected, changes):
    """A core of another owner keeps its device, idle or not."""
    first = {**PART["TopIdleInstances"][0], **changes}
    first = {name: one for name, one in first.items() if one is not None}
    assert expected in idle_text({**PART, "TopIdleInstances": [first]})


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
    event, table = copy.deepcopy(SCENES["idle-cores"])
    message = message_of({**event, "region": region}, table)
    assert f"Evidence: {expected}" in message.text
    assert f" --region {region}\n" in message.text


ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "messages.md"
SAMPLE = MESSAGES / "idle-cores.txt"


def between_markers(name):
    """What finds the text between the markers of a name."""
    return re.compile(f"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)


def test_the_sample_is_a_message_that_is_sent(golden):
    """The page shows the golden file; `--update-golden` writes it there."""
    text = SAMPLE.read_text(encoding="utf-8").split("\n\n", 1)[1]
    page = PAGE.read_text(encoding="utf-8")
    golden(PAGE, between_markers("sample").sub(lambda _: f"```\n{text}```\n", page))


def test_the_event_of_the_page_is_one_that_explain_takes():
    """The event on the page produces a message."""
    block = between_markers("event").search(PAGE.read_text(encoding="utf-8"))[0]
    transition = read_transition(json.loads(block.strip("`json\n")))
    assert IDLE_CORES == find_subject(transition.metrics)
    assert ("training", "ALARM") == (transition.cluster, transition.state)
    assert notification.is_news(transition)


HOW_TO, REFERENCE = ROOT / "docs" / "how-to", ROOT / "docs" / "reference"
OF_CLOUDWATCH = {
    "AlarmName": "neuron-emf-NoMinuteClosedAlarm-1A2B3C4D5E6F",
    "AlarmDescription": "No minute was closed for 10 minutes.",
    "NewStateValue": "ALARM",
    "NewStateReason": "Threshold Crossed: no datapoints were received for 10 periods.",
    "StateChangeTime": "2026-11-21T03:17:00.125+0000",
    "Region": "US East (N. Virginia)",
    "OldStateValue": "OK",
    "Trigger": {"MetricName": "MinutesClosed", "Namespace": "Neuron/Stack"},
}
"""The members of CloudWatch's own message, as one was recorded."""


def payload(name):
    """One of the messages that the pages show."""
    return json.loads((MESSAGES / f"{name}.json").read_text(encoding="utf-8"))


def test_the_page_on_webhooks_shows_the_message_that_review_has_read(golden):
    """The page shows the golden file; `--update-golden` writes it there."""
    page, text = HOW_TO / "webhook.md", (MESSAGES / "webhook.json").read_text(encoding="utf-8")
    written = between_markers("webhook").sub(
        lambda _: f"```json\n{text}```\n", page.read_text("utf-8")
    )
    golden(page, written)


def envelope(message, kind="Notification"):
    """What SNS posts, with the members that its documentation lists."""
    return json.dumps({"Type": kind, "MessageId": "1", "TopicArn": "arn", "Message": message})


def test_the_reader_of_the_page_reads_both_kinds_of_messages():
    """It reads explain's messages and CloudWatch's own; it skips a subscription confirmation."""
    block = between_markers("reader").search((HOW_TO / "webhook.md").read_text(encoding="utf-8"))[0]
    namespace = {}
    exec(block.removeprefix("```python\n").removesuffix("```\n"), namespace)
    read = namespace["read"]
    alarm, cluster, state, text = read(envelope(json.dumps(payload("webhook"))))
    assert ("training", "ALARM") == (cluster, state)
    assert text.startswith("training: pod ml/llama-70b-0 (team ml) has used none of its 16 cores")
    assert alarm == payload("webhook")["Alarm"]
    reason = OF_CLOUDWATCH["NewStateReason"]
    expected = OF_CLOUDWATCH["AlarmName"], None, "ALARM", reason
    assert expected == read(envelope(json.dumps(OF_CLOUDWATCH)))
    assert read(envelope("", "SubscriptionConfirmation")) is None


def passes(policy, body):
    """Whether SNS lets *body* pass, by its documentation of filters on the body."""
    for name, rules in policy.items():
        if name == "$or":
            if not any(passes(rule, body) for rule in rules):
                return False
        elif isinstance(rules, dict):
            if not isinstance(body.get(name), dict) or not passes(rules, body[name]):
                return False
        elif not any(
            rule["exists"] == (name in body) if isinstance(rule, dict) else rule == body.get(name)
            for rule in rules
        ):
            return False
    return True


@pytest.mark.parametrize(("policy", "name"), [("team", "webhook"), ("team-chat", "chat")])
def test_a_filter_on_the_body_keeps_the_alarms_on_the_pipeline(policy, name):
    """A team's own cluster passes, another one does not, and CloudWatch's own message does."""
    found = json.loads(files_of(REFERENCE / "messages.md")[f"{policy}.json"])
    own = payload(name)
    other = json.loads(json.dumps(own).replace('"training"', '"serving"'))
    assert [True, False, True] == [passes(found, one) for one in (own, other, OF_CLOUDWATCH)]
