"""
A snapshot is the page with its data in one file: it sends no request, and names cannot escape.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.page import snapshot
from neuron_emf.page.snapshot import in_html, key_of
from neuron_emitter.errors import EmitterError
from tests.neuron_emf.page.page_account import view_of
from tests.neuron_emf.page.test_page_modules import ROOT, require

HOSTILE = "</script><script>document.title='run'</script><!--&lt;\u2028"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Return a script of snapshots."""
    file = tmp_path / "snapshot.js"
    file.write_text("document.title = 'snapshot';\n", "utf-8")
    monkeypatch.setattr(snapshot, "BUNDLE", file)
    return file


@given(
    st.recursive(
        st.none() | st.text() | st.just(HOSTILE),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_name_leaves_the_data(document):
    """No text in the data begins or ends an element; a browser reads the data completely."""
    text = in_html(document)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert document == json.loads(text)


def test_it_allows_its_own_script_and_style_alone(script, view, looked_at):
    """The CSP allows only its own script and style by hash; the file has no token or address."""
    text = snapshot.snapshot(view)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    for name, element in (("script-src", "<script>"), ("style-src", "<style>")):
        content = re.search(f"{element}(.*?)</", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" == rules[name]
    assert "'none'" == rules["default-src"] == rules["connect-src"]
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert "127.0.0.1" not in text
    assert "token" not in text.partition('id="snapshot"')[0]
    assert script.read_text("utf-8") in text
    assert looked_at.operations


def test_it_has_what_the_page_asks_for(script, view):
    """
    A snapshot has the cores, charts and amounts of all clusters, and commands, by the page's keys.
    """
    text = snapshot.snapshot(view)
    found = json.loads(re.search(r'id="snapshot">(.*?)</script>', text)[1])
    answers = found["answers"]
    for cluster in ("", "research", "serving"):
        charts = answers[key_of("/charts.json", {"cluster": cluster, "range": "1h"})]
        assert 60 == len(charts["x"])
        assert answers[key_of("/cores.json", {"cluster": cluster})]["instances"]
    assert answers["/amounts.json?range=1h"]["amounts"]["owners"]
    place = "cluster=research&instance=i-06f58c76ba1c4c2e7"
    assert f"/instance.json?{place}" in answers
    about = {
        "cluster": "research",
        "owner": "slurm:4711 ml-user",
        "instances": "i-06f58c76ba1c4c2e7",
    }
    assert key_of("/commands.json", about) in answers
    assert script.exists()


def test_a_snapshot_names_what_could_not_be_read(script, view, monkeypatch):
    """A part that cannot be read shows the live page's sentence, with the missing action."""
    msg = "cloudwatch:DescribeAlarms failed (AccessDenied). Allow this action."

    def refused(_query):
        raise EmitterError(msg) from None

    monkeypatch.setitem(view.reads, "/alarms.json", refused)
    found = json.loads(re.search(r'id="snapshot">(.*?)</script>', snapshot.snapshot(view))[1])
    assert msg == found["answers"]["/alarms.json"]["error"]
    assert script.exists()


def test_keys_are_those_of_the_page():
    """Keys equal the page's: sorted by name, without empty values, quoted like URLSearchParams."""
    assert "/now.json" == key_of("/now.json", {"cluster": ""})
    query = {"owner": "a b~*ä/&=", "cluster": "c"}
    assert "/row.json?cluster=c&owner=a+b%7E*%C3%A4%2F%26%3D" == key_of("/row.json", query)


def test_the_command_writes_one_file(typed, script, looked_at, tmp_path):
    """
    The command writes one file and names its readers. If the script or the folder is missing, the
    error has a remedy.
    """
    file = tmp_path / "page.html"
    code, out, err = typed("page", "--snapshot", str(file))
    assert 0 == code
    assert "" == err
    assert f"Wrote {file}" in out
    assert "anyone who has the file can read them" in out
    assert file.read_text("utf-8").startswith("<!doctype html>")
    code, _, err = typed("page", "--snapshot", str(tmp_path / "none" / "page.html"))
    assert 2 == code
    assert "Use another path." in err
    script.unlink()
    code, _, err = typed("page", "--snapshot", str(file))
    assert 2 == code
    assert "make page-bundle" in err
    assert looked_at.operations


def test_it_opens_without_a_server(chromium, double, hour, monkeypatch, tmp_path):
    """
    A snapshot opens without a network: the numbers are there, a hostile name is text, and the range
    of an address is replaced by the one that the file has.
    """
    esbuild = ROOT / "node_modules/.bin/esbuild"
    require(esbuild.exists(), "run make node_modules/.ready first")
    bundle = tmp_path / "snapshot.js"
    subprocess.run(
        [
            esbuild,
            "neuron_emf/page/static/main.js",
            "--bundle",
            "--minify",
            "--format=iife",
            "--log-level=warning",
            f"--outfile={bundle}",
        ],
        cwd=ROOT,
        check=True,
    )
    monkeypatch.setattr(snapshot, "BUNDLE", bundle)
    hostile = [text.replace("jupyter-ada", json.dumps(HOSTILE)[1:-1]) for text in hour.rollups]
    double.put_lines(double.rollups_group, hostile, 110_000)
    file = tmp_path / "page.html"
    snapshot.write_snapshot(view_of(), file)
    seen = []
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda asked: asked.url.startswith("data:") or seen.append(asked.url))
    page.goto(f"{file.as_uri()}#range=7d")
    page.get_by_text("38.94").first.wait_for()
    page.get_by_text("last hour: a snapshot has no other range").wait_for()
    page.get_by_role("columnheader", name="USD, 1 h").wait_for()
    assert "range" not in page.evaluate("location.hash")
    assert 0 == page.get_by_role("group", name="Time range").count()
    page.get_by_text("document.title='run'").first.wait_for()
    assert "run" != page.title()
    page.get_by_role("button", name="slurm:4711 ml-user", exact=True).click()
    page.get_by_text("scontrol show job 4711").wait_for()
    page.get_by_role("button", name="Show only this").click()
    page.locator(".breakdown-row").nth(1).wait_for(state="detached")
    assert 1 == page.locator(".breakdown-row").count()
    assert [file.as_uri()] == [address.partition("#")[0] for address in seen]
    context.close()
