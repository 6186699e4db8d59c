"""
An account that the page looks at: the recorded hour on the double of CloudWatch.

What a stack of this hour does not tell yet, who holds idle cores and what of their
cost is avoidable, is reckoned here from the minute lines, without any code of the
stack; where rollup lines tell it, they stay as they are.
"""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import contextmanager

from neuron_emf.account import AccountSettings, account
from neuron_emf.page.alarms import AccountAlarms
from neuron_emf.page.server import PageServer
from neuron_emf.page.settings import PageSettings
from neuron_emf.page.view import PageView
from neuron_wire import parse
from neuron_wire.holders import core_indexes
from neuron_wire.prices import USD_PER_HOUR
from tests.hour import END_S
from tests.neuron_emf.account_doubles import WatchedAccount

NOW_S = END_S + 150.0
"""When the newest minute of the hour has been closed."""

LATE_MS = 110_000  # after the start of its minute a rollup is printed
IDLE_AFTER = 15
SUNK = ("trn2", "trn3")
EXPLAIN_GROUP = "/neuron-emf/neuron-emf/explain"


def told(rollups, lines):
    """*rollups*, each with the owners and the kinds of cost of its idle cores, by *lines*."""
    records = defaultdict(list)
    for text in lines:
        if '"Kind":"minute"' in text:
            record = parse(text)
            records[record.cluster, record.minute_ms].append(record)
    return [_told(text, records) for text in rollups]


def _told(text, records):
    line = json.loads(text)
    if line["Kind"] != "rollup" or "AvoidableCostPerHour" in line:
        return text
    rows = {}
    costs = defaultdict(float)
    whole = 0
    for record in records[line["ClusterName"], line["_aws"]["Timestamp"]]:
        usd = USD_PER_HOUR.get(record.region, {}).get(record.instance_type)
        of_core = None if usd is None else usd / len(record.core_state)
        idle = [
            core for core, minutes in enumerate(record.idle_minutes)
            if minutes >= IDLE_AFTER and record.core_state[core] in "au"
        ]  # fmt: skip
        is_sunk = record.instance_type.startswith(SUNK)
        is_whole = len(idle) == len(record.core_state)
        whole += is_whole and not is_sunk
        held = {
            core: one.name or "[unnamed]"
            for one in record.holders for core in core_indexes(one.cores)
        }  # fmt: skip
        names = set()
        for core in idle:
            is_held = record.core_state[core] == "a"
            name = held.get(core, "[others]") if is_held else "[unallocated]"
            counts = dict.fromkeys(("Cores", "Instances", "IdleMinutes", "UnpricedCores"), 0)
            row = rows.setdefault(name, {"Owner": name, **counts})
            row["Cores"] += 1
            row["Instances"] += name not in names
            names.add(name)
            row["IdleMinutes"] = max(row["IdleMinutes"], record.idle_minutes[core])
            if of_core is None:
                row["UnpricedCores"] += 1
                continue
            row["UsdPerHour"] = row.get("UsdPerHour", 0.0) + of_core
            kind = "Sunk" if is_sunk else "Avoidable" if is_whole else "Shared"
            costs[kind] += of_core
            if kind == "Avoidable" and is_held:
                costs["AvoidableHeld"] += of_core
    order = sorted(rows.values(), key=lambda row: (-row.get("UsdPerHour", 0.0), -row["Cores"]))
    for kind in ("Avoidable", "AvoidableHeld", "Shared", "Sunk"):
        line[f"{kind}CostPerHour"] = round(costs[kind], 6)
    line["WhollyIdleInstances"] = whole
    if order:
        line["TopIdleOwners"] = order
    return json.dumps(line, separators=(",", ":"))


def message(account, logical_id, cluster, text, *, at_s=NOW_S - 600, state="ALARM"):
    """A line of Kind `message` as explain prints it."""
    return json.dumps(
        {
            "Schema": 1, "Kind": "message", "Timestamp": int(at_s * 1000),
            "AlarmName": account.alarms[logical_id]["AlarmName"],
            "ClusterName": cluster, "State": state,
            "Subject": f"{state} {cluster}: {text.splitlines()[2]}"[:99], "Text": text,
        }
    )  # fmt: skip


IDLE_TEXT = """ALARM: idle cores in cluster research

50 of 98 known cores (51.0 %) have not been busy for 15 minutes or more, the longest for 1 h.
They cost 33.59 USD per hour (list price, us-west-2, 2026-11-22).

1. Held, not used: ask whoever holds them.
"""


def filled(double, hour):
    """The hour in *double*, two alarms firing, one message about them."""
    double.put_lines(double.records_group, hour.lines)
    double.put_lines(double.rollups_group, told(hour.rollups, hour.lines), LATE_MS)
    double.fire_alarm("IdleCoresAlarm", "research", reason="Threshold Crossed: 15 out of 15")
    double.fire_alarm("LowUtilizationAlarm", "serving", reason="Threshold Crossed: 60 out of 60")
    text = message(double, "IdleCoresAlarm", "research", IDLE_TEXT)
    double.put(EXPLAIN_GROUP, "explain", [(json.loads(text)["Timestamp"], text)])
    return double


def view_of(clock=lambda: NOW_S, **settings):
    """What the page says of the account that the environment leads to."""
    found = account(AccountSettings())
    return PageView(
        found, PageSettings(**settings), AccountAlarms(found), now_ms=lambda: round(clock() * 1000)
    )


@contextmanager
def double_of(monkeypatch, clock=lambda: NOW_S):
    """An empty double of an account, to which the environment leads."""
    with WatchedAccount(clock) as double:
        for name, value in double.variables.items():
            monkeypatch.setenv(name, value)
        yield double


@contextmanager
def served(view):
    """The page of *view*, on a free port."""
    with PageServer(("127.0.0.1", 0), view) as server:
        yield server
