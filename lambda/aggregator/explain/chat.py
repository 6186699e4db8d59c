"""
A message for Slack and Teams: a custom notification of Amazon Q Developer.

The message contains nothing else, because Amazon Q drops plain text and every other JSON without an
error. Its markdown is the chat's own, so addresses are written in full, which every chat makes a
link. Fields and limits: https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aggregator.explain.explanation import LONGEST_ARN, MAX_RESOURCE_NAME_CHARS, compact_json
from aggregator.explain.topic import TopicMessage
from neuron_accounts.findings import fingerprint
from neuron_words.name_words import printable, safe_name
from neuron_words.quantity_words import iso

if TYPE_CHECKING:
    from aggregator.explain.explanation import Explanation
    from neuron_wire.line_members import Members

MAX_TITLE_CHARS: Final = 250
MAX_DESCRIPTION_CHARS: Final = 8000
MAX_STEP_CHARS: Final = 350
MAX_KEYWORD_CHARS: Final = 75
_MENTION: Final = re.compile("<(?![0-9])")


def chat_message(explanation: Explanation) -> TopicMessage:
    """Return *explanation* for a topic whose only reader is Amazon Q."""
    return TopicMessage(compact_json(_notification(explanation)), explanation.attributes)


def _notification(explanation: Explanation) -> Members:
    transition = explanation.transition
    title = printable(_without_mentions(explanation.title), MAX_TITLE_CHARS)
    content: Members = {
        "textType": "client-markdown",
        "title": title,
        "description": _description(explanation),
    }
    steps = [f"{command.purpose}: `{command.text}`" for command in explanation.summary.commands]
    if fitting := [_without_mentions(step) for step in steps if len(step) <= MAX_STEP_CHARS]:
        content["nextSteps"] = fitting
    words = filter(None, (transition.cluster, explanation.metric, transition.state))
    content["keywords"] = [safe_name(word, MAX_KEYWORD_CHARS) for word in words]
    context = {
        name: value if isinstance(value, str) else ", ".join(value)
        for name, value in explanation.attributes.items()
    }
    context |= {
        "Metric": explanation.metric,
        "AlarmName": transition.alarm,
        "Since": iso(1000 * transition.at_s),
        "Region": transition.region,
    }
    covered = explanation.evidence.subject.covered_metrics
    fact = f"{explanation.environment.stack_name}-{transition.region} {covered}" if covered else ""
    thread = f"{fact or transition.alarm_arn or transition.alarm}\n{transition.cluster}"
    arn = safe_name(transition.alarm_arn, LONGEST_ARN)
    return {
        "version": "1.0",
        "source": "custom",
        "id": fingerprint(transition.identity),
        "content": content,
        "metadata": {
            "threadId": fingerprint(thread),
            "summary": title,
            "eventType": "neuron-emf alarm",
            "relatedResources": [arn] if arn else [],
            "additionalContext": {
                name: safe_name(value, MAX_RESOURCE_NAME_CHARS)
                for name, value in context.items()
                if value
            },
        },
    }


def _description(explanation: Explanation) -> str:
    """Return the known facts, then links: the links stay if the rest is cut."""
    end = "".join(f"\n{place}" for place in explanation.places)
    text = "\n".join([*explanation.sentences, *explanation.last_sentences])
    room = MAX_DESCRIPTION_CHARS - len(end)
    return _without_mentions(text if len(text) <= room else text[: room - 3] + "...") + end


def _without_mentions(text: str) -> str:
    """Return *text* without mentions: `<!channel>` would wake a whole channel; `<1 %` stays."""
    return _MENTION.sub("?", text)
