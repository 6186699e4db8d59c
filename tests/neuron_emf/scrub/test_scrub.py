"""What `neuron-emf scrub` removes, what it keeps, and that the numbers stay what they were."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.scrub.line_members import LINE
from neuron_emf.scrub.pseudonyms import Pseudonyms
from neuron_emf.scrub.report_members import REPORT
from neuron_emf.scrub.shapes import Scrubber
from tests.emitter import neuron_reports as made

SECRET = "s3cret"


def report():
    """A report with a text or a number in every group there is."""
    document = made.whole()
    document["neuron_runtime_data"][0]["neuron_runtime_tag"] = "team-a"
    failed = made.memory({2: 9}, error="open /proc/42/stat: no such file")
    document["neuron_runtime_data"][1]["report"]["memory_used"] = failed
    document["instance_info"] |= {"instance_name": "node-a", "ultraserver_id": "ultra-a"}
    return json.loads(made.written(document))


def paths(value, path=()):
    """Where something stands in a JSON value: objects and texts."""
    if isinstance(value, str):
        yield path, str
    elif isinstance(value, dict):
        yield path, dict
        for name, member in value.items():
            yield from paths(member, (*path, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from paths(member, (*path, index))


PLACES = list(paths(report()))


def planted(document, places):
    """*document* with a secret in each of *places*: as the text, or as a member and its name."""
    for path, kind in places:
        *above, last = (None, *path)
        at = {None: document}
        for step in above:
            at = at[step]
        if kind is str:
            at[last] = f"{SECRET}/{last}"
        else:
            inside = at[last]
            inside |= {f"{SECRET}_text": SECRET, SECRET: {SECRET: [SECRET, 1]}}
    return document


@given(st.sets(st.sampled_from(PLACES)))
def test_no_text_of_a_report_stays_that_is_not_on_the_list(places):
    """Wherever a name may stand, and whatever a newer tool may call a member."""
    scrubbed = Scrubber().scrub(planted(report(), places), REPORT)
    assert SECRET not in json.dumps(scrubbed)


def replayed(typed, folder, documents):
    """The lines of reports, each read as JSON."""
    file = folder / "reports.json"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in documents), "utf-8")
    words = ("--interval", 5, "--start", "2026-01-01T00:00:00Z", "--cluster", "blue")
    code, out, _ = typed("replay", file, *words, "--runtime-lines", "all")
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


def test_scrubbed_reports_make_the_lines_scrubbed(typed, tmp_path):
    """Every number, state, holder and error that the emitter makes of them is the same."""
    documents = [report() for _ in range(26)]
    scrubber = Scrubber()
    scrubbed = replayed(typed, tmp_path, [scrubber.scrub(each, REPORT) for each in documents])
    lines = [scrubber.scrub(line, LINE) for line in replayed(typed, tmp_path, documents)]
    assert {"minute", "runtime", "event"} == {line["Kind"] for line in lines}
    for line in (*lines, *scrubbed):
        # Of an option and of the input's own hash; shortened, and a sentence with names in it.
        for name in ("ClusterName", "Boot", "Error", "Message"):
            line.pop(name, None)
    assert lines == scrubbed


def test_no_text_of_a_line_stays_that_is_not_on_the_list(typed, tmp_path):
    """Nor does a tag, of which the operator chose the name."""
    for line in replayed(typed, tmp_path, [report() for _ in range(26)]):
        for place in paths(line):
            given = planted(json.loads(json.dumps(line)), [place])
            assert SECRET not in json.dumps(Scrubber().scrub(given, LINE))


def test_the_same_name_gets_the_same_name():
    """In the form that ids and owners have, so that readers still take them for some."""
    names = Pseudonyms()
    assert "name-a" == names.name("llama") == names.name("llama")
    assert "slurm:name-b" == names.name("slurm:4711 ml-user")
    assert "name-c/name-a/name-d" == names.name("search/llama/server")
    assert "i-00000000000000005" == names.name("i-0123456789abcdef0")
    assert "000000000006" == names.name("210987654321")
    assert "" == names.name("")


def test_a_newer_member_is_removed_and_named_or_kept(typed, tmp_path):
    """Whoever shares a report sees what is missing of it, and may ask for it."""
    file = tmp_path / "reports.json"
    document = report() | {"power": {"watts": 91.5, "rack": "row 7", "pdu": ["a7"]}}
    file.write_text(json.dumps(document, indent=2), "utf-8")
    code, out, err = typed("scrub", file)
    assert (0, False) == (code, "power" in out)
    assert (
        "Members removed, because they are on no list: power. Keep one with --keep MEMBER." in err
    )
    _, out, err = typed("scrub", file, "--keep", "power")
    kept = json.loads(out)["power"]
    assert (91.5, True, False) == (kept["watts"], kept["rack"].startswith("name-"), "row 7" in out)
    assert "Members removed" not in err


def test_lines_are_read_with_what_tools_put_before_them(typed, tmp_path):
    """As `aws logs tail` prints them; what is neither is counted and never shown."""
    file = tmp_path / "tail.log"
    line = json.dumps({"Schema": 1, "Kind": "event", "ClusterName": "blue", "team": "ads"})
    file.write_text(f"2026-01-01T00:00:00 i-0 {line}\nhello ads\n", "utf-8")
    code, out, err = typed("scrub", file)
    assert (0, {"Schema": 1, "Kind": "event", "ClusterName": "name-a"}) == (code, json.loads(out))
    assert "Omitted, neither report nor log line: 1." in err
    assert "ads" not in out + err


@pytest.mark.parametrize("text", ["", "hello\n", "[1]\n"])
def test_a_file_without_either_is_refused(typed, tmp_path, text):
    """Exit 3: nothing was scrubbed that anybody could share."""
    file = tmp_path / "other.txt"
    file.write_text(text, "utf-8")
    code, out, err = typed("scrub", file)
    assert (3, "") == (code, out)
    assert "No report and no log line in" in err
