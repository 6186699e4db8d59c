"""What docs/reference/messages.md shows is what is sent."""

from __future__ import annotations

import json
import re
from pathlib import Path

from aggregator.explain import notification
from aggregator.explain.event import IDLE_CORES, SUBJECTS, find_subject, read_transition

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "messages.md"
SAMPLE = ROOT / "tests" / "data" / "messages" / "idle-cores.txt"


def between(name):
    """What finds the text between the markers of a name."""
    return re.compile(f"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)


def test_the_sample_is_a_message_that_is_sent(golden):
    """The one that review has read; `--update-golden` puts it onto the page."""
    text = SAMPLE.read_text(encoding="utf-8").split("\n\n", 1)[1]
    page = PAGE.read_text(encoding="utf-8")
    golden(PAGE, between("sample").sub(lambda _: f"```\n{text}```\n", page))


def test_the_event_of_the_page_is_one_that_explain_takes():
    """Who follows the page gets a message."""
    block = between("event").search(PAGE.read_text(encoding="utf-8"))[0]
    transition = read_transition(json.loads(block.strip("`json\n")))
    assert IDLE_CORES == find_subject(transition.metrics)
    assert ("training", "ALARM") == (transition.cluster, transition.state)
    assert notification.is_news(transition)


def test_every_subject_has_a_heading_in_the_runbook():
    """The link at the end of a message leads somewhere."""
    runbook = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    headings = {
        one.lower().replace(" ", "-") for one in re.findall(r"^#+ (.*)$", runbook, re.MULTILINE)
    }
    assert {one.anchor for one in SUBJECTS.values()} <= headings
