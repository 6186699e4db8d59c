"""
The answers of the page, by path, as JSON values.

Answers for one tab are kept for the others: rollup lines and messages for a minute, alarms for ten
seconds, the cores of a minute until the next one.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from neuron_accounts.core_time import DEFAULT_IDLE_AFTER_MINUTES
from neuron_accounts.ledger import USD_PLACES
from neuron_emf.check_results import failures
from neuron_emf.findings.command import judge
from neuron_emf.page.alarms import (
    IN_ALARM,
    MessageLines,
    alarms_reader,
    by_urgency,
    messages_group,
)
from neuron_emf.page.amounts import ROLLUP_UNIT, Amounts
from neuron_emf.page.charts import charts
from neuron_emf.page.core_hours import instance_hour, newest_minute
from neuron_emf.page.paid_queries import PaidQueries
from neuron_emf.page.ranges import UNASKED_MINUTES, SettledHours, Span, span_of
from neuron_emf.reading import LogGroup, pattern_of
from neuron_emf.reading.log_group import MAX_CALLS, ReadLimit
from neuron_emf.reading.now_reader import (
    FOLDED,
    KEPT_MINUTES,
    NO_ROLLUP,
    ROLLUP_AHEAD_MS,
    ROLLUP_LOOKBACK_MINUTES,
    STEP_MINUTES,
    NowReader,
    answer_of,
)
from neuron_emf.reading.periods import gaps
from neuron_emf.reading.periods import now_ms as clock
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.names import (
    DAY_HOURS,
    EC2_INSTANCE_ID,
    HOUR_MINUTES,
    HOUR_MS,
    MINUTE_MS,
    WEEK_HOURS,
)
from neuron_words.now_words import console_address
from neuron_words.owner_commands import instance_commands, owner_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_emf.account import Account
    from neuron_emf.page.charts import Cells
    from neuron_wire.line_members import JsonObject, Texts

    Query = Texts
    Answers = Mapping[str, Callable[[Query], JsonObject]]

ALARMS_EACH_MS: Final = 10_000
KEPT_CORES: Final = 8  # tabs on different clusters, in the newest minute
KEPT_ANSWERS: Final = 12
"""Charts of 24 hours take megabytes."""

MAX_INSTANCES_OF_ROW: Final = 8
VERDICT_WORDS: Final = (
    f"Reads up to {MAX_CALLS} pages of log lines and asks EC2 and the instance's manager. It costs "
    "nothing and needs the permissions of neuron-emf findings."
)
_NO_LINES: Final = f"{NO_ROLLUP}: no emitter has written, or the stack does not close minutes."
POLICY: Final = Path(__file__).with_name("policy.json")
MOST_TOGETHER: Final = 2_000
"""
The most instances whose cores are read without choosing a cluster. 1,000 instances of 32 cores need
two calls, and an account may make 5 calls a second.
"""


class UnknownClusterError(SourceError):
    """No cluster of that name has been published in the last minutes."""


class PageView:
    """The page's answers about one account; any thread may ask."""

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
        Read *account*; *differences* are its differences from AWS.

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
        self.messages = MessageLines(account, self._logs, now_ms)
        self._queries = PaidQueries(account, self._logs, now_ms)
        self._records = LogGroup(account, account.log_group, self._logs)
        self._hours = SettledHours(account, now_ms)
        self._cores_lock = threading.Lock()
        self._alarms_lock = threading.Lock()
        self._minutes = functools.lru_cache(maxsize=KEPT_CORES)(self._read_minute)
        keep = functools.lru_cache(maxsize=KEPT_ANSWERS)
        self._alarms = functools.lru_cache(maxsize=1)(self._alarms_since)
        self.reads: Answers = {
            "/now.json": self.now,
            "/charts.json": functools.partial(self._kept, keep(self._charts)),
            "/amounts.json": functools.partial(self._kept, keep(self._amounts)),
            "/progress.json": lambda _: {"hours_left": self._hours.hours_left},
            "/commands.json": self.commands,
            "/alarms.json": self.alarms,
            "/cores.json": self.cores,
            "/instance.json": self.instance,
            "/queries.json": self.queries,
        }
        self.runs: Answers = {
            "/query.json": self.query, "/read.json": self.read, "/verdict.json": self.verdict,
        }  # fmt: skip

    def now(self, query: Query) -> JsonObject:
        """
        Return the first screen, of one cluster or of all, as `schemas/now.json` describes it.

        Raises:
            UnknownClusterError: If there is no such cluster.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        read_ms = self._reader.refresh()
        cluster = self._chosen(query)
        report = self._reader.lines.close_report()
        calls, bytes_read = self._reader.traffic
        now = self._reader.now()
        problem = None
        if now.is_folded:
            problem = {"kind": "stack", "error": FOLDED, "action": "neuron-emf deploy"}
        elif not now.clusters:
            problem = {"kind": "lines", "error": _NO_LINES, "action": "neuron-emf check"}
        return {
            **answer_of(now, cluster, self._now_ms()),
            "problem": problem,
            "read_ms": read_ms,
            "region": self._account.region,
            "stack_name": self._account.stack_name,
            "idle_after_minutes": self._idle_after_minutes,
            "differences": self._differences,
            "close": None if report is None else {"at_ms": report[0], **report[1]},
            "traffic": {"calls": calls, "bytes": bytes_read},
        }

    def _kept(self, make: Callable[[str, Span, object], JsonObject], query: Query) -> JsonObject:
        """Return the answer of *make*, which all tabs share until new data is read."""
        self._reader.refresh()
        cluster = self._chosen(query)
        span = span_of(query.get("range", ""), self._now_ms())
        if not span.is_ledger and span.minutes <= UNASKED_MINUTES:
            self._reader.extend(span.x.start)
        return make(cluster, span, self._reader.version)

    def _cells(self, span: Span) -> tuple[Cells, dict[str, Any]]:
        """Return the known values of *span*, and its description in the answer."""
        head: dict[str, Any] = {
            "range": span.name, "start_ms": span.x.start, "end_ms": span.x.stop,
            "step_ms": span.x.step, "reading": None,
        }  # fmt: skip
        cells: Cells
        if span.is_ledger:
            period = self._hours.read_period(span.hours)
            cells = period.cells
            known = {hour * HOUR_MS for hour in period.settled}
            expected = span.x
        else:
            rollups = self._reader.lines.rollups(span.x.start)
            cells = {(rollup.cluster, rollup.minute_ms): rollup for rollup in rollups}
            known = {minute_ms for _, minute_ms in cells}
            remaining = head["reading"] = self._reader.remaining(span.x.start)
            start_ms = remaining["from_ms"] if remaining else span.x.start
            expected = range(start_ms, max(known, default=start_ms), MINUTE_MS)
        return cells, {**head, "missing": gaps(expected, known)}

    def _charts(self, cluster: str, span: Span, _: object) -> JsonObject:
        """
        Return the charts of a range, and their values of all clusters a day and a week before.

        Raises:
            SourceError: If a log group or the ledger cannot be read.
        """
        cells, head = self._cells(span)
        newest_ms = self._reader.now().total.minute
        hour = (self._now_ms() if newest_ms is None else newest_ms * MINUTE_MS) // HOUR_MS
        before: dict[str, JsonObject] = {}
        ledger = ""
        for name, hours in (("yesterday", DAY_HOURS), ("last_week", WEEK_HOURS)):
            earlier = range(hour - hours, hour - hours + 1)
            try:
                period = self._hours.read_period(earlier)
            except SourceError as error:
                ledger = str(error)
                break
            drawn = charts(_of_cluster(period.cells, cluster), [earlier.start * HOUR_MS])
            before[name] = {chart["id"]: chart["all"][0] for chart in drawn}
        return {
            **head,
            "x": list(span.x),
            "charts": charts(_of_cluster(cells, cluster), span.x),
            "before": before,
            "ledger": ledger,
        }

    def _amounts(self, _cluster: str, span: Span, _: object) -> JsonObject:
        """
        Return the idle time of a range and its price, of all clusters; None if it is not read.

        Raises:
            SourceError: If a log group or the ledger cannot be read.
        """
        _, head = self._cells(span)
        now = self._reader.now()
        amounts = None
        if span.is_ledger:
            amounts = self._hours.read_period(span.hours).answer(10**USD_PLACES)
        elif not head["reading"] and not now.is_folded and now.total.owners_known:
            period = Amounts()
            for rollup in self._reader.lines.rollups(span.x.start):
                period.fold_rollup(rollup)
            amounts = period.answer(ROLLUP_UNIT)
        return {**head, "amounts": amounts}

    def alarms(self, _query: Query) -> JsonObject:
        """
        Return the stack's alarms, the most urgent first.

        Raises:
            EmitterError: If CloudWatch does not answer.
        """
        with self._alarms_lock:
            read_ms, alarms = self._alarms(self._now_ms() // ALARMS_EACH_MS)
        messages: list[JsonObject] = []
        if any(alarm["state"] == IN_ALARM for alarm in alarms):
            # Alarms without messages are worth more than no alarms.
            with contextlib.suppress(SourceError):
                messages = self.messages.read_newest_first()
        return {"read_ms": read_ms, "alarms": by_urgency(alarms, messages)}

    def _alarms_since(self, _: int) -> tuple[int, list[JsonObject]]:
        """Return the time and the alarms, which are read once in `ALARMS_EACH_MS`."""
        return self._now_ms(), self._read_alarms()

    def cores(self, query: Query) -> JsonObject:
        """
        Return the cores by instance in the newest published minute.

        Raises:
            UnknownClusterError: If there is no such cluster.
            SettingsError: If there are too many instances to read without naming one.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        self._reader.refresh()
        cluster = self._chosen(query)
        now = self._reader.now()
        total = (now.of_cluster(cluster) if cluster else now).total
        if total.minute is None:
            return {"minute_ms": None, "instances": []}
        instances_now = total.instances or 0
        if not cluster and instances_now > MOST_TOGETHER:
            msg = f"{instances_now:,} instances are over {MOST_TOGETHER:,}. Choose a cluster."
            raise SettingsError(msg)
        minute_ms = total.minute * MINUTE_MS
        with self._cores_lock:
            return {"minute_ms": minute_ms, "instances": self._minutes(cluster, minute_ms)}

    def _read_minute(self, cluster: str, minute_ms: int) -> list[dict[str, Any]]:
        pattern = pattern_of(*filter(None, [cluster]))
        lines = self._records.read_lines(minute_ms, minute_ms + MINUTE_MS, pattern)
        instances = newest_minute(lines, minute_ms, cluster, self._idle_after_minutes)
        prices = {
            (rollup.cluster, row.kind): row.cost / row.idle
            for rollup in self._reader.lines.rollups(minute_ms)
            for row in rollup.instances
            if row.cost is not None and row.idle
        }
        for instance in instances:
            price = prices.get((instance["cluster"], instance["instance_type"]))
            instance["core_usd_per_hour"] = price
        return instances

    def commands(self, query: Query) -> JsonObject:
        """Return the commands about an owner, and about instances with idle cores."""
        region = self._account.region or ""
        ids = query.get("instances", "").split(",")[:MAX_INSTANCES_OF_ROW]
        commands = (
            *owner_commands(query.get("owner", ""), query.get("cluster", ""), region),
            *instance_commands("findings", ids[:1], region),
            *instance_commands("tags", ids, region),
        )
        return {"commands": [command._asdict() for command in commands]}

    def read(self, query: Query) -> JsonObject:
        """
        Read about one more hour of older rollups, for a range that a person requested.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        self._reader.refresh()
        span = span_of(query.get("range", ""), self._now_ms())
        if span.is_ledger:
            return {"reading": None}
        remaining = self._reader.remaining(span.x.start)
        if remaining is not None:
            next_ms = remaining["from_ms"] - STEP_MINUTES * MINUTE_MS
            self._reader.extend(max(span.x.start, next_ms))
        return {"reading": self._reader.remaining(span.x.start)}

    def instance(self, query: Query) -> JsonObject:
        """
        Return the last hour of each core of one instance.

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
        commands = (
            *instance_commands("findings", [instance_id], region),
            *instance_commands("shell", [instance_id], region),
        )
        shown = [command._asdict() for command in commands]
        return {
            **hour,
            "commands": shown,
            "links": self._links(instance_id) if shown else {},
            "verdict": {"words": VERDICT_WORDS},
        }

    def _links(self, instance_id: str) -> dict[str, str]:
        """Return the console addresses of an instance and its lines; a rehearsal has none."""
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

    def verdict(self, query: Query) -> JsonObject:
        """
        Return whether an instance can be released, as `neuron-emf findings` does.

        Raises:
            SettingsError: If the name is not the ID of an instance.
            SourceError: If the lines cannot be read, or not within the limit of calls.
        """
        instance_id = query.get("instance", "")
        if not EC2_INSTANCE_ID.fullmatch(instance_id):
            msg = "This is not the ID of an instance. Choose an instance of the page."
            raise SettingsError(msg)
        calls = [0.0]
        limit = ReadLimit(lambda call, _: calls.append(call))
        found = judge(self._account, instance_id, self._now_ms(), limit)
        reasons = [
            {"name": result.check, "words": result.found, "advice": result.advice}
            for result in failures(found.results)
        ]
        return {
            "verdict": found.answer,
            "words": found.reason,
            "reasons": reasons,
            "commands": [command._asdict() for command in found.commands],
            "calls": calls[-1],
        }

    def queries(self, query: Query) -> JsonObject:
        """
        Return the saved queries, each with its price for the last minutes.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        if self._account.is_rehearsal:  # the emulator has none
            return {"queries": []}
        return {"queries": self._queries.price_queries(self._query_minutes(query))}

    def query(self, query: Query) -> JsonObject:
        """
        Run a saved query over the last minutes, which CloudWatch bills.

        Raises:
            SettingsError: If there is none of that name.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        return self._queries.run_query(query.get("name", ""), self._query_minutes(query))

    def _query_minutes(self, query: Query) -> int:
        """Return the minutes of the range of *query*, at most those that the page keeps."""
        return min(span_of(query.get("range", ""), self._now_ms()).minutes, KEPT_MINUTES)

    def _chosen(self, query: Query) -> str:
        """Return the selected cluster, empty for all."""
        cluster = query.get("cluster", "")
        if cluster and not self._reader.now().of_cluster(cluster).clusters:
            msg = (
                f"No cluster of that name in {ROLLUP_LOOKBACK_MINUTES} minutes. Choose another one."
            )
            raise UnknownClusterError(msg)
        return cluster


def _of_cluster(cells: Cells, cluster: str) -> Cells:
    return {key: cell for key, cell in cells.items() if cluster in ("", key[0])}


def _in_console(text: str) -> str:
    """Return *text* as CloudWatch's console has it after the `#`: quoted twice, `%` as `$`."""
    return quote(quote(text, safe=""), safe="").replace("%", "$")


def policy(account: Account, region: str | None, ledger_bucket: str = "") -> JsonObject:
    """
    Return the page's permissions as an IAM policy: reads, and queries that a person starts.

    Without a *region* it covers every Region. *ledger_bucket* is the name of the ledger's bucket;
    without it the policy names the bucket that the stack creates. Any key may be used, but only
    through S3 and for this bucket: S3 names the bucket or the object in it.
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
