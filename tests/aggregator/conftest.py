"""The DynamoDB table of the functions, and their clock."""

from __future__ import annotations

import time

import boto3
import pytest
from moto import mock_aws

from aggregator import runtime
from aggregator.close import function as close
from aggregator.ingest import function as ingest
from tests.aggregator.handler_traces import HANDLERS_NOW_S, CurrentStdout
from tests.aggregator.memory_stack import create_table


@pytest.fixture
def dynamodb(monkeypatch):
    """Start a DynamoDB inside this process, with an empty table named records."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        client = boto3.client("dynamodb")
        create_table(client, "records")
        yield client


@pytest.fixture
def functions(monkeypatch, dynamodb):  # noqa: ARG001 - the table is there
    """Set the table's name in the environment, as the template does for the functions."""
    variables = {
        "TABLE_NAME": "records",
        "STACK_NAME": "neuron-emf",
        "ROLLUPS_LOG_GROUP": "/neuron-emf/rollups",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/neuron-emf/ingest",
        "POWERTOOLS_SERVICE_NAME": "ingest",
        "POWERTOOLS_METRICS_NAMESPACE": "Neuron/Stack",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    runtime.stack.cache_clear()
    for handler in (ingest, close):
        monkeypatch.setattr(handler.logger.registered_handler, "stream", CurrentStdout())
    yield
    runtime.stack.cache_clear()


@pytest.fixture
def handlers_clock(monkeypatch):
    """Set `time.time` to half past a minute, the same minute in each test."""
    monkeypatch.setattr(time, "time", lambda: HANDLERS_NOW_S)
