"""
An account with the stack's alarms and saved queries, and the objects of a ledger.

A query answers with the lines of its log group in the requested time. The acceptance runs the saved
queries on AWS.
"""

from __future__ import annotations

import io
import uuid
from types import SimpleNamespace

from proof.account.account_double import MAX_DESCRIBED, AccountDouble, page
from proof.logs.wire import JsonWire

# The protocol of CloudWatch is JSON 1.0, the SDK's default.
ALARM_WIRE = ("monitoring", "application/x-amz-json-1.0", "GraniteServiceVersion20100801.")
OWN_QUERY = "rollups-by-minute"
"""A query that someone saved in the stack's folder, with a time as its only input."""


class FakeAccount(AccountDouble):
    """
    An account for the page.

    Attributes:
        alarms: Alarms as AWS describes them, by logical ID; all OK at first.

        alarms_page: Maximum number of alarms in one answer.

        alarms_made_s: Time of their last state change.
    """

    def __init__(self, *given):
        super().__init__(*given)
        self.wires.append(JsonWire(*ALARM_WIRE))
        self.alarms_page = MAX_DESCRIBED
        self.alarms_made_s = self.rules.clock()
        self.alarms = {}
        self._contributors = {}
        self._queries = {}
        for logical_id, properties in self.template.resources("AWS::CloudWatch::Alarm"):
            self.add_alarm(self.stack_name, logical_id, properties)
        self.rules.operations |= {
            "DescribeAlarmContributors": self._describe_alarm_contributors,
            "DescribeAlarms": self._describe_alarms,
            "DescribeQueryDefinitions": self._describe_query_definitions,
            "GetQueryResults": self._get_query_results,
            "StartQuery": self._start_query,
        }

    def _describe_query_definitions(self, document):
        prefix = document["queryDefinitionNamePrefix"]
        resources = self.template.resources("AWS::Logs::QueryDefinition")
        saved = [properties for _, properties in resources]
        own = {"Name": f"{self.stack_name}/{OWN_QUERY}", "LogGroupNames": [self.rollups_group]}
        definitions = [
            {
                "name": query["Name"],
                "queryString": query["QueryString"],
                "logGroupNames": query.get("LogGroupNames", []),
                "parameters": [{"name": row["Name"]} for row in query.get("Parameters", [])],
            }
            for query in (*saved, {**own, "QueryString": "fields @message"})
            if query["Name"].startswith(prefix)
        ]
        return {"queryDefinitions": definitions}

    def _start_query(self, document):
        start_ms = document["startTime"] * 1000
        end_ms = document["endTime"] * 1000
        texts = [
            event.message
            for event in self.events(self.group_in(document))
            if start_ms <= event.timestamp_ms <= end_ms
        ]
        query_id = str(uuid.uuid4())
        self._queries[query_id] = ["Scheduled", "Running", "Complete"], texts[: document["limit"]]
        return {"queryId": query_id}

    def _get_query_results(self, document):
        """Return the progress of a query, which advances with each request."""
        states, texts = self._queries[document["queryId"]]
        state = states.pop(0) if len(states) > 1 else states[0]
        if state != "Complete":
            return {"status": state, "results": [], "statistics": {"bytesScanned": 0.0}}
        scanned = float(sum(len(text.encode()) for text in texts))
        rows = [[{"field": "@message", "value": text}] for text in texts]
        return {"status": state, "results": rows, "statistics": {"bytesScanned": scanned}}

    def add_alarm(self, stack, logical_id, properties):
        """Add an alarm of the template, with its functions resolved."""
        kept = ("AlarmDescription", "Metrics", "Namespace", "MetricName", "Dimensions", "Threshold")
        self.alarms[logical_id] = {
            "AlarmName": f"{stack}-{logical_id}-0A1B2C3D4E5F",
            "StateValue": "OK",
            "StateReason": "Threshold Crossed: no datapoint was greater than the threshold.",
            "StateTransitionedTimestamp": self.alarms_made_s,
            **{name: properties[name] for name in kept if name in properties},
        }

    def fire_alarm(self, logical_id, *clusters, reason="Threshold"):
        """Set an alarm to ALARM, with the contributors *clusters* if it is an alarm on a query."""
        self.alarms[logical_id] |= {"StateValue": "ALARM", "StateReason": reason}
        self._contributors[self.alarms[logical_id]["AlarmName"]] = [
            {
                "ContributorId": f"{number:016x}",
                "ContributorAttributes": {"ClusterName": cluster},
                "StateReason": reason,
                "StateTransitionedTimestamp": self.alarms_made_s,
            }
            for number, cluster in enumerate(clusters)
        ]

    def _describe_alarms(self, document):
        prefix = document.get("AlarmNamePrefix", "")
        alarms = [alarm for alarm in self.alarms.values() if alarm["AlarmName"].startswith(prefix)]
        alarms.sort(key=lambda alarm: alarm["AlarmName"])
        return page(document, "MetricAlarms", alarms, self.alarms_page, "NextToken")

    def _describe_alarm_contributors(self, document):
        contributors = self._contributors.get(document["AlarmName"], [])
        return page(document, "AlarmContributors", contributors, self.alarms_page, "NextToken")


class FakeLedgerObjects:
    """An S3 client with *objects* by key, which lists *page* keys at a time."""

    def __init__(self, objects, page=1_000):
        self._objects = objects
        self._page = page

    def get_paginator(self, _operation):
        return SimpleNamespace(paginate=self._pages)

    def _pages(self, Prefix, **_):  # noqa: N803  # as boto3 has it
        keys = sorted(key for key in self._objects if key.startswith(Prefix))
        for start in range(0, len(keys) or 1, self._page):
            yield {"Contents": [{"Key": key} for key in keys[start : start + self._page]]}

    def get_object(self, Key, **_):  # noqa: N803  # as boto3 has it
        return {"Body": io.BytesIO(self._objects[Key])}
