"""The messages that people receive, as golden files, and the pages that show them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.explain import notification
from aggregator.explain.event import find_subject, read_transition
from aggregator.explain.notification import notify
from neuron_wire import OtherRecord, parse
from neuron_wire.catalogue import ALARMS
from neuron_wire.names import MESSAGE_KIND
from tests.aggregator.explain.alarm_events import (
    ENVIRONMENT,
    FIRED_S,
    of_an_alarm,
    table_with,
)
from tests.aggregator.explain.message_scenes import (
    MESSAGE_SCENES,
    PART_ROLLUP,
    SECOND,
    entry,
    of,
    play,
    row,
    waiting,
)
from tests.neuron_wire.emf_documents import undocumented

MESSAGE_DATA = Path(__file__).parents[2] / "data"
MESSAGE_DOCS = Path(__file__).parents[3] / "docs"
MESSAGES = MESSAGE_DATA / "messages"
WIRE = MESSAGE_DATA / "wire" / "v1"
AT_OVER_S = FIRED_S + 47 * 60 + 11
KEPT_SCENES = ("idle-cores-of-a-contributor", "idle-cores-over-and-gone", "no-cluster")


def message_of(event, table, environment=ENVIRONMENT, now_s=FIRED_S):
    """Return the message about *event*."""
    return notify(
        read_transition(event), table, environment, lambda *_: None, now_s, printer=lambda _: None
    ).message


def scene_message(name):
    """Return the message of one scene."""
    event, table = play(name)
    now_s = AT_OVER_S if "over" in name or "no-data" in name or "muted" in name else FIRED_S + 1
    return message_of(event, table, now_s=now_s)


def idle_text(line):
    """Return the text of a message about idle cores, for a rollup."""
    return message_of(of_an_alarm(), table_with(line)).text


def shown(name):
    """Return the message of one scene as its golden file shows it, below the scene's name."""
    message = scene_message(name)
    attributes = ", ".join(
        f"{key}={value if isinstance(value, str) else ' or '.join(value)}"
        for key, value in message.attributes.items()
    )
    head = f"Subject: {message.subject}\nSMS: {message.sms}\nAttributes: {attributes}\n\n"
    return f"=== {name}\n{head}{message.text}"


def test_the_messages_read_as_they_did(golden):
    """Subject, SMS, attributes and text of each scene are those of the golden file."""
    golden(MESSAGES / "texts.txt", "".join(map(shown, sorted(MESSAGE_SCENES))))


def test_the_forms_for_chat_and_programs_read_as_they_did(golden):
    """
    The forms for chat and programs, which the how-to pages show, are those of the golden files.
    """
    event, table = play("idle-cores-of-a-contributor")
    sent = []
    environment = replace(ENVIRONMENT, chat_topic_arn=f"{ENVIRONMENT.alarm_topic_arn}-chat")
    notify(
        read_transition(event),
        table,
        environment,
        lambda *call: sent.append(call),
        FIRED_S + 1,
        printer=lambda _: None,
    )
    (_, people), (_, chat) = sent
    document = json.loads(json.loads(people.body)["https"])
    for name, payload in (
        ("chat", json.loads(chat.body)),
        ("webhook", {member: value for member, value in document.items() if member != "Rollup"}),
    ):
        golden(MESSAGES / f"{name}.json", json.dumps(payload, indent=2) + "\n")


def test_without_a_dashboard_the_evidence_is_the_alarm():
    """If Dashboard is false, a message links to its alarm and to no dashboard."""
    event, table = play("idle-cores")
    message = message_of(event, table, replace(ENVIRONMENT, dashboard=""))
    assert "#alarmsV2:alarm/neuron-emf-" in message.text
    assert "dashboard" not in message.text
    assert {"Dashboard", "DashboardAddress"}.isdisjoint(json.loads(message.document))


def line_of(name):
    """Return the message of one scene and the line that explain prints about it."""
    event, table = play(name)
    lines = []
    outcome = notify(
        read_transition(event), table, ENVIRONMENT, lambda *_: None, FIRED_S, printer=lines.append
    )
    (line,) = lines
    return outcome.message, line


@pytest.mark.parametrize("name", MESSAGE_SCENES)
def test_a_message_is_a_line_that_no_function_reads(name):
    """The line of a message has a documented Kind and no member that the subscription matches."""
    message, line = line_of(name)
    assert OtherRecord(MESSAGE_KIND) == parse(line)
    assert "CoveredSeconds" not in line
    document = json.loads(line)
    assert [] == undocumented(document)
    assert message.subject == document["Subject"]
    assert message.text == document["Text"]
    assert document["State"] in {"ALARM", "OK", "NO DATA"}
    metrics = message.attributes["Metric"]
    assert document["Metrics"] == ([metrics] if isinstance(metrics, str) else list(metrics))


def test_a_line_has_the_members_that_it_always_had():
    """The line of a message keeps its members and their types; its words may change."""
    kept = (WIRE / "messages.lines.jsonl").read_text(encoding="utf-8").splitlines()
    for name, line in zip(KEPT_SCENES, map(json.loads, kept), strict=True):
        document = json.loads(line_of(name)[1])
        assert {member: type(value) for member, value in line.items()} == {
            member: type(document.get(member)) for member in line
        }
        assert line["State"] == document["State"]


WORKING = {
    "uses 16 of 24": {"AllocatedCores": 24, "BusyCores": 16},
    "low activity": {"Executions": 80},
    "63 of 64 without a busy core": {"Siblings": 64, "IdleSiblings": 63},
}


@pytest.mark.parametrize("words", WORKING)
def test_who_works_gets_no_words_of_an_idle_one(words):
    """No message asks an owner that works to stop, or names it before an idle owner."""
    works = row("ml/a-0", 8, 90.0, **WORKING[words], FullyIdleMinutes=None)
    owners = [{"Cores": "0-7", "Name": "ml/a-0"}]
    where = entry("a" * 8 + "b" * 24, 90.0, Owners=owners)
    text = idle_text(of([works], where))
    assert words in text.splitlines()[0]
    assert "Do not stop it: " in text
    assert "Next step: none" in text
    for phrase in ("no execution since", "used none", " ask ", "it may be compiling"):
        assert phrase not in text
    both = idle_text(of([works, row("slurm:7 ada", 1, 0.5)], where))
    assert both.startswith("training: Slurm job 7 (ada) has not used its core for 1 h 1 min, ")
    assert f"next: ml/a-0 8 ({words}" in both


@pytest.mark.parametrize(
    ("minutes", "expected"), [(15, "has used none of its 4 cores for 15 min"), (14, "has 4 cores")]
)
def test_only_who_is_fully_idle_has_used_none(minutes, expected):
    """
    An owner has used no core only after IdleAfterMinutes, because it may execute again before.
    """
    idle = row("ml/a-0", 4, 1.0, FullyIdleMinutes=minutes)
    assert f"training: pod ml/a-0 {expected}" in idle_text(of([idle]))


def test_most_avoidable_comes_first():
    """
    An owner alone on its instance comes before an owner with more cores on instances that work.
    """
    shared = entry("a" * 16 + "b" * 16, 10.75, SECOND, Owners=[{"Cores": "0-15", "Name": "ml/a"}])
    alone = entry("aa", 0.76, Owners=[{"Cores": "0-1", "Name": "ml/b"}])
    text = idle_text(of([row("ml/a", 16, 10.75), row("ml/b", 2, 0.76)], shared, alone))
    assert text.startswith("training: pod ml/b has used none of its 2 cores")


@pytest.mark.parametrize(("gone", "works"), [(True, False), (False, False), (True, True)])
def test_cores_assigned_to_another_owner_cannot_wait(gone, works):
    """
    Cores assigned to another owner come first, whatever they cost. Only an idle process whose pod
    is gone is to be ended.
    """
    line = waiting(gone=gone)
    if works:
        line["TopIdleInstances"][1]["Holders"][0]["LastExecution"] = line["Minute"]
    text = idle_text(line)
    assert text.startswith("training: 2 cores assigned to pod ml/trainer-b-0 are held by ")
    assert "Do not wait: pod ml/trainer-b-0 has not opened them and may fail to start." in text
    is_ended = gone and not works
    assert is_ended is ("Next step: end its process only if " in text)
    assert "; process 4242 (python3, started 2026-11-20 22:13 UTC)" in text
    assert is_ended is ("Next step: ask team ml" not in text)
    assert "3. A shell on it:" in text
    assert "ps -o pid,lstart,comm -p 4242" in text


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("asking for 16 cores frees 4 devices.", {}),
        (
            "asking for 18 cores frees 3 devices.",
            {"AttachedCores": "16-23", "Owners": [{"Cores": "0-21", "Name": "unit:jupyter-ada"}]},
        ),
        ("none of its devices is fully idle", {"NeuronCores": 512}),
        ("fewer cores may be enough.", {"NeuronCores": None}),
        ("fewer cores may be enough.", {"InstanceType": "odd"}),
    ],
)
def test_only_fully_idle_devices_can_be_released(expected, changes):
    """Only fully idle devices can be released: a core of another owner keeps its device."""
    first = {**PART_ROLLUP["TopIdleInstances"][0], **changes}
    first = {name: value for name, value in first.items() if value is not None}
    assert expected in idle_text({**PART_ROLLUP, "TopIdleInstances": [first]})


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ("cn-north-1", "https://cn-north-1.console.amazonaws.cn/cloudwatch/"),
        ("us-gov-west-1", "https://us-gov-west-1.console.amazonaws-us-gov.com/cloudwatch/"),
    ],
)
def test_the_console_of_each_partition(region, expected):
    """Links use the consoles of China and GovCloud in their regions."""
    event, table = play("idle-cores")
    message = message_of({**event, "region": region}, table)
    assert f"Evidence: {expected}" in message.text
    assert f" --region {region}\n" in message.text


def between_markers(name):
    """Return a function that finds the text between two markers."""
    return re.compile(f"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)


NOTIFICATIONS_PAGE = MESSAGE_DOCS / "how-to" / "notifications.md"


def test_the_page_names_each_member_of_a_message():
    """The page names each member of the JSON form except those of the rollup."""
    page = NOTIFICATIONS_PAGE.read_text(encoding="utf-8")
    sent = (MESSAGES / "webhook.json").read_text("utf-8")
    assert [] == [name for name in (*json.loads(sent), "Rollup") if f"`{name}`" not in page]


def test_the_event_of_the_page_is_one_that_explain_takes():
    """The event on the page produces a message."""
    block = between_markers("event").search(NOTIFICATIONS_PAGE.read_text(encoding="utf-8"))[0]
    transition = read_transition(json.loads(block.strip("`json\n")))
    assert ALARMS["IdleCores"] == find_subject(transition.metrics)
    assert "training" == transition.cluster
    assert "ALARM" == transition.state
    assert notification.is_news(transition)


def test_the_reader_of_the_page_reads_both_kinds_of_messages():
    """
    The page's reader reads explain's messages and CloudWatch's own, and skips a subscription
    confirmation.
    """
    block = between_markers("reader").search(NOTIFICATIONS_PAGE.read_text(encoding="utf-8"))[0]
    namespace = {}
    exec(block.removeprefix("```python\n").removesuffix("```\n"), namespace)

    def read(message, message_type="Notification"):
        envelope = {"Type": message_type, "MessageId": "1", "TopicArn": "arn", "Message": message}
        return namespace["read"](json.dumps(envelope))

    sent = (MESSAGES / "webhook.json").read_text(encoding="utf-8")
    alarm, cluster, state, text = read(sent)
    assert "training" == cluster
    assert "ALARM" == state
    assert text.startswith("training: pod ml/llama-70b-0 (team ml) has used none of its 16 cores")
    assert alarm == json.loads(sent)["Alarm"]
    of_cloudwatch = {"AlarmName": "a", "NewStateValue": "ALARM", "NewStateReason": "why"}
    assert ("a", None, "ALARM", "why") == read(json.dumps(of_cloudwatch))
    assert read("", "SubscriptionConfirmation") is None
