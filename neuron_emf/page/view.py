"""
An answer for each path of the page, as JSON values.

What one tab asked for is kept for the others: rollup lines and messages for a
minute, alarms for ten seconds, the cores of a minute until the next one.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections import defaultdict
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from neuron_accounts.core_time import DEFAULT_IDLE_AFTER_MINUTES, CoreTime, time_of
from neuron_accounts.ledger import USD_PLACES
from neuron_accounts.then import Then
from neuron_emf.page.alarms import (
    IN_ALARM,
    MessageLines,
    alarms_reader,
    by_urgency,
    messages_group,
)
from neuron_emf.page.core_hours import instance_hour, newest_minute
from neuron_emf.page.graphs import graphs
from neuron_emf.page.paid_queries import PaidQueries
from neuron_emf.reading import LogGroup, pattern_of
from neuron_emf.reading.ledger_bucket import stack_ledger
from neuron_emf.reading.now_reader import (
    KEPT_MINUTES,
    ROLLUP_AHEAD_MS,
    ROLLUP_LOOKBACK_MINUTES,
    NowReader,
    answer_of,
)
from neuron_emf.reading.periods import now_ms as clock
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.names import HOUR_MINUTES, MINUTE_MS, WEEK_HOURS
from neuron_words.now_words import console_address
from neuron_words.owner_commands import findings_commands, shell_commands
from neuron_words.then_words import idle_usd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_emf.account import Account
    from neuron_wire.line_members import JsonObject, Texts

    Query = Texts
    Answers = Mapping[str, Callable[[Query], JsonObject]]

ALARMS_EACH_MS: Final = 10_000
KEPT_CORES: Final = 8  # tabs on as many clusters, of the newest minute
POLICY: Final = Path(__file__).with_name("policy.json")
MOST_TOGETHER: Final = 2_000
"""Instances of all clusters: 1,000 of 32 cores are two calls, of the 5 a second of an account."""


class UnknownClusterError(ValueError):
    """No cluster of that name has been published in the last minutes."""


class PageView:
    """What the page says about one account; any thread may ask."""

    def __init__(
        self,
        account: Account,
        *,
        read_alarms: Callable[[], list[JsonObject]] | None = None,
        idle_after_minutes: int = DEFAULT_IDLE_AFTER_MINUTES,
        now_ms: Callable[[], int] = clock,
        differences: Sequence[str] = (),
    ) -> None:
        """
        Read *account*; *differences* are what of it is not as on AWS.

        Without *read_alarms* its alarms are those of CloudWatch, or of the rehearsal's page.

        Raises:
            SettingsError: If no client can be made.
        """
        self._account = account
        self._read_alarms = read_alarms or alarms_reader(account)
        self._idle_after_minutes = idle_after_minutes
        self._now_ms = now_ms
        self._differences = list(differences)
        self._logs = account.client("logs")  # one for all: threads may share a client
        self._reader = NowReader(account, self._logs, now_ms, idle_after_minutes)
        self._messages = MessageLines(account, self._logs, now_ms)
        self._queries = PaidQueries(account, self._logs, now_ms)
        self._records = LogGroup(account, account.log_group, self._logs)
        self._cores_lock, self._alarms_lock = threading.Lock(), threading.Lock()
        self._week_lock = threading.Lock()
        self._week = functools.lru_cache(maxsize=1)(self._read_week)
        self._cores = functools.lru_cache(maxsize=KEPT_CORES)(self._read_cores)
        self._alarms_at: tuple[int, list[JsonObject]] | None = None
        self.reads: Answers = {
            "/now.json": self.now,
            "/history.json": self.history,
            "/alarms.json": self.alarms,
            "/messages.json": self.messages,
            "/cores.json": self.cores,
            "/instance.json": self.instance,
            "/queries.json": self.queries,
        }
        self.runs: Answers = {"/query.json": self.query, "/week.json": self.week}

    def now(self, query: Query) -> JsonObject:
        """
        The first screen, of one cluster or of all; `schemas/now.json` describes it.

        Raises:
            UnknownClusterError: If there is no such cluster.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        read_ms, cluster = self._reader.refresh(), self._chosen(query)
        report, (calls, bytes_read) = self._reader.lines.close_report(), self._reader.traffic
        return {
            **answer_of(self._reader.now(), cluster, self._now_ms()),
            "read_ms": read_ms,
            "region": self._account.region,
            "stack_name": self._account.stack_name,
            "idle_after_minutes": self._idle_after_minutes,
            "differences": self._differences,
            "close": None if report is None else {"at_ms": report[0], **report[1]},
            "traffic": {"calls": calls, "bytes": bytes_read},
        }

    def history(self, query: Query) -> JsonObject:
        """
        The graphs of the last minutes, of one cluster or of all.

        Raises:
            UnknownClusterError: If there is no such cluster.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        self._reader.refresh()
        cluster = self._chosen(query)
        end_ms = self._now_ms() // MINUTE_MS * MINUTE_MS + MINUTE_MS
        start_ms = end_ms - _minutes(query) * MINUTE_MS
        self._reader.extend(start_ms)
        rollups = self._reader.lines.rollups(start_ms)
        shown = graphs([rollup for rollup in rollups if cluster in ("", rollup.cluster)])
        return {"cluster": cluster, "start_ms": start_ms, "end_ms": end_ms, "graphs": shown}

    def alarms(self, _query: Query) -> JsonObject:
        """
        The stack's alarms, the most urgent first.

        Raises:
            EmitterError: If nobody answers.
        """
        with self._alarms_lock:
            now_ms = self._now_ms()
            known = self._alarms_at
            if known is None or not 0 <= now_ms - known[0] < ALARMS_EACH_MS:
                known = self._alarms_at = now_ms, self._read_alarms()
            read_ms, alarms = known
        messages = []
        if any(alarm["state"] == IN_ALARM for alarm in alarms):
            # Alarms without messages are worth more than no alarms.
            with contextlib.suppress(SourceError):
                messages = self._messages.read_newest_first()
        return {"read_ms": read_ms, "alarms": by_urgency(alarms, messages)}

    def messages(self, _query: Query) -> JsonObject:
        """
        What explain told people in the last day, the latest first.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        return {"messages": self._messages.read_newest_first()}

    def cores(self, query: Query) -> JsonObject:
        """
        Cores by instance in the newest minute that was published.

        Raises:
            UnknownClusterError: If there is no such cluster.
            SettingsError: If there are too many instances to read without naming one.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        self._reader.refresh()
        cluster, now = self._chosen(query), self._reader.now()
        total = (now.of_cluster(cluster) if cluster else now).total
        if total.minute is None:
            return {"cluster": cluster, "minute_ms": None, "instances": []}
        minute_ms, instances_now = total.minute * MINUTE_MS, total.instances or 0
        if not cluster and instances_now > MOST_TOGETHER:
            msg = f"{instances_now:,} instances are over {MOST_TOGETHER:,}. Choose a cluster."
            raise SettingsError(msg)
        with self._cores_lock:
            return self._cores(cluster, minute_ms)

    def _read_cores(self, cluster: str, minute_ms: int) -> JsonObject:
        pattern = pattern_of(*filter(None, [cluster]))
        lines = self._records.read_lines(minute_ms, minute_ms + MINUTE_MS, pattern)
        instances = newest_minute(lines, minute_ms, cluster, self._idle_after_minutes)
        return {"cluster": cluster, "minute_ms": minute_ms, "instances": instances}

    def instance(self, query: Query) -> JsonObject:
        """
        The last hour of each core of one instance.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        cluster, instance_id = query.get("cluster", ""), query.get("instance", "")
        now_ms = self._now_ms()
        start_ms = (now_ms // MINUTE_MS - HOUR_MINUTES) * MINUTE_MS
        lines = self._records.read_lines_of_instance(
            start_ms, now_ms + ROLLUP_AHEAD_MS, instance_id, pattern_of(instance_id)
        )
        hour = instance_hour(lines, cluster, instance_id)
        region = self._account.region or ""
        commands = *findings_commands([instance_id], region), *shell_commands([instance_id], region)
        shown = [command._asdict() for command in commands]
        return {**hour, "commands": shown, "links": self._links(instance_id) if shown else {}}

    def _links(self, instance_id: str) -> dict[str, str]:
        """Where AWS's console shows an instance and its lines; the rehearsal has no console."""
        region = self._account.region
        if self._account.is_rehearsal or not region:
            return {}
        group, pattern = map(_in_console, (self._account.log_group, f'"{instance_id}"'))
        lines = f"logsV2:log-groups/log-group/{group}/log-events$3FfilterPattern$3D{pattern}"
        return {
            "Instance in EC2": f"{console_address('ec2/home', region)}"
            f"InstanceDetails:instanceId={instance_id}",
            "Its log lines": f"{console_address('cloudwatch/home', region)}{lines}",
        }

    def week(self, query: Query) -> JsonObject:
        """
        Return what idle cores and a million executions cost in the last seven days, by owner.

        Only settled hours count. An amount is None if it has no price or executions are unknown.

        Raises:
            SourceError: If the stack has no ledger, or S3 refuses or does not answer.
        """
        stop = self._now_ms() // (HOUR_MINUTES * MINUTE_MS)
        with self._week_lock:
            hours, then = self._week(stop)
        cluster = query.get("cluster", "")
        owners = {key: time for key, time in then.owners.items() if cluster in {"", key.cluster}}
        total = time_of(owners.values())
        by_owner: dict[tuple[str, str], CoreTime] = defaultdict(CoreTime)
        for key, time in owners.items():
            by_owner[key.owner, key.cluster].fold_time(time)
        return {
            "cluster": cluster,
            "hours": hours,
            "of_hours": WEEK_HOURS,
            "words": idle_usd(total),
            "owners": [
                {
                    "owner": owner,
                    "cluster": of,
                    "usd": _usd(time.idle_cost),
                    "usd_per_million_executions": _usd(time.million_executions_cost),
                }
                for (owner, of), time in by_owner.items()
            ],
        }

    def _read_week(self, stop: int) -> tuple[int, Then]:
        """Return the settled hours of the week before hour *stop*, and their sums."""
        then, read, hours = Then(), 0, range(stop - WEEK_HOURS, stop)
        for hour, payload in stack_ledger(self._account).read_summaries(hours):
            then.fold_summary(hour, payload)
            read += 1
        return read, then

    def queries(self, query: Query) -> JsonObject:
        """
        The saved queries, each with its price for the last minutes.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        minutes = _minutes(query)
        if self._account.is_rehearsal:  # the emulator saves none
            return {"minutes": minutes, "queries": []}
        return {"minutes": minutes, "queries": self._queries.price_queries(minutes)}

    def query(self, query: Query) -> JsonObject:
        """
        Run a saved query over the last minutes, which CloudWatch bills.

        Raises:
            UnknownQueryError: If there is none of that name.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        return self._queries.run_query(query.get("name", ""), _minutes(query))

    def _chosen(self, query: Query) -> str:
        """The cluster that is asked for, empty for all."""
        cluster = query.get("cluster", "")
        if cluster and not self._reader.now().of_cluster(cluster).clusters:
            msg = (
                f"No cluster of that name in {ROLLUP_LOOKBACK_MINUTES} minutes. Choose another one."
            )
            raise UnknownClusterError(msg)
        return cluster


def _usd(nanos: int | None) -> float | None:
    return None if nanos is None else nanos / 10**USD_PLACES


def _in_console(text: str) -> str:
    """*text* as the console of CloudWatch has it behind the `#`: quoted twice, `%` as `$`."""
    return quote(quote(text, safe=""), safe="").replace("%", "$")


def _minutes(query: Query) -> int:
    """How far back a tab looks; an hour where it says nothing that is a number."""
    text = query.get("minutes", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        return HOUR_MINUTES
    return min(max(int(text), ROLLUP_LOOKBACK_MINUTES), KEPT_MINUTES)


def policy(account: Account, region: str | None, ledger_bucket: str = "") -> JsonObject:
    """
    Return what the page may do, as an IAM policy: reads, and queries that a person starts.

    Without a *region* it is of every region. *ledger_bucket* is the name of the ledger's bucket;
    without it the policy names the bucket that the stack creates. Any key may be used, but only
    by way of S3 and for this bucket: S3 names the bucket or the object in it.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
    """
    values = {
        "partition": account.partition,
        "region": region or "*",
        "lines": account.log_group,
        "rollups": account.rollups_log_group,
        "messages": messages_group(account),
        "stack": account.stack_name,
        "ledger": ledger_bucket or f"{account.stack_name.lower()}-ledgerbucket-*",
    }
    quoted = {name: json.dumps(value)[1:-1] for name, value in values.items()}
    document: JsonObject = json.loads(Template(POLICY.read_text("utf-8")).substitute(quoted))
    return document
