"""The breakdown adds up to the fleet and to the ledger, and never shows a part as the whole."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_accounts.core_time import CoreTime
from neuron_accounts.ledger import USD_PLACES
from neuron_accounts.teams import TeamRules
from neuron_accounts.then import OwnerKey, Then, TypeKey, summary_key
from neuron_emf.page.amounts import ROLLUP_UNIT, Amounts
from neuron_emf.page.ranges import RANGES, SettledHours, span_of
from neuron_emf.reading.ledger_bucket import LedgerBucket, rows
from neuron_emf.reading.periods import gaps
from neuron_emf.reading.rollup_lines import RollupLines
from neuron_emf.report.collection import then_by_days
from neuron_wire.names import HOUR_MS, MINUTE_MS, PLACEHOLDER_OWNERS
from neuron_words.now_words import NO_OWNERS
from tests.neuron_emf.fake_account import FakeLedgerObjects
from tests.neuron_emf.page.page_account import PAGE_NOW_S, PAGE_START_MS, ledger_of, line, view_of
from tests.neuron_emf.page.test_page_state import FEW, evaluate

GROUPS = ("owner", "team", "cluster", "type", "instance")
JOB = "slurm:4711 ml-user"
TRN1 = "i-06f58c76ba1c4c2e7"


@pytest.fixture
def settled(view, hour, monkeypatch):
    """Return the view of an account with a ledger."""
    monkeypatch.setattr("neuron_emf.page.ranges.stack_ledger", ledger_of(hour))
    return view


def asked(view, *, period="1h", cluster="", **choice):
    """Return the rows of the breakdown, which the page adds up from the server's answers."""
    answers = {
        "choice": {"group": "owner", "cluster": cluster, "team": "", "owner": "", **choice},
        "now": view.now({"cluster": cluster}),
        "instances": view.cores({"cluster": cluster})["instances"],
        **view.reads["/amounts.json"]({"range": period}),
    }
    expression = "page.rowsOf(one.choice, one.now, one.instances, one.amounts)"
    return evaluate(expression, [answers], "groups.js")[0]


def sum_of(answer, member):
    """Return the sum of the known values of all rows."""
    return pytest.approx(sum(row[member] or 0 for row in answer["rows"]))


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("period", ["1h", "7d"])
def test_rows_of_every_group_add_up_to_the_total(settled, group, period):
    """
    In every group, rows add up to the total: idle cores, their price, and the amount of the range.
    """
    answer = asked(settled, group=group, period=period)
    total = answer["total"]
    assert sum_of(answer, "idle_cores") == total["idle_cores"]
    assert pytest.approx(total["usd"]) == sum(row["usd"] for row in answer["rows"])
    assert pytest.approx(29.8548, abs=1e-4) == total["usd"]
    assert pytest.approx(46.0) == total["idle_core_hours"]


@pytest.mark.parametrize("group", GROUPS)
def test_page_and_report_agree_over_the_same_hours(settled, hour, group):
    """The amount of settled hours equals that of the report's rows, to the last digit."""
    payloads = [
        (PAGE_START_MS // HOUR_MS, payload)
        for key, payload in hour.ledger.items()
        if "/part=" in key
    ]
    reported = then_by_days(rows(payloads), TeamRules())[0].total.idle_cost
    shown = asked(settled, group=group, period="30d")["total"]["usd"]
    assert reported == round(shown * 10**USD_PLACES)


HOURS = st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 9), min_size=9, max_size=9))


@given(st.lists(HOURS, min_size=1, max_size=6))
def test_hours_add_up_whatever_their_owners_are(hours):
    """Idle time, price and time without a price are exact, with equal and with other owners."""
    payloads = {}
    expected = defaultdict(lambda: [0, 0, 0])
    for number, owners in enumerate(hours):
        then = Then()
        for owner, (unpriced, *parts) in owners.items():
            time = CoreTime(unpriced_idle=unpriced, idle_by_part=parts[:4], cost_by_part=parts[4:])
            then.owners[OwnerKey(owner, "research", None)] = time
            then.cluster_types.setdefault(TypeKey("trn1.2xlarge", "research"), CoreTime())
            for place, value in enumerate((sum(parts[:4]), sum(parts[4:]), unpriced)):
                expected[owner, "research", None][place] += value
        payloads[number] = then.summary()
    amounts = Amounts()
    amounts.fold_summaries(payloads)
    assert expected == amounts.tables["Owners"]


@given(st.sets(st.integers(0, 70), min_size=1, max_size=6), st.sets(st.integers(0, 70), max_size=3))
def test_a_period_is_the_sum_of_its_settled_hours(hour, first, later):
    """
    A period of several days equals the sum of its hours, also after more are settled; each is read
    once.
    """
    newest = PAGE_START_MS // HOUR_MS
    payload = hour.ledger[summary_key(newest)]
    objects = {summary_key(newest - place): payload for place in first}
    clock = [newest * HOUR_MS]
    with pytest.MonkeyPatch.context() as patch:
        bucket = LedgerBucket(None, "ledger", FakeLedgerObjects(objects))
        patch.setattr("neuron_emf.page.ranges.stack_ledger", lambda _: bucket)
        ledger = SettledHours(None, lambda: clock[0])
        for places in (first, first | later):
            objects.update({summary_key(newest - place): payload for place in places})
            period = ledger.read_period(range(newest - 70, newest + 1))
            assert {newest - place for place in places} == period.settled
            owners = period.tables["Owners"].values()
            assert len(places) * 29_854_780_082 == sum(cost for _, cost, _ in owners)
            assert len(places) * 2 == len(period.cells)
            clock[0] += 10 * MINUTE_MS


def test_a_range_that_is_not_read_has_no_amounts_until_it_is(view):
    """
    A range that was not read has no amounts and names its calls. Each step leaves fewer calls.
    """
    answer = view.reads["/amounts.json"]({"range": "24h"})
    assert None is answer["amounts"]
    assert {None} == {row["usd"] for row in asked(view, period="24h")["rows"]}
    minutes = [answer["reading"]["minutes"]]
    assert answer["reading"]["calls"] >= 1
    while reading := view.runs["/read.json"]({"range": "24h"})["reading"]:
        minutes.append(reading["minutes"])
    assert sorted(minutes, reverse=True) == minutes
    assert 29.85 == round(asked(view, period="24h")["total"]["usd"], 2)


def test_without_rollups_no_range_has_an_amount(view, looked_at):
    """
    Without rollups the page shows idle cores from minute lines, and their cost is unknown, not 0.
    """
    looked_at.rules.groups.pop(looked_at.rollups_group)
    assert "stack" == view.now({})["problem"]["kind"]
    answer = asked(view)
    assert 60 == answer["total"]["idle_cores"]
    assert {None} == {row["usd"] for row in (*answer["rows"], answer["total"])}
    assert None is asked(view, team="absent")["total"]["usd"]


def test_a_filter_shows_what_it_names(settled):
    """A team or owner filter is exact for owners, and shows whole instances with a note."""
    answer = asked(settled, team="ml")
    assert [JOB, "ml/trainer-0/main"] == [row["owner"] for row in answer["rows"]]
    assert pytest.approx(22.2582) == answer["total"]["usd_per_hour"]
    answer = asked(settled, group="instance", owner=JOB)
    assert [TRN1] == [row["instance"] for row in answer["rows"]]
    assert "whole instances" in answer["notes"][0]


def test_cards_of_a_team_are_those_of_its_cores(view):
    """Utilization is the mean of the team's known cores, and other clusters with it are named."""
    instances = view.cores({})["instances"]
    case = {"now": view.now({"cluster": "research"}), "instances": instances}
    choice = {"cluster": "research", "owner": "", "team": "ml"}
    for owner, percent in ((JOB, 0), ("", None)):
        chosen = {**choice, "owner": owner}
        (shown,) = evaluate(
            f"page.utilizationOf(one.instances, {json.dumps(chosen)})", [case], "groups.js"
        )
        if percent is not None:
            assert {"percent": percent, "cores": 32} == shown
        assert shown["cores"] >= 32
    expression = 'page.clustersElsewhere({cluster: "research", team: "search"}, one.now)'
    (elsewhere,) = evaluate(expression, [case], "groups.js")
    assert ["serving"] == elsewhere


@pytest.mark.parametrize(
    ("choice", "cores"),
    [({"team": "ml"}, 12), ({"team": "ml", "cluster": "b"}, 8), ({"owner": JOB}, 8)],
)
def test_a_team_may_have_the_cores_of_owners_without_a_name(choice, cores):
    """A card names how many cores of `[others]` may belong to the selected team or owner."""
    rows = [(JOB, "a", 2), ("[others]", "a", 4), ("[others]", "b", 8)]
    owners = [{"owner": owner, "cluster": cluster, "cores": idle} for owner, cluster, idle in rows]
    whole = json.dumps({"cluster": "", "owner": "", "team": "", **choice})
    (unnamed,) = evaluate(f"page.unnamedCores({whole}, one)", [{"owners": owners}], "groups.js")
    assert cores == unnamed


def test_words_of_placeholders_are_those_of_messages():
    """The page names placeholders as messages and commands do."""
    (shown,) = evaluate("page.PLACEHOLDERS", [None], "groups.js")
    assert {**NO_OWNERS, "[unknown]": "Unknown", "[no team]": "No team"} == shown
    assert PLACEHOLDER_OWNERS < shown.keys()


def test_a_holder_that_is_gone_is_marked(view):
    """A holder is marked if its pod is gone and another pod waits for its cores."""
    (row,) = [row for row in asked(view)["rows"] if row["owner"] == "search/ranker-0/server"]
    assert row["is_gone"]
    assert "assigned to search/ranker-1/server" in row["cannot_wait"]
    assert "its pod is gone" in row["marks"]


def test_a_row_has_commands_about_its_owner_and_instances(view):
    """Commands show the state of the job and of its instances; a false instance ID has none."""
    query = {"cluster": "research", "owner": JOB, "instances": f"{TRN1},$(reboot)"}
    texts = [command["text"] for command in view.commands(query)["commands"]]
    assert "scontrol show job 4711" in texts
    assert TRN1 in " ".join(texts)
    assert "reboot" not in " ".join(texts)


def items_of(read, group):
    """Return the sums of the rows of *group*, and whether the sum of each row is complete."""
    amounts = Amounts()
    for rollup in read.rollups(0):
        amounts.fold_rollup(rollup)
    expression = f'page.amountsOf({{group: "{group}", cluster: ""}}, one)'
    (found,) = evaluate(expression, [amounts.answer(ROLLUP_UNIT)], "groups.js")
    return found["items"], found["isWhole"]


def idle_line(minute, listed, count):
    """Return a rollup with two owners and *listed* of *count* idle instances."""
    owners = [
        {"Owner": "a", "Team": "t", "Cores": 2, "UsdPerHour": 1.5},
        {"Owner": "b", "Cores": 1},
    ]
    instances = [
        {"InstanceId": f"i-{number}", "InstanceType": "trn1.2xlarge", "IdleCores": 1}
        for number in range(listed)
    ]
    return line(
        "research",
        minute,
        TopIdleOwners=owners,
        TopIdleInstances=instances,
        IdleInstanceCount=count,
    )


@FEW
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=5))
def test_an_instance_that_is_not_always_listed_has_no_amount(minutes):
    """If any rollup lists only a part of a cluster's idle instances, only their sum is known."""
    read = RollupLines()
    read.fold_lines(
        idle_line(minute, min(listed, count), count)
        for minute, (listed, count) in enumerate(minutes)
    )
    items, is_whole = items_of(read, "instance")
    assert all(listed >= count for listed, count in minutes) == is_whole
    assert pytest.approx(len(minutes) * 3 / 60) == sum(item["idle_core_hours"] for item in items)
    if not is_whole:
        assert ["[others]"] == [item["instance"] for item in items]


@FEW
@given(st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_a_type_has_an_amount_only_if_all_idle_cores_have_a_type(listed):
    """
    A type has an amount only if all idle cores have a type; otherwise a part would look complete.
    """
    read = RollupLines()
    read.fold_lines(idle_line(minute, count, count) for minute, count in enumerate(listed))
    items, is_whole = items_of(read, "type")
    assert ({3} == {*listed}) == is_whole
    (item,) = items
    assert ("trn1.2xlarge" if is_whole else "[others]") == item["instance_type"]
    assert pytest.approx(len(listed) * 3 / 60) == item["idle_core_hours"]


def test_cores_without_a_price_are_in_no_amount():
    """An owner without any price has no amount, not 0."""
    read = RollupLines()
    read.fold_lines([idle_line(0, 0, 0)])
    items, _ = items_of(read, "owner")
    assert {"a": 1.5 / 60, "b": None} == {item["owner"]: item["usd"] for item in items}


@given(st.sampled_from(list(RANGES)), st.sets(st.integers(0, 50)))
def test_gaps_and_known_moments_are_the_range(name, places):
    """A range ends now, and each unknown time is in exactly one gap."""
    x = span_of(name, round(PAGE_NOW_S * 1000)).x
    assert RANGES[name] * MINUTE_MS == x.stop - x.start
    known = {x[place] for place in places if place < len(x)}
    missing = {at for start, stop in gaps(x, known) for at in range(start, stop, x.step)}
    assert {*x} - known == missing


def test_a_stack_without_a_ledger_is_named(view):
    """Without a ledger the cards have no comparison, and a sentence says why."""
    answer = view.reads["/charts.json"]({"range": "1h"})
    assert "DescribeStacks" in answer["ledger"]
    assert {} == answer["before"]
    (idle,) = (chart["all"] for chart in answer["charts"] if chart["id"] == "idle_cores")
    assert 60 == [value for value in idle if value is not None][-1]


def test_yesterday_is_the_same_hour_of_the_ledger(hour, looked_at, monkeypatch):
    """A day after the recorded hour, cards are compared with its mean."""
    monkeypatch.setattr("neuron_emf.page.ranges.stack_ledger", ledger_of(hour))
    clock = PAGE_NOW_S - 600 + 86_400
    before = view_of(lambda: clock).reads["/charts.json"]({"range": "1h"})["before"]
    assert 46.0 == before["yesterday"]["idle_cores"]
    assert 29.85 == round(before["yesterday"]["cost"], 2)
    assert None is before["last_week"]["idle_cores"]
    assert looked_at.operations
