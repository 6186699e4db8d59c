"""One thread serves many: bounded in time, in connections and in bytes."""

from __future__ import annotations

import http.client
import logging
import socket
import threading
import time
from contextlib import closing

import pytest

from emitter.errors import SettingsError
from emitter.prometheus import scrape_server
from emitter.prometheus.exposition import CONTENT_TYPE
from emitter.prometheus.scrape_server import MAX_CONNECTIONS, MAX_REQUEST_BYTES, ScrapeServer
from emitter.settings.listen_address import ListenAddress

HERE = ListenAddress("127.0.0.1", 0)
LARGE = b"x" * (4 << 20)  # more than the buffers of both sides hold


@pytest.fixture
def serve():
    """Serve a page; all servers end with the test."""
    servers = []

    def start(page=lambda: b"neuron_emf_build_info 1\n"):
        servers.append(ScrapeServer(HERE, page, CONTENT_TYPE))
        return servers[-1].address.port

    yield start
    for server in servers:
        server.close()


def got(port, path="/metrics", method="GET"):
    """Status, type and body of one answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=8)) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read()


def test_the_page_is_at_metrics_and_nothing_else_is_served(serve):
    """A scrape may have a query; what is no GET of it is refused."""
    port = serve()
    page = (200, "text/plain; version=0.0.4; charset=utf-8", b"neuron_emf_build_info 1\n")
    assert page == got(port) == got(port, "/metrics?name[]=up")
    assert (*page[:2], b"") == got(port, method="HEAD")
    assert 404 == got(port, "/")[0]
    assert 405 == got(port, method="POST")[0]


def test_many_at_once_all_get_the_whole_page(serve):
    """More than there are connections: the rest waits its turn."""
    port = serve(lambda: LARGE)
    sizes = []
    scrapers = [
        threading.Thread(target=lambda: sizes.append(len(got(port)[2])))
        for _ in range(4 * MAX_CONNECTIONS)
    ]
    for scraper in scrapers:
        scraper.start()
    for scraper in scrapers:
        scraper.join()
    assert [len(LARGE)] * 4 * MAX_CONNECTIONS == sizes


def test_who_does_not_read_is_cut_off_and_keeps_nobody_waiting_longer(serve, monkeypatch):
    """Every connection is taken by somebody who asks and reads nothing: the next one waits."""
    monkeypatch.setattr(scrape_server, "CONNECTION_S", 1.0)
    port = serve(lambda: LARGE)
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(MAX_CONNECTIONS)]
    for one in slow:
        one.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
    begun_s = time.monotonic()
    assert len(LARGE) == len(got(port)[2])
    assert time.monotonic() - begun_s < 5
    for one in slow:
        one.close()


def test_who_hangs_up_or_sends_too_much_costs_nobody_else_anything(serve):
    """A half request, a reset, and a request without end."""
    port = serve()
    for sent in (b"", b"GET /met", b"A" * (MAX_REQUEST_BYTES + 1)):
        with closing(socket.create_connection(("127.0.0.1", port))) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            one.sendall(sent)
    assert 200 == got(port)[0]


def test_a_page_that_fails_is_told_and_the_next_one_served(serve, caplog):
    """500 to who asked, one line in the log, and the server goes on."""
    pages = [b"neuron_emf_build_info 1\n"]

    def page():
        return pages.pop()  # raises once it is empty

    port = serve(page)
    assert [200, 500, 500] == [got(port)[0] for _ in range(3)]
    pages.append(b"neuron_emf_build_info 1\n")
    assert 200 == got(port)[0]
    assert 1 == sum(record.levelno == logging.ERROR for record in caplog.records)


def test_a_port_that_is_taken_is_refused_with_what_to_do(serve):
    """At the start, where a person or a supervisor sees it."""
    port = serve()
    with pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1:{port}: .*another port"):
        ScrapeServer(ListenAddress("127.0.0.1", port), lambda: b"", CONTENT_TYPE)


def test_a_closed_server_lets_go_of_its_port():
    """So that the next start finds it free."""
    server = ScrapeServer(HERE, lambda: b"", CONTENT_TYPE)
    server.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.address.port))
