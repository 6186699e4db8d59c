"""A real Prometheus on the page of a real emitter: what it takes, and what it can do to it."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
import urllib.request
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
import yaml
from neuron_reports import counters, hardware, memory, report, runtime, written
from real_prometheus import RULES, free_port, program, scraping
from scraped import simulated

from emitter.prometheus.scrape_server import MAX_CONNECTIONS
from proof.emitter_process import COMMAND, environment, wait_until
from tests.programs import run_program

HERE = Path(__file__).resolve().parent
PERIOD_S = 0.25
LATE_S = 2.0  # of a machine that has other things to do, too
_KNOWN_LINT = "system_vcpu_count non-histogram and non-summary metrics"  # AWS's name


@contextmanager
def emitter(folder, *options):
    """One that reads reports on standard input and serves a page; its process and its port."""
    port = free_port()
    command = [*COMMAND, "run", "--cluster", "blue", "--input", "-", "--output", "stdout"]
    with (folder / "lines").open("wb") as lines, (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [*command, "--prometheus", str(port), *options],
            stdin=subprocess.PIPE,
            stdout=lines,
            stderr=said,
            env=environment(folder),
        )
    try:
        wait_until(lambda: b"/metrics" in (folder / "said").read_bytes(), 20)
        yield process, port
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait(timeout=20)


def page(port):
    """As a scraper gets it."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read()


def write(process, document):
    """One report to the emitter."""
    process.stdin.write(written(document) + b"\n")
    process.stdin.flush()


def test_promtool_finds_nothing_wrong_with_the_page(tmp_path):
    """But one name of AWS's, which ends as only a histogram's should."""
    tool = program("promtool")
    with emitter(tmp_path) as (process, port):
        for document in simulated("trn1.32xlarge", "many-runtimes", 4):
            write(process, document)
        wait_until(lambda: b"neuroncore_utilization_ratio{" in page(port), 20)
        checked = run_program([tool, "check", "metrics"], input=page(port).decode())
    assert [] == [line for line in checked.stderr.splitlines() if _KNOWN_LINT not in line]


def test_the_rules_say_what_they_mean(tmp_path):
    """Each alert fires when it should, and not the minute before."""
    tool = program("promtool")
    played = (HERE / "rules.test.yaml").read_text("utf-8")
    test = tmp_path / "rules.test.yaml"
    test.write_text(played.replace("RULES", str(RULES)), encoding="utf-8")
    ended = run_program([tool, "test", "rules", str(test)])
    assert 0 == ended.returncode, ended.stdout + ended.stderr


AFTER_20_MINUTES = [
    *(75.0, 0.0, 1.0),  # coverage, instances with reports and without
    *(2.0, 3.0, 1.0),  # idle of known, unheld
    *(1.0, 2.0, 100 / 3),  # of the one owner; idle of the cluster; percent busy
]
"""What the panels' queries give on the series of rules.test.yaml, in the order of the screen."""


def test_every_query_of_the_dashboard_gives_what_its_panel_says(tmp_path):
    """Also 0, where nothing is known to be idle; the file that people import, panel by panel."""
    tool = program("promtool")
    board = json.loads((RULES.parents[1] / "grafana" / "prometheus.json").read_text("utf-8"))
    panels = sorted(board["panels"], key=lambda one: (one["gridPos"]["y"], one["gridPos"]["x"]))
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    played = yaml.safe_load((HERE / "rules.test.yaml").read_text("utf-8"))
    played["rule_files"] = [str(RULES)]
    (whole,) = played["tests"]
    labels = {6: '{cluster="blue", owner="ml/llama"}', 7: '{cluster="blue"}', 8: '{cluster="blue"}'}
    whole["alert_rule_test"] = []
    whole["promql_expr_test"] = [
        {
            "expr": expression,
            "eval_time": "20m",
            "exp_samples": [{"labels": labels.get(place, "{}"), "value": number}],
        }
        for place, (expression, number) in enumerate(zip(asked, AFTER_20_MINUTES, strict=True))
    ]
    test = tmp_path / "dashboard.test.yaml"
    test.write_text(yaml.safe_dump(played), encoding="utf-8")
    ended = run_program([tool, "test", "rules", str(test)])
    assert 0 == ended.returncode, ended.stdout + ended.stderr
    assert {"no data"} == {panel["fieldConfig"]["defaults"]["noValue"] for panel in panels}


@pytest.mark.slow
@pytest.mark.timeout(150)
def test_a_real_prometheus_scrapes_evaluates_and_sees_a_runtime_go(tmp_path):
    """
    Every scrape succeeds, every rule of ours is loaded and well, and what is gone is gone.

    The runtime's series end with the first report that does not list it.
    """
    both = report(
        runtime(counters([50.0]), memory({0: 64}), tag="stays"),
        runtime(counters([0, 60.0]), memory({1: 64}), pid=2, tag="goes"),
        neuron_hardware_info=hardware(1, 4),
    )
    left = {**both, "neuron_runtime_data": both["neuron_runtime_data"][:1]}
    series = 'neuroncore_utilization_ratio{runtime_tag="%s",neuroncore="%d"}'
    with emitter(tmp_path) as (process, port), scraping(tmp_path, port) as prometheus:
        write(process, both)
        wait_until(lambda: prometheus.value(series % ("goes", 1)) == 0.6, 30)
        write(process, left)
        wait_until(lambda: prometheus.value(series % ("goes", 1)) is None, 30)
        assert 0.5 == prometheus.value(series % ("stays", 0))
        # a minute must close before there are states, and so what the rules are about
        wait_until(lambda: prometheus.value("cluster:neuron_emf_idle_cores:sum") == 0.0, 80)
        assert 1.0 == prometheus.value("min_over_time(up[1h])")
        groups = prometheus.asked("rules")["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert {"ok"} == {rule["health"] for rule in rules}
    assert 8 == len(rules)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_no_report_is_late_whatever_scrapers_do(tmp_path):
    """
    A Prometheus that is killed while it scrapes, more slow readers than there are connections,
    and twenty that ask without end: every report is read when it was written.
    """
    documents = simulated("trn1.32xlarge", "many-runtimes", 4)
    written_s, is_over = [], threading.Event()

    def ask(port):
        while not is_over.is_set():
            with suppress(OSError):
                page(port)

    with (
        emitter(tmp_path, "--high-resolution-metrics") as (process, port),
        scraping(tmp_path, port) as prometheus,
    ):
        write(process, documents[0])
        wait_until(lambda: prometheus.value("up") == 1.0, 30)
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(MAX_CONNECTIONS)]
        for one in slow:
            one.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        many = [threading.Thread(target=ask, args=(port,)) for _ in range(20)]
        for one in many:
            one.start()
        for number in range(40):
            if number == 20:
                prometheus.process.kill()
            written_s.append(time.time())
            write(process, documents[number % len(documents)])
            time.sleep(PERIOD_S)
        is_over.set()
        for one in many:
            one.join()
        for one in slow:
            with closing(one):
                pass
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text("utf-8").splitlines()]
    received_s = [line["_aws"]["Timestamp"] / 1000 for line in lines if line["Kind"] == "report"]
    received_s = sorted({*received_s})[1:]
    assert len(written_s) == len(received_s)
    late_s = [received - sent for sent, received in zip(written_s, received_s, strict=True)]
    assert max(late_s) < LATE_S, late_s
