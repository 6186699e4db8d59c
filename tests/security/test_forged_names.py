"""
Hostile names in messages, digests, tables, commands and queries.

The tests use the real intake, close and explain, from the log line to the message.
"""

from __future__ import annotations

import io
import json
import re
import shlex
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from aggregator.digest.function import digest_message
from aggregator.explain.chat import chat_message
from aggregator.explain.event import ALARM_SUBJECTS, read_transition
from aggregator.explain.notification import notify
from aggregator.explain.topic import attribute_value
from aggregator.rollups.rollup_line import MAX_ROLLUP_BYTES
from neuron_accounts.now import cluster_now
from neuron_emf.top.listing import answer_of_files, parts_of
from neuron_wire.extraction import violations
from neuron_wire.holders import Holder
from neuron_words import name_words
from neuron_words.now_words import unpriced_words
from proof.factories.records import MINUTE, record
from tests.aggregator.digest.test_digest import row, week_of
from tests.aggregator.explain.alarm_events import ENVIRONMENT, of_a_contributor
from tests.aggregator.memory_stack import MINUTE_END_S, MemoryStack
from tests.stack.catalogue_names import unknown_names

SPECIAL_LETTERS = '`$\\|<>[]{}";&'
COPIED = re.compile(r"[1-4]\. [A-Z][A-Za-z, ]+[:?] +")  # a command, after its purpose
FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
ASCII = [
    "=cmd|'/C calc'!A0",
    "@SUM(1+1)*cmd|'/C calc'!A0",
    "  +1-1",
    "-2+3+cmd",
    "$(reboot)",
    "`reboot`",
    "'; rm -rf / #",
    '" | fields @message | "',
    "' or ClusterName like /.*/ or ClusterName = '",
    "a\\",
    "\\\"'",
    "</pre><script>alert(1)</script>",
    "[free](http://evil.example)",
    "<!channel> <http://evil.example|click>",
    "https://evil.example/?",
    "${AWS::StackName}",
    "%s %n {0} {}",
    "../../etc/passwd",
    "#" * 100,
    "!first",
    "a b",
    ".",
]
WIDE = [
    "\u202egnp.exe",
    "\x1b]8;;http://evil.example\x07click\x1b\\",
    "\x1b[2Jgone",
    "\x9b31m",
    "a\nALARM: run this",
    "\uff1dHYPERLINK",
    "\u200bhidden",
    "caf\u00e9/\u65e5\u672c",
]
FORGED_NAMES = st.text(
    st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=60
).filter(str.strip) | st.sampled_from(ASCII)
OTHER_NAMES = FORGED_NAMES | st.sampled_from(WIDE) | st.text(min_size=1, max_size=60)


def message_and_line(metric, cluster, instance, holder, tag):
    """Return the message about a minute with these names, and the line of its rollup."""
    stack = MemoryStack()
    idle = {"core_state": "aa", "utilization_percent": (0.0, 0.0), "idle_minutes": (90, 90)}
    minute_record = record(
        cluster=cluster,
        instance_id=instance,
        holders=(Holder("0-1", holder, 7, tag),),
        ecc_uncorrected_rise=3,
        **idle,
    )
    still = record(cluster=cluster, minute=MINUTE + 7, instance_id="i-0c3f5a7b9d1e2f4a6", **idle)
    stack.deliver(MINUTE_END_S, minute_record)
    stack.close(MINUTE_END_S + 50)
    if metric == "SilentInstances":
        stack.deliver(MINUTE_END_S + 420, still)
        stack.close(MINUTE_END_S + 420 + 50)
    event = of_a_contributor(metric, cluster=cluster)
    message = notify(
        read_transition(event), stack.table, ENVIRONMENT, lambda *_: None, stack.now_s
    ).message
    return message, stack.printed[-1]


def texts(value):
    """Return every text in a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def prose(message):
    """Return the text that people read, without the text that they copy."""
    return [line for line in message.text.split("\n") if not COPIED.match(line)]


def special(lines):
    return Counter(letter for line in lines for letter in line if letter in SPECIAL_LETTERS)


@given(
    st.sampled_from(sorted(ALARM_SUBJECTS)), FORGED_NAMES, FORGED_NAMES, OTHER_NAMES, OTHER_NAMES
)
def test_whatever_the_names_are(metric, cluster, instance, holder, tag):
    """Names of any text that a line can have are harmless in a message."""
    assert_only_text(metric, cluster, instance, holder, tag)


def assert_only_text(metric, cluster, instance, holder, tag):
    message, line = message_and_line(metric, cluster, instance, holder, tag)
    plain, _ = message_and_line(metric, "training", "i-name", "holder", "tag")
    assert special(prose(plain)) == special(prose(message))
    for shown in [*message.text.split("\n"), message.subject, message.sms]:
        assert shown.isprintable()
        assert not shown.lstrip().startswith(FORMULAS)
        assert "://evil" not in shown or COPIED.match(shown)
    document = json.loads(message.document)
    for text in texts(document):
        assert not text.lstrip().startswith(FORMULAS)
    assert [] == unknown_names(document["Query"])
    for typed in [word for word in message.text.split("\n") if COPIED.match(word)]:
        command = COPIED.sub("", typed)
        assert not set(command) & set("`\\;$&<>")
        if shlex.split(command)[0] == "aws":
            assert set(command.split()) & {
                "describe-tags",
                "start-session",
                "describe-services",
                "describe-instance-status",
                "list-tasks",
            }
    assert [] == violations(line)
    assert len(line.encode()) <= MAX_ROLLUP_BYTES
    assert cluster == json.loads(line)["ClusterName"]


def test_an_attribute_has_the_name_itself():
    """
    An attribute has the unchanged name, because a subscription filters by it and no person reads
    it.
    """
    message, _ = message_and_line("IdleCorePercent", "=1+1", "i-name", "holder", "tag")
    assert "=1+1" == message.attributes["ClusterName"]
    assert "'=1+1" == json.loads(message.document)["ClusterName"]


@given(
    st.lists(FORGED_NAMES | st.sampled_from(['a"b', "a\\b", "caf\u00e9"]), min_size=1, max_size=4)
)
def test_no_attribute_has_a_quote_or_a_backslash(names):
    """
    No attribute has a quote or backslash, because SNS drops such a message for subscriptions with a
    filter.
    """
    assert not {'"', "\\"} & {*attribute_value(names[0])["StringValue"]}
    several = attribute_value(tuple(names))["StringValue"]
    assert "\\" not in several
    assert not any('"' in name for name in json.loads(several))
    plain = [name for name in names if not {'"', "\\"} & {*name}]
    assert {*plain} <= {*json.loads(several)}


OUR_ADDRESSES = r"us-east-1\.console\.aws|example\.org/docs"
MARKUP_OR_LINK = re.compile(rf"<[^0-9]|://(?!{OUR_ADDRESSES})|[`|\x1b\u202e]|\$\(|\]\(")


def faces(name, folder):
    """Return each text for people about a minute and an hour in which every name is *name*."""
    # a line's cluster and instance have only these characters
    own = name if name in ASCII else "training"
    message, line = message_and_line("IdleCorePercent", own, own, name, name)
    yield from (*prose(message), message.subject, message.sms)
    chat = json.loads(chat_message(message).body)
    chat["content"].pop("nextSteps", None)  # commands, which other tests check
    for text in texts(chat):
        yield from text.split("\n")
    forged = {
        "owner": name,
        "cluster": name,
        "instance_id": name,
        "team": name,
        "region": name,
        "instance_type": name,
    }
    unpriced = {"idle_cost": None, "list_cost": None, "avoidable_cost": None, "basis": None}
    week = week_of([row(**forged, basis=name), row(**forged, **unpriced)])
    digest = digest_message(week, week, "stack", "us-east-1")
    yield from (digest.subject, *digest.body.split("\n"))
    rollup = {**json.loads(line), "UnpricedCores": 2, "UnpricedTypes": [name]}
    yield unpriced_words(cluster_now(rollup))
    path = folder / "rollup.jsonl"
    path.write_text(json.dumps({**rollup, "PricesOverridden": [name]}), encoding="utf-8")
    printed = io.StringIO()
    shown = Console(file=printed, width=500, no_color=True, highlight=False)
    answer = answer_of_files([path], "")
    alarm = {
        "state": "ALARM",
        "title": name,
        "is_pipeline": False,
        "since_ms": None,
        "urgency": "now",
        "contributors": [],
        "description": "Cores are idle.",
        "message": None,
    }
    published = {"text": "\n".join(prose(message)), "cluster": own}
    contributor = {"name": name, "since_ms": 0, "urgency": "today", "message": published}
    explained = {**alarm, "contributors": [contributor]}
    shown.print(*parts_of({**answer, "alarms": [alarm, explained]}), sep="\n")
    yield from printed.getvalue().split("\n")


@pytest.mark.parametrize("name", [*ASCII, *WIDE])
def test_a_name_is_text_on_every_face(name, tmp_path):
    """No text for people has a mention, link, address or control character from a name."""
    for text in faces(name, tmp_path):
        assert not MARKUP_OR_LINK.search(text), text
        assert text.isprintable() or not text.strip()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ml/llama-70b-0", "ml/llama-70b-0"),
        ("O'Brien, 50 % (test) #2", "O'Brien, 50 % (test) #2"),
        ("=cmd|' /C calc'!A0", "'=cmd?' /C calc'!A0"),
        (" -1", "' -1"),
        ("https://evil.example", "https:??evil.example"),
        ("$(reboot)", "?(reboot)"),
        ("\x1b[2J", "??2J"),
        ("\uff1d1", "'\uff1d1"),
    ],
)
def test_an_ordinary_name_is_shown_as_it_is(name, shown):
    """An ordinary name is shown unchanged; only active characters are replaced."""
    assert shown == name_words.safe_name(name)
