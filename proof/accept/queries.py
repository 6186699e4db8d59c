"""
The steps about saved queries: AWS runs each text, and its answer has the totals of the lines.

The expected totals are sums over the lines of the log group, each line once, and over what the
reference computes from them. They share no code with the queries, which read copies as well.
"""

from __future__ import annotations

import json
import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.core_members import core_indexes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from proof.accept.context import AcceptContext

QUERY_MINUTES: Final = 10.0  # a line is found up to minutes after it was stored
PLACEHOLDER_INSTANCE: Final = "i-0123456789abcdef0"  # the value in the saved query
ATHENA_QUERY: Final = "idle-by-owner"
QUERY_EPSILON: Final = 1e-4  # of a total: each row of an answer is rounded


def queries(context: AcceptContext) -> list[str]:
    """Run every saved query of Logs Insights: the answers have the totals of the lines."""
    logs = context.place.client("logs")
    saved = logs.describe_query_definitions(queryDefinitionNamePrefix=f"{context.watched}/")
    definitions = saved["queryDefinitions"]
    if not definitions:
        return ["no query is saved"]
    return [
        problem
        for definition in definitions
        for problem in context.wait_until_right(
            partial(_differences, context, definition), QUERY_MINUTES
        )
    ]


def _differences(context: AcceptContext, definition: Mapping[str, Any]) -> list[str]:
    """Run one saved query. Return how its answer differs from the lines."""
    logs = context.place.client("logs")
    instance = context.records(context.watched)[0].instance_id
    text = definition["queryString"].replace("{{InstanceId}}", f'"{instance}"')
    started = logs.start_query(
        logGroupNames=definition["logGroupNames"],
        startTime=context.start_s,
        endTime=int(time.time()),
        queryString=text.replace(PLACEHOLDER_INSTANCE, instance),
        limit=10_000,
    )
    query = {"queryId": started["queryId"]}
    status = _ended(lambda: logs.get_query_results(**query)["status"])
    if status != "Complete":
        return [f"{definition['name']}: {status}"]
    results = logs.get_query_results(**query)["results"]
    rows = [{cell["field"]: cell["value"] for cell in row} for row in results]
    return against_totals(definition["name"], rows, expected_totals(context, instance))


def _ended(ask_status: Callable[[], str]) -> str:
    """Ask for the status of a query until it no longer runs. Return its last status."""
    while (status := ask_status()).lower() in {"scheduled", "queued", "running"}:
        time.sleep(1)
    return status


def against_totals(
    name: str, rows: list[dict[str, str]], totals: Mapping[str, tuple[str, float]]
) -> list[str]:
    """Return how the *rows* of the saved query *name* differ from its expected total."""
    column, expected = totals.get(name.rpartition("/")[2], ("", 0.0))
    found = sum(float(row[column]) for row in rows if row.get(column))
    if not column or math.isclose(expected, found, rel_tol=QUERY_EPSILON, abs_tol=QUERY_EPSILON):
        return []
    return [f"{name}: {column} of all rows was expected to be {expected:.6f}, found {found:.6f}"]


def expected_totals(context: AcceptContext, instance: str) -> dict[str, tuple[str, float]]:
    """
    Return a column of each saved query and the sum of the column over all rows.

    `silent-instances` is not among them: its minutes depend on when close ran.
    """
    by_key = {(record.boot, record.seq): record for record in context.records(context.watched)}
    records = [*by_key.values()]
    rollups = [*context.expected(context.watched).values()]
    runtimes = {
        (line["Boot"], line["Seq"], line["Pid"]): line
        for line in map(json.loads, context.messages(context.watched))
        if line["Kind"] == "runtime"
    }
    emitters = {(record.instance_id, record.boot) for record in records}
    instances = {record.instance_id for record in records}
    slowest_s: dict[str, float] = {}
    for record in records:
        slowest_s[record.instance_id] = max(
            record.latency_p99_max_s or 0, slowest_s.get(record.instance_id, 0)
        )
    core_minutes = sum(
        len(core_indexes(owner.cores)) for record in records for owner in record.owners
    )
    own_cores = sum(len(record.core_state) for record in records if record.instance_id == instance)
    idle_usd, idle_instances, rises = [
        math.fsum(rollup.get(name, 0) for rollup in rollups)
        for name in ("IdleCost", "IdleInstanceCount", "EccUncorrectedRise")
    ]
    errors = sum(line["ExecutionErrors"] for line in runtimes.values())
    return {
        "cores-by-owner": ("CoreHours", core_minutes / 60),
        "idle-cores-by-instance": ("MinutesWithIdleCores", idle_instances),
        "idle-cost-by-cluster": ("IdleCostUsd", idle_usd),
        "execution-errors-by-runtime": ("ExecutionErrors", errors),
        "hardware-errors-by-instance": ("UncorrectedErrors", rises),
        "latency-gap": ("TotalP99Ms", 1000 * sum(slowest_s.values())),
        "emitters-that-dropped-or-restarted": ("EmitterRestarts", len(emitters) - len(instances)),
        "cores-of-instance": ("Minutes", own_cores),
        ATHENA_QUERY: ("idle_usd", idle_usd),
    }


def athena(context: AcceptContext) -> list[str]:
    """Run a saved query of Athena over the settled hours: its answer has the cost of the lines."""
    client = context.place.client("athena")
    pages = client.get_paginator("list_named_queries").paginate()
    ids = [query_id for page in pages for query_id in page["NamedQueryIds"]]
    saved = [client.get_named_query(NamedQueryId=query_id)["NamedQuery"] for query_id in ids]
    name = f"{context.watched}/{ATHENA_QUERY}"
    (query,) = [query for query in saved if query["Name"] == name]
    bucket = context.stacks[context.frame].outputs["BucketName"]
    started = client.start_query_execution(
        QueryString=query["QueryString"],
        QueryExecutionContext={"Database": query["Database"]},
        ResultConfiguration={"OutputLocation": f"s3://{bucket}/athena/"},
    )
    query_id = {"QueryExecutionId": started["QueryExecutionId"]}
    status = _ended(
        lambda: client.get_query_execution(**query_id)["QueryExecution"]["Status"]["State"]
    )
    if status != "SUCCEEDED":
        return [f"{name}: {status}"]
    results = client.get_query_results(**query_id)["ResultSet"]["Rows"]
    header, *values = [[cell.get("VarCharValue", "") for cell in row["Data"]] for row in results]
    rows = [dict(zip(header, row, strict=True)) for row in values]
    return against_totals(name, rows, expected_totals(context, ""))
