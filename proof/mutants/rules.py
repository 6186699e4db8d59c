"""
The rules that matter, where they stand, and which tests hold them.

The tests of a rule are those that are fast: a mutant that only a run of minutes
would find is a rule without a test of its own. What is not in the table has not
been tried: the rest of the fold (owners, runtime lines), the sender, the spool, and of
`owners` and `kernel` what only reads: /proc, /dev/kmsg's thread, services of the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proof.mutants.trials import REPOSITORY


@dataclass(frozen=True, slots=True)
class Rule:
    """
    One promise.

    Attributes:
        name: In the table and on the command line.

        promise: What breaks with it.

        modules: Its files.

        tests: Files and folders of its tests.

        without: Files and tests among them that take as long as all others together (laws,
            processes): what only they would see has no example that says it.
    """

    name: str
    promise: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()

    def tests_of(self, module: str) -> list[str]:
        """
        Its test files, those that have the module's name first: they kill most of its mutants.
        """
        files = [
            str(path.relative_to(REPOSITORY))
            for one in self.tests
            for path in _test_files(REPOSITORY / one)
            if str(path.relative_to(REPOSITORY)) not in self.without
        ]
        stem = Path(module).stem
        return sorted(files, key=lambda file: stem not in Path(file).stem)

    def options(self) -> list[str]:
        """What leaves single tests out."""
        return [f"--deselect={one}" for one in self.without if "::" in one]


def _test_files(path: Path) -> list[Path]:
    return sorted(path.rglob("test_*.py")) if path.is_dir() else [path]


RULES: Final = (
    Rule(
        "fold",
        "what a minute line says of a core and of its work",
        tuple(
            f"emitter/fold/{name}.py"
            for name in (
                "amounts",
                "cores",
                "ecc",
                "executions",
                "group_errors",
                "held_cores",
                "idle",
                "inventory",
                "listing",
                "memory",
                "minute",
                "minute_clock",
                "minute_runtimes",
                "periods",
                "readings",
                "runtime_fold",
                "sample",
                "span",
                "stamp",
                "state",
            )
        ),
        ("tests/emitter/fold",),
        without=("tests/emitter/fold/test_fold_laws.py",),
    ),
    Rule(
        "merge",
        "several records of a minute are one",
        ("lambda/neuron_wire/merging.py", "lambda/neuron_wire/idle_holders.py"),
        (
            "tests/wire/test_merging.py",
            "tests/wire/test_idle_holders.py",
            "tests/aggregator/rollups/test_rollup.py",
            "tests/aggregator/rollups/test_reference.py",
        ),
    ),
    Rule(
        "held",
        "whose a core is, in a line and in the rows of a rollup",
        (
            "lambda/neuron_wire/core_owners.py",
            "lambda/neuron_wire/owners.py",
            "lambda/neuron_wire/teams.py",
            "lambda/aggregator/rollups/owners.py",
        ),
        (
            "tests/wire/test_owners_of_cores.py",
            "tests/wire/test_teams.py",
            "tests/aggregator/rollups/test_owners.py",
            "tests/neuron_emf/report/test_idle_owners.py",
        ),
        without=("tests/aggregator/rollups/test_owners.py::test_the_rows_add_up",),
    ),
    Rule(
        "payment",
        "what idle cores cost, and what of it stopping would save",
        ("lambda/neuron_wire/payment.py", "lambda/aggregator/rollups/idle.py"),
        (
            "tests/wire/test_payment.py",
            "tests/wire/test_paid_by_type.py",
            "tests/aggregator/rollups/test_idle.py",
        ),
    ),
    Rule(
        "dedupe",
        "a record counts once, a rollup is published once",
        (
            "lambda/aggregator/ingest/intake.py",
            "lambda/aggregator/storage/pack.py",
            "lambda/aggregator/rollups/publication.py",
        ),
        (
            "tests/aggregator/test_intake.py",
            "tests/aggregator/storage/test_pack.py",
            "tests/aggregator/rollups/test_publication.py",
        ),
    ),
    Rule(
        "batches",
        "every call is one that CloudWatch Logs accepts",
        ("emitter/delivery/batches.py",),
        ("tests/emitter/delivery/test_batches.py",),
    ),
    Rule(
        "owners",
        "the name of whom a process belongs to",
        tuple(
            f"emitter/owners/{name}.py"
            for name in ("container", "ecs", "kubernetes", "membership", "naming", "presence")
        ),
        tuple(
            f"tests/emitter/owners/test_{name}.py"
            for name in ("membership", "owner_names", "pod_names", "presence", "task_names")
        ),
    ),
    Rule(
        "kernel",
        "a hardware fault is counted once and told once",
        tuple(
            f"emitter/kernel/{name}.py"
            for name in (
                "detector",
                "fault_events",
                "faults",
                "hardware_fault",
                "kmsg",
                "position",
            )
        ),
        ("tests/emitter/kernel",),
        without=(
            "tests/emitter/kernel/test_kernel_loop.py::test_a_killed_emitter_loses_no_fault_and_tells_none_twice",
            "tests/emitter/kernel/test_kernel_faults_law.py",
        ),
    ),
    Rule(
        "report",
        "what idle time costs, and where the rollups say something else",
        tuple(f"neuron_emf/report/{name}.py" for name in ("amounts", "comparison", "counting")),
        (
            "tests/neuron_emf/report/test_comparison.py",
            "tests/neuron_emf/report/test_counting.py",
            "tests/neuron_emf/report/test_idle_owners.py",
        ),
        without=tuple(
            f"tests/neuron_emf/report/{name}"
            for name in (
                "test_comparison.py::test_the_same_lines_give_no_difference",
                "test_counting.py::test_clusters_instances_owners_days_and_cores_each_have_the_whole",
                "test_counting.py::test_counting_piece_by_piece_is_counting_at_once",
                "test_counting.py::test_it_counts_what_the_rollups_tell",
                "test_counting.py::test_the_order_of_lines_changes_nothing",
            )
        ),
    ),
    Rule(
        "commands",
        "what a month costs, and whose prices count",
        (
            "lambda/neuron_wire/prices.py",
            "neuron_emf/cost/bill.py",
            "neuron_emf/cost/estimate.py",
            "neuron_emf/cost/interpolation.py",
        ),
        ("tests/wire/test_price_overrides.py", "tests/neuron_emf/cost"),
        without=(
            "tests/neuron_emf/cost/test_cost_laws.py",
            "tests/neuron_emf/cost/test_cost_lines.py",
            "tests/neuron_emf/cost/test_cost_command.py::test_it_needs_no_account",
        ),
    ),
    Rule(
        "stoppable",
        "no guard passes what must never be stopped",
        tuple(
            f"neuron_emf/stoppable/{name}.py"
            for name in (
                "account_guards",
                "account_reading",
                "facts",
                "guard",
                "line_guards",
                "line_reading",
                "verdict",
            )
        ),
        (
            "tests/neuron_emf/stoppable/test_account_facts.py",
            "tests/neuron_emf/stoppable/test_stoppable_command.py",
            "tests/neuron_emf/stoppable/test_stoppable_corpus.py",
        ),
        without=tuple(
            f"tests/neuron_emf/stoppable/{name}"
            for name in (
                "test_account_facts.py::test_moto_understands_and_is_understood",
                "test_stoppable_command.py::test_both_idle_instances_of_the_rehearsal_are_explained",
                "test_stoppable_command.py::test_the_page_shows_what_is_printed",
                "test_stoppable_corpus.py::test_without_a_guard_an_instance_would_be_stopped",
            )
        ),
    ),
    Rule(
        "findings",
        "each step of a finding is told once, and unknown neither opens nor closes",
        ("lambda/aggregator/findings/steps.py", "lambda/aggregator/findings/standstill.py"),
        (
            "tests/aggregator/findings/test_finding_laws.py",
            "tests/aggregator/findings/test_finding_steps.py",
            "tests/aggregator/findings/test_findings_of_close.py",
            "tests/aggregator/findings/test_standstill.py",
        ),
    ),
    Rule(
        "stalls",
        "a runtime stalls only where it is known that no execution ended",
        ("emitter/fold/runtime_history.py",),
        (
            "tests/emitter/fold/test_fold_owners.py",
            "tests/emitter/fold/test_fold_stalls.py",
            "tests/emitter/fold/test_standstill_events.py",
        ),
    ),
)
