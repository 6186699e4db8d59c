"""`neuron-emf top` prints the page's answer and names unknown values."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from neuron_emf.reading.now_reader import answer_of
from neuron_emf.reading.rollup_lines import RollupLines
from neuron_emf.top import listing
from neuron_emitter.errors import SourceError
from neuron_wire.names import MINUTE_MS
from neuron_words.now_words import URGENCIES
from tests.neuron_emf.page.page_account import PAGE_NOW_S, PAGE_START_MS, filled, line, view_of
from tests.neuron_emf.page.test_page_state import FEW, evaluate

README_FILE = Path(__file__).parents[3] / "README.md"


@pytest.fixture(autouse=True)
def now(monkeypatch):
    """Return the time of every answer."""
    moment = [round(PAGE_NOW_S * 1000)]
    monkeypatch.setattr("neuron_emf.reading.periods.now_ms", lambda: moment[0])
    return moment


def test_one_whole_answer(typed, double, hour, marked):
    """A whole answer equals the README's first screen."""
    filled(double, hour)
    code, out, err = typed("top", "--once")
    assert 0 == code
    assert "" == err
    marked(README_FILE, "now", f"```\n$ neuron-emf top --once\n{out}```\n")


MONEY = st.none() | st.floats(0, 20_000)
CORES = st.none() | st.integers(0, 2_000)
ROLLUPS = st.fixed_dictionaries(
    {
        "IdleCores": CORES,
        "NeuronCores": st.integers(2_000, 4_000),
        "UnknownCores": st.integers(0, 2_000),
        "UnallocatedIdleCores": CORES,
        "IdleCostPerHour": MONEY,
        "AvoidableCostPerHour": MONEY,
        "NeuronCoreUtilization": st.none() | st.floats(0, 100),
        "UnpricedIdleCores": CORES,
    }
)
WORDS_OF_PAGE = {
    "cards.js": "page.wordsOf(one)",
    "status.js": "page.alarmWords(one.alarms, one.cluster)",
    "alarms.js": """[
        ...page.firing(one.alarms).filter((line) => page.isHere(line, one.cluster))
            .map((line) => page.wordsOf(line, one.now_ms)),
        [page.quietWords(one.alarms)],
    ]""",
}


def plain(text):
    """Return *text* without what separates its pieces on a terminal."""
    return " ".join(re.sub("[;,]", " ", text).split())


CLUSTERS = ("research", "serving")
ROWS = st.fixed_dictionaries(
    {
        "name": st.sampled_from([*CLUSTERS, "elsewhere"]),
        "urgency": st.sampled_from(URGENCIES),
        "since_ms": st.none() | st.integers(PAGE_START_MS, PAGE_START_MS + 90 * MINUTE_MS),
        "message": st.sampled_from([None, {"cluster": "serving", "text": "serving: idle.\nMore."}]),
    }
)
ALARMS = st.builds(
    lambda alarm, row: {**row, **alarm, "name": "alarm", "title": "Idle cores"},
    st.fixed_dictionaries(
        {
            "state": st.sampled_from(["ALARM", "OK", "INSUFFICIENT_DATA", "not evaluated"]),
            "description": st.sampled_from(["", "Cores are idle."]),
            "is_pipeline": st.booleans(),
            "contributors": st.lists(ROWS, max_size=3),
        }
    ),
    ROWS,
)


@st.composite
def answers(draw):
    """Draw the answer about two clusters and its alarms."""
    rollups = RollupLines()
    members = draw(ROLLUPS)
    rollups.fold_lines(line(cluster, 58, **members) for cluster in CLUSTERS)
    now_ms = PAGE_START_MS + draw(st.integers(59, 200)) * MINUTE_MS
    answer = answer_of(rollups.now(), draw(st.sampled_from(["", *CLUSTERS])), now_ms)
    alarms = draw(st.lists(ALARMS, max_size=4))
    return {**answer, "stack_name": None, "differences": [], "alarms": alarms}


@FEW
@given(st.lists(answers(), min_size=30, max_size=30))
def test_page_and_top_have_the_same_words(shown):
    """Status, cards and alarms of the page are on the terminal, in the page's order."""
    by_module = [evaluate(js, shown, name) for name, js in WORDS_OF_PAGE.items()]
    for answer, cards, status, firing in zip(shown, *by_module, strict=True):
        file = io.StringIO()
        Console(file=file, width=80, no_color=True).print(*listing.parts_of(answer), sep="\n")
        terminal = plain(file.getvalue())
        at = 0
        for words in (status, *cards, *firing):
            text = plain(" ".join(words))
            assert text in terminal[at:], f"{text!r} is not in its place of {terminal!r}"
            at = terminal.index(text, at) + len(text)


def test_values_that_are_not_reported_are_unknown(typed, double):
    """Values that are not reported are unknown: an account without rollups is not a cheap one."""
    code, out, _ = typed("top")
    assert 0 == code
    assert [] == [word for word in out.split() if word in ("0.00", "0")]
    assert "No rollup in the last 15 minutes" in out
    assert double.operations


def test_names_of_others_fit_and_command_nothing(typed, double):
    """Long names are cut, numbers are not, and no character controls the terminal."""
    names = ["\x1b[31m[b]" + "owner" * 30, "cluster" * 30]
    owners = [
        {
            "Owner": names[0],
            "Team": "t" * 60,
            "Cores": 40,
            "IdleMinutes": 9_999,
            "UsdPerHour": 123_456.78,
            "UnpricedCores": 1,
        }
    ]
    text = line(
        names[1],
        58,
        TopIdleOwners=owners,
        IdleCostPerHour=123_456.78,
        AvoidableCostPerHour=123_456.78,
        PricesAsOf="\x1b[2J",
        PriceRegions=["\u202e"],
    )
    double.put(double.rollups_group, "s", [(PAGE_START_MS + 60 * MINUTE_MS, text)])
    code, out, _ = typed("top", "--once")
    assert 0 == code
    assert out.replace("\n", "").isprintable()
    assert max(map(len, out.splitlines())) <= listing.TERMINAL_COLUMNS
    assert 5 == out.count("123,456.78")
    assert 4 == out.count("…")
    assert "\n  team tttttt…\n" in out


@pytest.mark.parametrize(
    ("cluster", "denied", "said"),
    [
        ("serch", set(), "No cluster of that name in 15 minutes"),
        ("", {"logs:FilterLogEvents"}, "Allow this action in your IAM policy."),
        ("", {"cloudwatch:DescribeAlarms"}, "Allow this action in your IAM policy."),
    ],
)
def test_an_unreadable_answer_ends_with_3(typed, double, cluster, denied, said):
    """An answer that cannot be read is exit code 3, one sentence and no standard output."""
    double.denied |= denied
    code, out, err = typed("top", "--once", "--cluster", cluster)
    assert 3 == code
    assert "" == out
    assert said in err


def test_it_refreshes_until_it_is_stopped(monkeypatch, double, hour):
    """The answer is refreshed until a stop; a later error is shown below the last answer."""
    filled(double, hour)
    file = io.StringIO()
    screen = Console(file=file, width=80, height=50, force_terminal=True, no_color=True)
    monkeypatch.setattr("neuron_emf.command_output.console", lambda: screen)
    answer = listing.answer_of_view(view_of(), "")
    answers = iter([answer, answer, SourceError("AWS does not answer.")])
    waits = iter([False, False, True])
    waited = []

    def ask():
        next_answer = next(answers)
        if isinstance(next_answer, SourceError):
            raise next_answer
        return next_answer

    def is_stopped(seconds):
        waited.append(seconds)
        return next(waits)

    listing.watch(ask, is_stopped)
    assert [listing.EACH_S] * 3 == waited
    *_, last = file.getvalue().split("\x1b[H")
    assert "60 of 134 known cores (45 %)" in last
    assert "AWS does not answer." in last
