"""
Mutants of the rules that matter: a few of each are made and killed here, all by `make mutants`.
"""

from __future__ import annotations

import pytest

from proof.mutants import answers
from proof.mutants.rules import RULES
from proof.mutants.trials import REPOSITORY, trials

# By file: the test file that must see it, and what of it is changed.
CHOSEN = {
    "emitter/fold/cores.py": ("tests/emitter/fold/test_fold_cores.py", [
        ("sums[core] += weight_s * share", "sums[core] += share"),
    ]),
    "emitter/fold/idle.py": ("tests/emitter/fold/test_fold_idle.py", [
        (">= WHOLE_MINUTE_S", "> WHOLE_MINUTE_S"),
        ("> FORGOTTEN_AFTER_MINUTES", ">= FORGOTTEN_AFTER_MINUTES"),
    ]),
    "lambda/neuron_wire/merging.py": ("tests/wire/test_merging.py", [
        ("<= MAX_RESTART_COVERED_S", "< MAX_RESTART_COVERED_S"),
        ("(part.boot, part.seq)", "(part.seq, part.boot)"),
    ]),
    "lambda/neuron_wire/core_owners.py": ("tests/neuron_emf/report/test_idle_owners.py", [
        ("number < rest", "number <= rest"),
    ]),
    "lambda/neuron_wire/payment.py": ("tests/wire/test_payment.py", [
        ("return paid == SUNK", "return paid == AVOIDABLE"),
    ]),
    "lambda/aggregator/storage/pack.py": ("tests/aggregator/storage/test_pack.py", [
        ("record.boot, record.seq", "record.boot, 0"),
    ]),
    "lambda/aggregator/rollups/publication.py": ("tests/aggregator/rollups/test_publication.py", [
        ("total - published.get(name, 0)", "total"),
    ]),
    "emitter/delivery/batches.py": ("tests/emitter/delivery/test_batches.py", [
        ("latest_ms - earliest_ms > limits", "latest_ms - earliest_ms >= limits"),
        ("EVENT_OVERHEAD_BYTES: Final = 26", "EVENT_OVERHEAD_BYTES: Final = 25"),
        ("== limits.max_events", "> limits.max_events"),
    ]),
    "emitter/spool/record_queue.py": ("tests/emitter/spool/test_spool.py", [
        ("self.counters[boot].delivered += records", "self.counters[boot].delivered += 1"),
    ]),
    "emitter/owners/membership.py": ("tests/emitter/owners/test_membership.py", [
        ("parts[manager + 1 :]", "parts[manager:]"),
    ]),
    "emitter/kernel/position.py": ("tests/emitter/kernel/test_kernel_position.py", [
        ("message.seq <= self.seq", "message.seq < self.seq"),
    ]),
    "neuron_emf/cost/interpolation.py": ("tests/neuron_emf/cost/test_bill.py", [
        ("(at - left)", "(at + left)"),
    ]),
    "neuron_emf/report/comparison.py": ("tests/neuron_emf/report/test_comparison.py", [
        ("now_ms - key[1] < NEWEST_MS", "now_ms - key[1] <= NEWEST_MS"),
    ]),
    "neuron_emf/stoppable/line_guards.py": (
        "tests/neuron_emf/stoppable/test_stoppable_corpus.py::test_a_clock_may_be_a_minute_behind",
        [("age_ms < -_AHEAD_MS", "age_ms <= -_AHEAD_MS")],
    ),
    "lambda/aggregator/findings/steps.py": ("tests/aggregator/findings/test_finding_steps.py", [
        ("if idle_minutes < limit:", "if idle_minutes <= limit:"),
    ]),
    "emitter/fold/runtime_history.py": ("tests/emitter/fold/test_fold_stalls.py", [
        ("load_percent < FULL_PERCENT", "load_percent <= FULL_PERCENT"),
    ]),
}  # fmt: skip


def read(file):
    """A file of the repository."""
    return (REPOSITORY / file).read_text(encoding="utf-8")


def changed(file, was, now):
    """*file* with a chosen mutant in it."""
    source = read(file)
    assert 1 == source.count(was), f"{file} has no single {was!r}: choose the mutant again"
    return source.replace(was, now)


@pytest.fixture(scope="module")
def server():
    """A copy of the tree to try mutants in."""
    with trials() as found:
        yield found


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_chosen_mutants_of_each_rule_are_killed(server):
    """
    A boundary, a limit or an amount that is off by one is seen by the test that stands beside it.
    """
    server.clean([test for test, _ in CHOSEN.values()])
    survivors = []
    for file, (test, changes) in CHOSEN.items():
        for was, now in changes:
            outcome = server.outcome(file, changed(file, was, now), [[test]], 60)
            if outcome.survived or not outcome.by.startswith(test):
                survivors.append((file, was, now, outcome))
    assert [] == survivors


def test_the_rules_name_files_that_exist_and_have_tests():
    """A module that moved must not leave its rule without mutants."""
    for rule in RULES:
        assert rule.modules
        for module in rule.modules:
            assert (REPOSITORY / module).is_file(), module
            assert rule.tests_of(module), module
            assert all((REPOSITORY / test).exists() for test in rule.tests_of(module)), module
        assert CHOSEN.keys() & set(rule.modules), rule.name


def test_every_answer_is_about_a_line_that_is_there():
    """An answer that outlived its line says nothing."""
    for known in answers.answers():
        assert known.was in " ".join(read(known.file).split()), str(known)
