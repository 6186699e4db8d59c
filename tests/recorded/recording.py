"""
Where the expectations of this folder come from: calls to real AWS that others recorded.

Each table here restates what a recording shows, figure by figure, with its path beside it.
The recordings stay where they are: paths are those of github.com/radkawar/stackd at the
commit below, captured in September and October 2026.
"""

from __future__ import annotations

COMMIT = "9dc356f5e5cc49d2d334178a09c1398dd1c62617"
CLOUDWATCH = "testdata/aws/cloudwatch/"
LOGS = "testdata/aws/logs/"

EVALUATION = f"{CLOUDWATCH}alarm_evaluation.json"
SAMPLES = f"{CLOUDWATCH}metric_insights_contributor_samples.json"
CONTRIBUTORS = f"{CLOUDWATCH}metric_insights_alarm_contributors.json"
LIFETIME = f"{CLOUDWATCH}metric_insights_contributor_lifetime.json"
DELIVERY = f"{CLOUDWATCH}metric_insights_contributor_delivery.json"
DISCOVERY = f"{CLOUDWATCH}metric_discovery_alarms.json"
ALARM_DELIVERY = f"{CLOUDWATCH}alarm_delivery.json"
INGESTION = f"{LOGS}ingestion.json"
FILTERS = f"{LOGS}filters.json"
SUBSCRIPTIONS = f"{LOGS}subscriptions.json"
KINESIS = f"{LOGS}kinesis-subscriptions.json"
OUTPUT = "testdata/aws/lambda_structured_logging.json"
TAILS = "testdata/aws/lambda/invocation_tails.json"
