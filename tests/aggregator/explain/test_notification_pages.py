"""What the how-to pages on messages show is what is sent; their reader and their filters work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.docs.shown_blocks import files_of

ROOT = Path(__file__).parents[3]
HOW_TO, REFERENCE = ROOT / "docs" / "how-to", ROOT / "docs" / "reference"
PAYLOADS = ROOT / "tests" / "data" / "messages"
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
    return json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))


def between(name):
    """What finds the text between the markers of a name."""
    return re.compile(f"(?<=<!-- {name} -->\\n).*?(?=<!-- /{name} -->)", re.DOTALL)


def test_the_page_on_webhooks_shows_the_message_that_review_has_read(golden):
    """`--update-golden` puts it onto the page."""
    page, text = HOW_TO / "webhook.md", (PAYLOADS / "webhook.json").read_text(encoding="utf-8")
    written = between("webhook").sub(lambda _: f"```json\n{text}```\n", page.read_text("utf-8"))
    golden(page, written)


def envelope(message, kind="Notification"):
    """What SNS posts, with the members that its documentation lists."""
    return json.dumps({"Type": kind, "MessageId": "1", "TopicArn": "arn", "Message": message})


def test_the_reader_of_the_page_reads_both_kinds_of_messages():
    """Those of explain and those of CloudWatch; a confirmation is none."""
    block = between("reader").search((HOW_TO / "webhook.md").read_text(encoding="utf-8"))[0]
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
            if not any(passes(one, body) for one in rules):
                return False
        elif isinstance(rules, dict):
            if not isinstance(body.get(name), dict) or not passes(rules, body[name]):
                return False
        elif not any(
            one["exists"] == (name in body) if isinstance(one, dict) else one == body.get(name)
            for one in rules
        ):
            return False
    return True


@pytest.mark.parametrize(("policy", "name"), [("team", "webhook"), ("team-chat", "chat")])
def test_a_filter_on_the_body_keeps_the_alarms_on_the_pipeline(policy, name):
    """One's own cluster passes, another's does not, and CloudWatch's own message does."""
    found = json.loads(files_of(REFERENCE / "messages.md")[f"{policy}.json"])
    own = payload(name)
    other = json.loads(json.dumps(own).replace('"training"', '"serving"'))
    assert [True, False, True] == [passes(found, one) for one in (own, other, OF_CLOUDWATCH)]
