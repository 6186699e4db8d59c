"""
Mutants of the rules that matter: a few of each are made and killed here, all by `make mutants`.
"""

from __future__ import annotations

import pytest

from proof.mutants import answers
from proof.mutants.excluded_code import Outline
from proof.mutants.mutant import Likeness, likeness
from proof.mutants.rules import RULES
from proof.mutants.trials import REPOSITORY, TrialError, trials

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
}  # fmt: skip

SOURCE = """\
class Counter:
    step: int = 1

    @dataclass(frozen=True)
    def add(self, other: int | None = 2) -> int | None:
        for one, more in zip(self.all, other, strict=True):
            self.sum += one * 3
"""


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


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_what_is_no_mutant_survives_and_what_never_ends_does_not(server):
    """Survival is what an unchanged file shows; a loop without an end is a kill, not a wait."""
    file, test = "emitter/delivery/batches.py", "tests/emitter/delivery/test_batches.py"
    server.clean([test])
    assert server.outcome(file, read(file) + "\n# the same\n", [[test]], 60).survived
    assert (False, "time") == server.outcome(file, "while True:\n    pass\n", [[test]], 0.5)
    assert not server.outcome(file, "import nothing_of_this_name\n", [[test]], 60).survived


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_tests_that_fail_without_a_mutant_are_said(server):
    """Every mutant would be killed by them, and nothing would be shown."""
    with pytest.raises(TrialError, match="expected the tests to pass without a mutant"):
        server.clean(["tests/no_such_folder"])


def test_the_rules_name_files_that_exist_and_have_tests():
    """A module that moved must not leave its rule without mutants."""
    for rule in RULES:
        assert rule.modules
        for module in rule.modules:
            assert (REPOSITORY / module).is_file(), module
            assert rule.tests_of(module), module
            assert all((REPOSITORY / test).exists() for test in rule.tests_of(module)), module
        assert CHOSEN.keys() & set(rule.modules), rule.name


@pytest.mark.parametrize(("text", "expected"), [
    ("int = 1", True), ("1\n", False), ("True)\n    def", True), ("None = 2", True),
    ("2)", False), ("int | None:", True), ("True):\n        ", True), ("3\n", False),
])  # fmt: skip
def test_no_mutant_is_made_where_none_could_be_seen(text, expected):
    """Annotations, the arguments of decorators and `strict=True` change nothing that runs."""
    at = SOURCE.index(text)
    line = SOURCE[:at].count("\n") + 1
    column = at - (SOURCE.rfind("\n", 0, at) + 1)
    assert expected == Outline(SOURCE).is_unmade((line, column))


def test_a_mutant_is_known_by_its_words_and_not_by_its_line():
    """
    Lines that are added above it change nothing; the function it stands in tells it from others.
    """
    after = SOURCE.replace("one * 3", "one / 3")
    known = likeness("a.py", 7, SOURCE, after)
    assert Likeness("a.py", "Counter.add", "self.sum += one * 3", "self.sum += one / 3") == known
    assert known == likeness("a.py", 9, f"# more\n\n{SOURCE}", f"# more\n\n{after}")


def test_a_survivor_without_an_answer_and_an_answer_without_a_survivor_are_found():
    """Both make `make mutants` fail: the one is a missing test, the other a stale excuse."""
    one, two, three = (Likeness("a.py", "", "x", now) for now in "123")
    given = {two: "the same", three: "the same"}
    assert [one] == answers.unanswered([one, two], given)
    assert [three] == answers.stale([one, two, three], [one, two], given)
    assert [] == answers.stale([one, two], [one, two], given)
    assert [three] == answers.homeless(given, {"a.py": {one, two}})
    assert [] == answers.homeless(given, {"b.py": set()})


def test_a_proposed_answer_can_be_written_into_the_file(tmp_path):
    """Whatever the line holds, it is read back as the same mutant; but not without a reason."""
    path = tmp_path / "answers.toml"
    for was in ("a", "x = 'y'", 'x = "y"', "x = '\"\\n'"):
        survivor = Likeness("a.py", "f", was, "pass")
        path.write_text(answers.proposed(survivor), encoding="utf-8")
        with pytest.raises(ValueError, match="expected a reason"):
            answers.answers(path)
        text = answers.proposed(survivor).replace("why = ''", "why = 'it is'")
        path.write_text(text, encoding="utf-8")
        assert {survivor: "it is"} == answers.answers(path)


def test_every_answer_is_about_a_line_that_is_there():
    """An answer that outlived its line says nothing."""
    for known in answers.answers():
        assert known.was in " ".join(read(known.file).split()), str(known)
