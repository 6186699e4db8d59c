"""The ways in which the idle report reads an account, each told as a program is told."""

from __future__ import annotations

from neuron_emf.account import account
from neuron_emf.options import AccountSettings
from neuron_emf.reading.periods import Period
from neuron_emf.report.collection import from_lines, from_queries
from neuron_emf.report.comparison import PublishedRollups, compare
from neuron_emf.report.counting import Counting
from neuron_emf.report.exports import document
from neuron_emf.report.idle_report import idle_report
from neuron_wire.prices import Prices
from tests.hour import END_S, START_S

NOW_S = END_S + 3600.0
HOUR = Period(START_S * 1000, END_S * 1000)


def no_sleep(_seconds):
    """Time that a test does not wait for."""


def told(gather, period=HOUR, cluster=""):
    """The idle report of what *gather* reads, without what says how it was read."""
    counting, published = Counting(period, 15, Prices(), cluster), PublishedRollups(period, cluster)
    reading = gather(counting, published)
    found = idle_report(
        counting,
        compare(counting, published, round(NOW_S * 1000)),
        reading,
        asked=period,
        made_ms=0,
        worst_cores=10,
    )
    shown = document(found)
    del shown["reading"]
    return shown, reading


class Shared:
    """The account with one client for all that read it: making one takes 50 ms."""

    def __init__(self):
        self._account = account(AccountSettings())
        self._clients = {}

    def __getattr__(self, name):
        return getattr(self._account, name)

    def client(self, service):
        if service not in self._clients:
            self._clients[service] = self._account.client(service)
        return self._clients[service]


def by_queries(period=HOUR, cluster="", at=None):
    where = at or account(AccountSettings()), period, cluster
    return told(lambda *into: from_queries(*where, *into, sleep=no_sleep), period, cluster)


def by_lines(period=HOUR, cluster="", at=None):
    where = at or account(AccountSettings()), period, cluster
    return told(lambda *into: from_lines(*where, *into), period, cluster)
