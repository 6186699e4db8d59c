"""`run --prometheus`: its address, its pages and its failures."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from neuron_emitter.prometheus.scrape_server import MAX_CONNECTIONS, ScrapeServer
from neuron_emitter.settings.run_settings import ListenAddress, read_listen_address
from proof.emitter_process import HUNG_AFTER_S
from tests.neuron_emitter.emitter_command import neuron_emf, sentence
from tests.neuron_emitter.neuron_reports import counters, hardware, report, runtime, written
from tests.neuron_emitter.prometheus.page_player import series_of

LOOPBACK_ADDRESS = ListenAddress("127.0.0.1", 0)


class BlockingPage(Collector):
    """A page with one metric, which a test can break."""

    is_broken = False

    def collect(self):
        """Yield one metric."""
        if self.is_broken:
            raise RuntimeError
        yield GaugeMetricFamily("neuron_emf_build_info", "The emitter.", 1)


@pytest.fixture
def serve():
    """Yield a function that serves a page and returns its port; servers end with the test."""
    servers = []

    def start(page=None):
        servers.append(ScrapeServer(LOOPBACK_ADDRESS, page or BlockingPage()))
        return servers[-1].address.port

    yield start
    for server in servers:
        server.close()


def response_of(port, path="/metrics", method="GET"):
    """Return status, content type and body of an answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read()


def test_the_page_is_at_metrics_and_nothing_else_is_served(serve):
    """Only GET /metrics is served; a query is permitted."""
    port = serve()
    page = response_of(port)
    status, content_type, text = page
    assert 200 == status
    assert content_type.startswith("text/plain; version=")
    assert {("neuron_emf_build_info", frozenset()): 1} == series_of(text.decode())
    assert page == response_of(port, "/metrics?name[]=up")
    assert 404 == response_of(port, "/")[0]
    assert 501 == response_of(port, method="POST")[0]


def test_silent_connections_keep_no_scrape_out(serve):
    """Connections without a request do not keep a scrape out."""
    port = serve()
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(4 * MAX_CONNECTIONS)]
    assert 200 == response_of(port)[0]
    for connection in silent:
        connection.close()


class SlowPage(BlockingPage):
    """A page that waits for the maximum number of requests, and then for the test."""

    def __init__(self):
        self.all_ask = threading.Barrier(MAX_CONNECTIONS + 1)
        self.may_answer = threading.Event()

    def collect(self):
        """Yield one metric after the test permits it."""
        self.all_ask.wait(HUNG_AFTER_S)
        assert self.may_answer.wait(HUNG_AFTER_S)
        yield from super().collect()


def test_a_connection_that_is_answered_is_kept(serve):
    """Clients with a request get the page; a further client is refused meanwhile."""
    page = SlowPage()
    port = serve(page)
    with ThreadPoolExecutor(MAX_CONNECTIONS) as pool:
        answers = [pool.submit(response_of, port) for _ in range(MAX_CONNECTIONS)]
        page.all_ask.wait(HUNG_AFTER_S)
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            response_of(port)
        page.may_answer.set()
        assert {200} == {answer.result()[0] for answer in answers}


def test_a_page_that_fails_is_logged_and_serving_continues(serve, caplog):
    """A page that fails is logged once a minute. Its client gets no answer; serving continues."""
    page = BlockingPage()
    port = serve(page)
    page.is_broken = True
    for _ in range(2):
        with pytest.raises(http.client.RemoteDisconnected):
            response_of(port)
    page.is_broken = False
    assert 200 == response_of(port)[0]
    assert ["The page for Prometheus failed."] == caplog.messages


SCRAPED_REPORT = written(report(runtime(counters([50.0, 0])), neuron_hardware_info=hardware(1, 2)))
SCRAPED_RUN = ("run", "--cluster", "blue", "--input", "reports", "--output", "stdout")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8008", ("127.0.0.1", 8008)),
        ("0.0.0.0:8008", ("0.0.0.0", 8008)),
        ("[::]:8008", ("::", 8008)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_a_port_alone_is_of_this_machine_only(text, address):
    """A port alone listens only on this machine. An address before it opens it to others."""
    assert address == read_listen_address(text)


def test_a_port_that_is_taken_ends_the_start(tmp_path):
    """If the port is taken, the emitter ends with exit code 2, because a retry does not help."""
    (tmp_path / "reports").write_bytes(SCRAPED_REPORT + b"\n")
    with subprocess.Popen(
        [sys.executable, "-c", LISTEN_PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        port = other.stdout.readline().strip()
        ended = neuron_emf(*SCRAPED_RUN, "--prometheus", port, home=tmp_path)
        other.stdin.close()
    assert f"cannot listen on 127.0.0.1:{port}" in sentence(ended, 2)


LISTEN_PROGRAM = (
    "import socket, sys; one = socket.create_server(('127.0.0.1', 0)); "
    "print(one.getsockname()[1], flush=True); sys.stdin.read()"
)
