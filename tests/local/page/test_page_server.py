"""The page by HTTP: for this machine's browser alone, and with nothing from elsewhere."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from types import SimpleNamespace

import pytest
from botocore.exceptions import EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st

from local.embedded_aws import EmbeddedAwsError
from local.page import PageServer
from local.page.server import HOST, POLICY, STATIC, static
from neuron_emf import account as accounts
from tests.local.page.recording import PLACE

SELF = {"'self'", "'none'", "data:"}


@pytest.fixture
def server(view):
    """A server of the hour at a free port."""
    with PageServer((HOST, 0), view) as started:
        yield started


def ask(server, path, method="GET", host=None):
    """Status, headers and content of one answer."""
    connection = http.client.HTTPConnection(HOST, server.port, timeout=8)
    try:
        headers = {"Host": host} if host is not None else {}
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def told(server, path, **options):
    """Status and JSON of one answer."""
    status, headers, content = ask(server, path, **options)
    assert "application/json" == headers["Content-Type"]
    return status, json.loads(content)


def test_the_page_and_the_cores_are_the_views(server, view):
    """As JSON, of the chosen cluster or of the first."""
    assert (200, view.page("serving")) == told(server, "/page.json?cluster=serving")
    assert (200, view.page()) == told(server, "/page.json")
    assert (200, view.cores("serving")) == told(server, "/cores.json?cluster=serving")


def test_commands_find_the_rehearsal(server, monkeypatch):
    """`neuron-emf ... --rehearsal` reads where it is."""
    monkeypatch.setattr(accounts, "REHEARSAL", f"{server.url}/rehearsal.json")
    found = accounts.account(accounts.AccountSettings(rehearsal=True))
    assert found.is_rehearsal
    names = ("log_group", "rollups_log_group", "stack_name")
    assert all(getattr(PLACE, name) == getattr(found, name) for name in names)
    assert PLACE.endpoint_url == found.client("logs").meta.endpoint_url


def test_an_unknown_cluster_is_not_found(server):
    """One sentence, in JSON."""
    status, answer = told(server, "/page.json?cluster=%3Cimg%3E")
    assert 404 == status
    assert "there are: research, serving" in answer["error"]


@pytest.mark.parametrize(
    "path", ["/x", "/static/", "/static/../server.py", "/static/..%2fserver.py", "/page.json/"]
)
def test_what_is_not_there_is_not_found(server, path):
    """Nothing outside of the page's own folder."""
    status, answer = told(server, path)
    assert 404 == status
    assert answer["error"]


def test_an_address_that_is_none_is_refused(server):
    """With a word, and the connection goes on."""
    with socket.create_connection(("127.0.0.1", server.port), 8) as browser:
        for _ in range(2):
            browser.sendall(b"GET http://[ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port)
            answer = http.client.HTTPResponse(browser)
            answer.begin()
            assert 400 == answer.status
            assert "a path" in json.loads(answer.read())["error"]


@given(st.text(max_size=30))
def test_no_name_leads_out_of_the_folder(name):
    """Whatever is asked, a file of the page comes or none."""
    content = static(name)
    assert content is None or content == (STATIC / name).read_bytes()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8600", "", "127.0.0.1", "[::1]"])
def test_a_request_that_names_another_host_is_refused(server, host):
    """A page elsewhere could have a name of its own lead here."""
    for path in ("/", "/page.json", "/rehearsal.json"):
        status, answer = told(server, path, host=host)
        assert 403 == status
        assert "127.0.0.1" in answer["error"]


@pytest.mark.parametrize("path", ["/", "/page.json", "/static/plotly.min.js", "/none"])
def test_every_answer_forbids_everything_from_elsewhere(server, path):
    """No script or style of another host, none within the page, no frame around it."""
    _, headers, _ = ask(server, path)
    assert POLICY == headers["Content-Security-Policy"]
    rules = {rule.split()[0]: set(rule.split()[1:]) for rule in POLICY.split(";")}
    assert {"'none'"} == rules["default-src"]
    assert {"'self'"} == rules["script-src"]
    assert all(sources <= SELF for sources in rules.values())
    assert {"'none'"} == rules["frame-ancestors"]
    assert "nosniff" == headers["X-Content-Type-Options"]
    assert "no-store" == headers["Cache-Control"]


def test_the_page_itself_is_html(server):
    """And it names no other host; the charting library is its package's, from this machine."""
    status, headers, content = ask(server, "/")
    assert (200, "text/html; charset=utf-8") == (status, headers["Content-Type"])
    assert (STATIC / "index.html").read_bytes() == content
    assert b"//" not in content.replace(b"http://127.0.0.1", b"").replace(b"<!-- ", b"")
    _, headers, content = ask(server, "/static/plotly.min.js")
    assert "text/javascript; charset=utf-8" == headers["Content-Type"]
    assert b"plotly.js v" in content[:200]


def test_head_has_no_content(server):
    """The headers are those of the answer, and what follows on the connection is the next one."""
    connection = http.client.HTTPConnection(HOST, server.port, timeout=8)
    answers = []
    for method in ("HEAD", "GET"):
        connection.request(method, "/rehearsal.json")
        answer = connection.getresponse()
        answers.append((answer.status, answer.getheader("Content-Length"), answer.read()))
    connection.close()
    (status, length, content), following = answers
    assert (200, b"") == (status, content)
    assert (200, length) == following[:2]
    assert int(length) == len(following[2])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_it_only_reads(server, method):
    """There is nothing to change."""
    assert 501 == ask(server, "/page.json", method=method)[0]


def broken(error):
    """A view that raises *error*."""

    def fail(_cluster):
        raise error

    return SimpleNamespace(page=fail)


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (EndpointConnectionError(endpoint_url="http://[::1]"), 503, "embedded AWS did not answer:"),
        (EmbeddedAwsError("it ended"), 503, "the embedded AWS did not answer: "),
        (ZeroDivisionError("x"), 500, "ZeroDivisionError"),
    ],
    ids=type,
)
def test_what_cannot_be_answered_is_said(error, status, says):
    """An embedded AWS that is gone or a fault of the page: the page goes on asking."""
    with PageServer((HOST, 0), broken(error)) as server:
        actual, answer = told(server, "/page.json")
        assert status == actual
        assert says in answer["error"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "localhost"])
def test_it_listens_on_this_machine_only(view, host):
    """Another address is refused before anything listens."""
    with pytest.raises(EmbeddedAwsError, match=r"served on 127\.0\.0\.1 only"):
        PageServer((host, 0), view)


def test_it_stops_although_a_tab_keeps_its_connection(view):
    """
    At once, and twice does no harm; the port can be had again. No thread of it keeps the process.
    """
    before = set(threading.enumerate())
    server = PageServer((HOST, 0), view)
    server.start()
    with socket.create_connection((HOST, server.port), timeout=8) as tab:
        request = f"GET /rehearsal.json HTTP/1.1\r\nHost: {HOST}:{server.port}\r\n\r\n"
        tab.sendall(request.encode())
        assert tab.recv(12) == b"HTTP/1.1 200"
        ours = set(threading.enumerate()) - before
        assert len(ours) >= 2
        assert all(one.daemon for one in ours)
        server.stop()
        server.stop()
    with PageServer((HOST, server.port), view) as again:
        assert server.port == again.port


def test_a_tab_that_goes_away_is_no_error(server, capfd):
    """Nothing is printed over the table of the terminal."""
    for _ in range(5):
        with socket.create_connection((HOST, server.port), timeout=8) as tab:
            host = f"Host: {HOST}:{server.port}"
            tab.sendall(f"GET /static/plotly.min.js HTTP/1.1\r\n{host}\r\n\r\n".encode())
            tab.recv(1)
    assert 200 == ask(server, "/rehearsal.json")[0]
    assert ("", "") == tuple(capfd.readouterr())
