"""What docs/reference/top.md shows is what is printed, and what it says of costs is counted."""

from __future__ import annotations

import json
import re

import pytest

from neuron_emf.cli import main
from neuron_emf.top.feed import LogGroupFeed
from neuron_emf.top.window import Window
from tests.neuron_emf.reading.lines import START_MS, line
from tests.neuron_emf.reading.played_logs import PlayedAccount, PlayedLogs

MINUTE_MS = 60_000
USD_PER_GB = 0.09
USD_PER_LIVE_TAIL_MINUTE = 0.01
INSTANCES = 10
MINUTES = 5
SPREAD_MS = 30_000


def between(name):
    """What finds the text between the markers of a name."""
    return re.compile(f"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)


class ArrivingLogs(PlayedLogs):
    """Lines that arrive one after the other in the half minute after theirs."""

    now_ms = 0

    def filter_log_events(self, **request):
        index = {at_ms: 0 for at_ms, _ in self.events}
        arrived = []
        for at_ms, message in self.events:
            spread_ms = SPREAD_MS * index[at_ms] // INSTANCES
            index[at_ms] += 1
            if at_ms + MINUTE_MS + spread_ms <= self.now_ms:
                arrived.append((at_ms, message))
        return PlayedLogs(arrived).filter_log_events(**request)


def times_read(refresh_s):
    """How often each byte that instances write is read by one that looks."""
    minutes = range(-11, MINUTES + 3)
    events = [
        (at_ms, line(instance_id=f"i-{n}", minute_ms=at_ms, seq=minute + 20))
        for minute in minutes
        for n in range(INSTANCES)
        for at_ms in [START_MS + minute * MINUTE_MS]
    ]
    logs = ArrivingLogs(events)
    feed, window = LogGroupFeed(PlayedAccount(logs), 10 * MINUTE_MS, ""), Window()
    logs.now_ms = START_MS
    feed.read(window, logs.now_ms)
    before = feed._group.bytes_read
    for _ in range(MINUTES * 60 // refresh_s):
        logs.now_ms += refresh_s * 1000
        feed.read(window, logs.now_ms)
    written = INSTANCES * MINUTES * len(events[-1][1])
    return (feed._group.bytes_read - before) / written


def bytes_of_an_event(hour):
    """What an answer has for a line of 32 cores, on average."""
    sizes = [
        len(
            json.dumps(
                {
                    "eventId": "3" * 56,
                    "ingestionTime": START_MS,
                    "logStreamName": "i-0123456789abcdef0",
                    "message": text,
                    "timestamp": START_MS,
                }
            )
        )
        for text in hour.lines
        if '"NeuronCores":32' in text
    ]
    return sum(sizes) / len(sizes)


def cost_table(hour):
    """An hour of looking, by the number of instances."""
    size = bytes_of_an_event(hour)
    each_5_s, each_60_s = times_read(5), times_read(60)
    rows = [
        "| instances | every 5 s: GB | USD | `--refresh 60`: GB | USD | `--live-tail`: GB | USD |",
        "|---|---|---|---|---|---|---|",
    ]
    for instances in (10, 100, 1000, 10_000):
        cells = []
        for times, fixed_usd in ((each_5_s, 0), (each_60_s, 0), (1, 60 * USD_PER_LIVE_TAIL_MINUTE)):
            gigabytes = instances * 60 * size * times / 1e9
            cells += [_shown(gigabytes), _shown(gigabytes * USD_PER_GB + fixed_usd)]
        rows.append(f"| {instances:,} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _shown(amount):
    return f"{amount:.3f}" if amount >= 0.001 else "< 0.001"


def test_the_page_shows_what_is_printed_and_what_it_costs(golden, hour, repository, capsys):
    """`--update-golden` puts both onto the page."""
    with pytest.raises(SystemExit):
        main(["top", "--once", str(hour.records_file)])
    printed = capsys.readouterr().out.rstrip("\n")
    path = repository / "docs" / "reference" / "top.md"
    page = path.read_text(encoding="utf-8")
    page = between("sample").sub(lambda _: f"```\n{printed}\n```\n", page)
    golden(path, between("cost").sub(lambda _: cost_table(hour), page))


def test_the_help_says_the_same(hour):
    """In cents: for 100 instances, and for a session."""
    from neuron_emf.top.command import command  # noqa: PLC0415 - as click finds it

    row = next(one for one in cost_table(hour).splitlines() if one.startswith("| 100 |"))
    usd = float(row.split("|")[3])
    assert f"about {usd:.2f} USD an hour for 100 instances" in command.epilog
    assert f"{60 * USD_PER_LIVE_TAIL_MINUTE:.2f} USD an hour" in command.epilog
