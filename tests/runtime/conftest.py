"""The built functions under AWS's own runtime client, on two Pythons of Lambda."""

from __future__ import annotations

import urllib.request
from contextlib import ExitStack

import boto3
import pytest

from tests.aggregator.memory_stack import create_table
from tests.runtime.function_process import Function, FunctionRuntime, interpreter_of

PYTHONS_AT_THE_ENDS = [
    "3.11",
    "3.13",
]  # the oldest Python that Lambda still offers, and the template's default
TABLE_NAME = "records"
ON_THE_DEFAULT = pytest.mark.parametrize(
    "runtime", PYTHONS_AT_THE_ENDS[-1:], indirect=True, scope="session"
)
"""Tests that do not depend on the release of Python use the template's."""

LEDGER_NAME = "neuron-emf-ledger"

VARIABLES = {
    "LEDGER_BUCKET": LEDGER_NAME,
    "ALARM_TOPIC_ARN": "arn:aws:sns:us-east-1:123456789012:alarms",
    "TABLE_NAME": TABLE_NAME,
    "STACK_NAME": "neuron-emf",
    "RECORDS_LOG_GROUP": "/neuron-emf/records",
    "ROLLUPS_LOG_GROUP": "/neuron-emf/rollups",
    "POWERTOOLS_SERVICE_NAME": "tested",
}


@pytest.fixture(scope="session", params=PYTHONS_AT_THE_ENDS, ids=lambda version: f"python{version}")
def runtime(request, repository, runtime_libraries, tmp_path_factory):
    """Return one Python of Lambda with AWS's client for it."""
    interpreter = interpreter_of(request.param)
    client = repository / ".venv-lambda" / request.param
    if interpreter is None:
        pytest.skip(f"this machine has no Python {request.param}")
    if not (client / ".ready").exists():
        pytest.skip(f"{client} is missing: run `make venvs` on Linux")
    lambda_runtime = FunctionRuntime(
        request.param, interpreter, client, runtime_libraries, tmp_path_factory.mktemp("bytecode")
    )
    lambda_runtime.compile()
    return lambda_runtime


@pytest.fixture(scope="session")
def endpoint():
    """Yield the address of an AWS with a table, a bucket and a topic."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - 0.6 s of each run

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def dynamodb(endpoint):
    """Return a client of the table, which is empty."""
    reset = urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST")
    urllib.request.urlopen(reset).close()
    where = {
        "endpoint_url": endpoint,
        "region_name": "us-east-1",
        "aws_access_key_id": "testing",
        "aws_secret_access_key": "testing",
    }
    client, s3, sns = (boto3.client(name, **where) for name in ("dynamodb", "s3", "sns"))
    create_table(client, TABLE_NAME)
    s3.create_bucket(Bucket=LEDGER_NAME)
    sns.create_topic(Name="alarms")
    yield client
    for opened in (client, s3, sns):
        opened.close()


@pytest.fixture(scope="session")
def make_function(built, runtime, endpoint, tmp_path_factory):
    """
    Return a function that makes a process of a function of the template; the caller stops the
    process.
    """

    def function(name, handler, **variables):
        return Function(
            runtime,
            built / name,
            handler,
            {**VARIABLES, "AWS_ENDPOINT_URL": endpoint, **variables},
            tmp_path_factory.mktemp(name),
        )

    return function


@pytest.fixture
def start(make_function):
    """Yield a function that starts a new process of a function and stops the one before."""
    with ExitStack() as running:

        def start_new(name, handler, **variables):
            running.close()
            function = make_function(name, handler, **variables)
            running.callback(function.stop)
            return function

        yield start_new


@pytest.fixture(scope="session")
def warm(make_function):
    """Return a function that returns the same started process each time, with its memory."""
    running = {}

    def same(name, **variables):
        key = (name, *sorted(variables.items()))
        if key not in running:
            handler = f"aggregator.{name}.handler"
            running[key] = make_function(f"{name.capitalize()}Function", handler, **variables)
            running[key].start()
        running[key].output()
        running[key].messages()
        return running[key]

    yield same
    for function in running.values():
        function.stop()
