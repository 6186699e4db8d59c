"""
The same message in the one form that Amazon Q Developer shows in Slack and Teams.

It is a custom notification, alone in its message: Amazon Q drops plain text and every
other JSON without an error. Its markdown is the chat's own, so addresses stand as they
are, which every chat makes a link of. Fields and limits:
https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from aggregator.explain.message import Publication, attributes_of
from neuron_wire.phrases import iso, printable

if TYPE_CHECKING:
    from aggregator.explain.explanation import Explanation

MAX_TITLE_CHARS: Final = 250
MAX_DESCRIPTION_CHARS: Final = 8000
MAX_STEP_CHARS: Final = 350
MAX_KEYWORD_CHARS: Final = 75
_EVENT_TYPE: Final = "neuron-emf alarm"


def chat_publication(explanation: Explanation) -> Publication:
    """*explanation* for a topic whose only reader is Amazon Q."""
    return Publication(
        json.dumps(_notification(explanation), ensure_ascii=False, separators=(",", ":")),
        attributes_of(explanation),
    )


def _notification(explanation: Explanation) -> dict[str, object]:
    transition = explanation.transition
    title = printable(_silent(explanation.title), MAX_TITLE_CHARS)
    attributes = {
        name: value if isinstance(value, str) else ", ".join(value)
        for name, value in attributes_of(explanation).items()
    }
    content: dict[str, object] = {
        "textType": "client-markdown",
        "title": title,
        "description": _description(explanation),
    }
    steps = [f"{one.label}: `{one.text}`" for one in explanation.finding.commands]
    if fitting := [_silent(one) for one in steps if len(one) <= MAX_STEP_CHARS]:
        content["nextSteps"] = fitting
    keywords = (transition.cluster, explanation.metric, transition.state)
    content["keywords"] = [printable(_silent(one), MAX_KEYWORD_CHARS) for one in keywords if one]
    context = {
        **attributes,
        "Metric": printable(explanation.metric, 256),
        "AlarmName": printable(transition.alarm, 256),
        "Since": iso(1000 * transition.at_s),
        "Region": transition.region,
    }
    fact = explanation.told_metrics and f"{explanation.dashboard} {explanation.told_metrics}"
    return {
        "version": "1.0",
        "source": "custom",
        "id": _digest(transition.identity),
        "content": content,
        "metadata": {
            "threadId": _digest(
                f"{fact or transition.alarm_arn or transition.alarm}\n{transition.cluster}"
            ),
            "summary": title,
            "eventType": _EVENT_TYPE,
            "relatedResources": [printable(transition.alarm_arn, 512)] * bool(transition.alarm_arn),
            "additionalContext": {name: value for name, value in context.items() if value},
        },
    }


def _description(explanation: Explanation) -> str:
    """What is known, then where to read on: the places stay when the rest is cut."""
    end = "".join(f"\n{place}" for place in explanation.places)
    text = "\n".join([*explanation.sentences, *explanation.last_sentences])
    room = MAX_DESCRIPTION_CHARS - len(end)
    return _silent(text if len(text) <= room else text[: room - 3] + "...") + end


def _silent(text: str) -> str:
    """*text* that calls nobody: `<!channel>` in the name of an alarm would wake a whole channel."""
    return text.replace("<", "?")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
