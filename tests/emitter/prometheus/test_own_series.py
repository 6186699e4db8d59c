"""What the script does not know: states, idle minutes, holders, coverage, health."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from neuron_reports import counters, hardware, memory, report, runtime
from prometheus_client.parser import text_string_to_metric_families
from scraped import PlayedPage, value

from emitter.prometheus.families import OWN, SCRIPT
from emitter.prometheus.minute_samples import MAX_OWNERS
from emitter.prometheus.runtime_samples import MAX_SAMPLES

HALF_IDLE = report(
    runtime(counters([80.0, 0, 0, 0]), memory({0: 64, 1: 64}), pid=7),
    neuron_hardware_info=hardware(1, 4),
)


def whole_minutes(played, document, count=1, health=None):
    """Minutes of twelve of these reports; the record of the last."""
    record = None
    for _ in range(count):
        played.read(*[document] * 12)
        record = played.close(health)
    return record


def test_each_core_has_its_state_its_idle_time_and_who_held_it():
    """As in the minute line; a core that nobody holds has no holder, one that is busy has."""
    played = PlayedPage()
    record = whole_minutes(played, HALF_IDLE, 2)
    series = played.series("neuron_emf_")
    assert "bauu" == record.core_state
    states = {"b": "busy", "a": "attached_idle", "u": "unattached"}
    for core, letter in enumerate(record.core_state):
        for name in (*states.values(), "unknown"):
            shown = value(series, "neuron_emf_core_state", neuroncore=str(core), state=name)
            assert float(states[letter] == name) == shown
    idle_s = [
        value(series, "neuron_emf_core_idle_seconds", neuroncore=str(core)) for core in range(4)
    ]
    assert [60 * minutes for minutes in record.idle_minutes] == idle_s
    holders = [value(series, "neuron_emf_core_holder", neuroncore=str(core)) for core in range(4)]
    assert [1, 1, None, None] == holders
    assert 1 == value(series, "neuron_emf_core_holder", neuroncore="1", owner="owner-7")
    assert [1, 1, 2, 0] == [
        value(series, "neuron_emf_cores", state=name)
        for name in ("busy", "attached_idle", "unattached", "unknown")
    ]
    assert {"blue"} == {dict(labels).get("cluster", "blue") for _, labels in series}


def test_an_unknown_core_is_not_shown_as_idle():
    """It has no idle time as long as nobody knows; its state says so."""
    played = PlayedPage()
    whole_minutes(played, HALF_IDLE, 2)
    whole_minutes(played, report(neuron_runtime_data=None, neuron_hardware_info=hardware(1, 4)))
    series = played.series("neuron_emf_core_")
    assert None is value(series, "neuron_emf_core_idle_seconds", neuroncore="1")
    assert 1 == value(series, "neuron_emf_core_state", neuroncore="1", state="unknown")


def test_the_health_is_that_of_the_minute_line():
    """Drops are listed by every reason, so that their sum is always there."""
    played = PlayedPage()
    health = {"ReportsRead": 12, "RecordsDropped": 3, "DroppedTooOld": 3, "EmitterMemory": 40e6}
    whole_minutes(played, HALF_IDLE, health=health)
    series = played.series("neuron_emf_")
    assert 12 == value(series, "neuron_emf_reports_read_total")
    assert 40e6 == value(series, "neuron_emf_resident_memory_bytes")
    assert 3 == value(series, "neuron_emf_records_dropped_total", reason="too_old")
    assert 0 == value(series, "neuron_emf_records_dropped_total", reason="spool_full")
    assert 60 == value(series, "neuron_emf_covered_seconds")


def test_a_page_before_the_first_report_says_which_emitter_it_is():
    """And nothing about cores or runtimes, because nobody has told."""
    assert {"neuron_emf_build_info"} == {name for name, _ in PlayedPage().series()}


def test_the_page_has_a_bound_and_says_what_it_leaves_out():
    """600 runtimes of 32 cores each: whole runtimes are left out, and counted."""
    cores = counters({str(core): 1.0 for core in range(32)})
    crowd = [runtime(cores, pid=1000 + number, tag=f"t{number}") for number in range(600)]
    played = PlayedPage()
    played.read(report(*crowd))
    series = played.series()
    shown = [key for key in series if key[0] == "neuroncore_utilization_ratio"]
    assert MAX_SAMPLES >= len(shown) > MAX_SAMPLES - 32
    assert 600 - len(shown) / 32 == value(series, "neuron_emf_runtimes_left_out")


def test_a_core_has_a_bounded_number_of_holders():
    """Of twenty that share one, the first by name."""
    crowd = [runtime(counters([1.0]), memory({0: 64}), pid=n, tag=str(n)) for n in range(20)]
    played = PlayedPage()
    whole_minutes(played, report(*crowd))
    assert MAX_OWNERS == len(played.series("neuron_emf_core_holder"))


def test_every_series_belongs_to_a_family_that_the_table_lists():
    """The reference page is made of that table."""
    played = PlayedPage()
    whole_minutes(played, HALF_IDLE)
    listed = {family.name for family in (*SCRIPT, *OWN)}
    assert {name for name, _ in played.series()} <= listed


FINITE = st.floats(allow_nan=False, allow_infinity=False)
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 60), 1 << 60) | FINITE
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            [
                *("neuroncore_counters", "neuroncores_in_use", "period", "error", "0", "9999"),
                *("neuroncore_utilization", "memory_used", "neuron_runtime_used_bytes", "host"),
                *("usage_breakdown", "neuroncore_memory_usage", "tensors", "execution_stats"),
                *("execution_summary", "completed", "error_summary", "latency_stats"),
            ]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(
    st.lists(st.builds(dict, pid=HOSTILE, neuron_runtime_tag=HOSTILE, report=HOSTILE), max_size=3)
)
def test_no_report_breaks_the_page(runtimes):
    """Whatever a monitor writes: what can be read is on a page that a parser reads."""
    played = PlayedPage()
    played.read(report(*runtimes), report(*runtimes))
    played.close()
    families = list(text_string_to_metric_families(played.page.text().decode()))
    assert any(family.name == "neuron_emf_build_info" for family in families)
