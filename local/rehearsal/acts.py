"""
The acts of one rehearsal, in order.

Deploy, replay an hour, go live, and with an end: compare. Every wait is bounded
and every process belongs to the stage.
"""

from __future__ import annotations

import json
import textwrap
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.alarms.template import load_template
from local.embedded_aws import EmbeddedAws, EmbeddedAwsError, SamCli
from local.embedded_aws.clients import environment
from local.rehearsal.described_fleet import described_fleet
from local.rehearsal.event_queue import EventQueue, idle_instances, summary
from local.rehearsal.expectation import core_owners, expected_live, expected_past
from local.rehearsal.figures import GAUGES, TALLIES, read_metrics
from local.rehearsal.fleet import FLEET, REPOSITORY, LiveFleet
from local.rehearsal.guard_answers import GuardAnswers, against_events, stoppable_jobs
from local.rehearsal.jobs import Jobs
from local.rehearsal.ledger import SettledPast, settled
from local.rehearsal.limits import limits
from local.rehearsal.notice import ask, events_of, is_chosen, ringing
from local.rehearsal.overview import Overview
from local.rehearsal.page import PORT, opened
from local.rehearsal.past import MINUTES, PERIOD_S, Past
from local.rehearsal.profiles import profile_jobs
from local.rehearsal.stack import STACK_NAME, DeployedStack, overrides, refused_lines
from local.rehearsal.table import render
from local.rehearsal.verdict import against_metrics, against_owners, against_totals, against_truth
from local.rehearsal.waiting import CLOSES_AFTER_S, closable_minute, close_until, wait_until_stored
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from local.monitor.truth import Expected
    from local.rehearsal.figures import ClusterMinute
    from local.rehearsal.stage import Stage, StepProgress
    from local.rehearsal.table import ClusterRow, Screen

CLUSTERS: Final = tuple(dict.fromkeys(member.cluster for member in FLEET))
TEMPLATE: Final = REPOSITORY / "template.yaml"
HISTORY_PATIENCE_S: Final = 90.0
CLOSE_PATIENCE_S: Final = 100.0  # a minute closes 45 s after its end, or at 120 when one is missing
SHOWN_AT_ONCE: Final = 3
REFRESH_S: Final = 2.0
LATEST_START_S: Final = 48  # into a minute: every emitter shall have a report in its first minute
EMITTER_PATIENCE_S: Final = 10.0
MARGIN_MS: Final = 500  # from a full minute: which side a live report was received on is not known


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    How a rehearsal with an end ended.

    Attributes:
        problems: What is wrong, as sentences; empty when all is right.

        history_rollups: Rollups of the replayed hour that were compared.

        live_rollups: Rollups of live minutes that were compared.

        rows: What was seen last of each cluster.

        agreements: What else is right, as sentences; shown when all is.
    """

    problems: list[str]
    history_rollups: int
    live_rollups: int
    rows: list[ClusterRow]
    agreements: Sequence[str] = ()


class Rehearsal:
    """One rehearsal on one stage."""

    def __init__(
        self,
        programs: tuple[Path, Path],
        stage: Stage,
        progress: StepProgress,
        screen: Screen,
        page_port: int = PORT,
    ) -> None:
        """
        Use *programs*, the commands of the embedded AWS and of the SAM CLI.

        The page is served at *page_port*; 0 takes a free one.
        """
        self._ministack, self._sam = programs
        self._stage = stage
        self._progress = progress
        self._screen = screen
        self._page_port = page_port
        self._queue: EventQueue
        self.template: Mapping[str, Any] = load_template(TEMPLATE)

    def run(self, seconds: float | None) -> Verdict:
        """
        Go live for *seconds*, then compare; without *seconds*, until a signal.

        Raises:
            StoppedError: If a signal came.
            EmbeddedAwsError: If something could not be started or ended early.
        """
        self._say_what_this_is()
        with ExitStack() as exits:
            described = described_fleet(time.time())
            aws = EmbeddedAws(self._ministack, self._stage.folder / "aws", described)
            exits.callback(aws.stop)
            exits.callback(self._stage.stop_all)  # before it: emitters would wait for its answers
            (self._stage.folder / "aws").mkdir()
            with self._progress.step("Starting the embedded AWS on 127.0.0.1"):
                aws.start(self._stage.check)
            self._queue = EventQueue(aws)
            past, stack = self._prepare(aws)
            overview = Overview(TEMPLATE, {}, stack.resources, stack.history)
            for reason in overview.left_out:
                print(f"Not evaluated: {reason}.")
            self._tell(aws, stack, overview)
            ledger = self._settle(past)
            exits.enter_context(opened(stack.place, overview.board, self.template, self._page_port))
            idle = self._ask_stoppable(aws, stack)
            fleet = LiveFleet(self._stage, aws.environment(), stack.records_group)
            aws.refuse_strangers()  # again, now that its functions have run
            self._go_live(fleet)
            started_s = time.time()
            until_s = None if seconds is None else started_s + seconds
            self._show(stack, fleet, overview, aws, until_s)
            stopped_s = time.time()
            with self._progress.step(f"Shutting down {len(FLEET)} emitters cleanly"):
                wrong = fleet.stop(EMITTER_PATIENCE_S)
            problems, compared = self._compare(stack, fleet, past, stopped_s)
            told = [one["InstanceId"] for one in idle_instances(self._queue.read())]
            return Verdict(
                [*wrong, *problems, *ledger.problems(), *against_events(told), *idle.problems()],
                *compared,
                overview.rows(CLUSTERS, stack.rollups),
                [ledger.sentence(), idle.sentence()],
            )

    def _prepare(self, aws: EmbeddedAws) -> tuple[Past, DeployedStack]:
        stage, step = self._stage, self._progress.step
        past = Past(stage.folder, int(time.time()) // MINUTE_S * MINUTE_S)
        jobs = past.jobs(stage, environment())

        def check() -> None:
            stage.check()
            jobs.poll()  # the SAM CLI mostly waits: the history is made meanwhile

        sam = SamCli(self._sam, stage.folder, check)
        with step("Building the functions: sam build"):
            built = sam.build(TEMPLATE, environment())
        parameters = overrides(self.template)
        shown = " ".join(f"{name}={value}" for name, value in parameters.items())
        with step(f"Deploying template.yaml: sam deploy, {shown}"):
            deployment = sam.deploy(built, STACK_NAME, parameters, aws)
        stack = DeployedStack(aws, deployment, past.start_s * 1000)
        title = f"Simulating and replaying {MINUTES} minutes, one report per {PERIOD_S} s"
        with step(f"{title}, started with the build"):
            jobs.finish()
        with step("Delivering their lines with the emitter's code"):
            past.deliver(
                aws.environment(),
                stack.records_group,
                lambda lines: wait_until_stored(lines, stack, stage),
            )
        with step("Sending profiles of their models with neuron-emf profile"):
            sent = profile_jobs(stage.folder, past.end_s, aws.environment(), stack.records_group)
            Jobs(stage, sent).finish()
        # The newest of them may not close yet; it is compared at the end, with the others.
        newest_s = closable_minute(time.time()) * MINUTE_S
        due = {key: one for key, one in expected_past(past).items() if key[1] <= newest_s}
        with step(f"Closing their minutes: {len(due)} rollups"):
            close_until(HISTORY_PATIENCE_S, due, stack, stage, again_s=HISTORY_PATIENCE_S / 3)
            missing = due.keys() - stack.rollups.minutes.keys()
            if missing:
                msg = (
                    f"{len(missing)} of {len(due)} rollups were missing after "
                    f"{HISTORY_PATIENCE_S:.0f} s"
                )
                raise EmbeddedAwsError(msg)
        for problem in against_truth(due, stack.rollups.minutes)[:SHOWN_AT_ONCE]:
            print(f"WRONG already: {problem}")
        return past, stack

    def _tell(self, aws: EmbeddedAws, stack: DeployedStack, overview: Overview) -> None:
        """What people would be told of the alarms that ring after the history."""
        states = overview.states()
        notices = []
        with self._progress.step("Invoking the explain function for the alarms"):
            for found in ringing(states):
                properties = overview.board.properties[found.alarm.logical_id]
                events = events_of(found, states, properties, time.time())
                notices += [
                    ask(aws.client("lambda"), stack.resources["ExplainFunction"], event)
                    for event in events
                    if is_chosen(event, overview.rules)
                ]
        for number, notice in enumerate(notices):
            print(f"\nPublished to the alarm topic: {notice.subject}")
            if number == 0:
                print(f"\n{textwrap.indent(notice.text, '    ')}")
        print(flush=True)

    def _settle(self, past: Past) -> SettledPast:
        """The replayed hour's ledger, and the digest of it as the topic would get it."""
        with self._progress.step("Settling the replayed hour"):
            lines = (
                line
                for member in FLEET
                for line in past.lines(member).read_text("utf-8").splitlines()
            )
            ledger = settled(lines, past.end_s // MINUTE_S)
            _, text = ledger.digest()
        print(f"\nThe digest of the replayed hour:\n\n{textwrap.indent(text, '    ')}", flush=True)
        return ledger

    def _ask_stoppable(self, aws: EmbeddedAws, stack: DeployedStack) -> GuardAnswers:
        """Whether the instances that were idle all the hour may be given back."""
        with self._progress.step("Asking neuron-emf stoppable about the idle instances"):
            asked = stoppable_jobs(self._stage.folder, aws.environment(), stack.place)
            Jobs(self._stage, asked).finish()
            answers = GuardAnswers.read(self._stage.folder)
        print("\nIdle all the hour; may they be stopped, before their emitters start again?\n")
        print(f"{answers.text()}\n", flush=True)
        return answers

    def _go_live(self, fleet: LiveFleet) -> None:
        into_s = time.time() % MINUTE_S
        if into_s > LATEST_START_S:
            with self._progress.step("Waiting for the next minute"):
                self._stage.wait(MINUTE_S - into_s + 0.5)
        with self._progress.step(f"Starting {len(FLEET)} emitters with simulated monitors"):
            for member in FLEET:
                fleet.start(member)
                self._stage.wait(0.2)  # their imports fill a small machine
            fleet.check()

    def _show(
        self,
        stack: DeployedStack,
        fleet: LiveFleet,
        overview: Overview,
        aws: EmbeddedAws,
        until_s: float | None,
    ) -> None:
        started_s = time.time()
        asked_minute = closable_minute(started_s)
        print()
        while until_s is None or time.time() < until_s:
            if not aws.alive():
                msg = "the embedded AWS stopped unexpectedly"
                raise EmbeddedAwsError(msg)
            fleet.check()
            stack.look()
            if closable_minute(time.time()) > asked_minute:
                # The embedded schedule counts its minutes from the deployment on.
                asked_minute = closable_minute(time.time())
                stack.close_minutes()
            rows = overview.rows(CLUSTERS, stack.rollups)
            live = f"{time.time() - started_s:.0f}"
            of = " s, until Ctrl-C" if until_s is None else f" of {until_s - started_s:.0f} s"
            title = (
                f"Live for {live}{of}: {len(FLEET)} emitters, "
                f"{len(stack.rollups.minutes)} rollups so far."
            )
            title = f"{title}\n{summary(self._queue.read())}"
            text = f"{title}\n\n{render(rows, time.time(), self._screen.width)}"
            key = "".join(f"{row.minute_s} {row.alarm}" for row in rows)
            self._screen.show(text, key=f"{key} {len(self._queue.details)}")
            left_s = REFRESH_S if until_s is None else min(REFRESH_S, until_s - time.time())
            self._stage.wait(left_s)
        self._screen.release()
        for detail in idle_instances(self._queue.read())[:1]:
            print("\nSent to the event bus, for programs:\n")
            print(textwrap.indent(json.dumps(detail, indent=2), "    "))
        print()

    def _compare(
        self, stack: DeployedStack, fleet: LiveFleet, past: Past, stopped_s: float
    ) -> tuple[list[str], tuple[int, int]]:
        """What is wrong, and how many rollups of the history and live were compared."""
        history = expected_past(past)
        live = expected_live(fleet, stopped_s, MARGIN_MS)
        mute = [
            f"{member.name} wrote no report while it was live" for member in fleet.mute(stopped_s)
        ]
        expected = {**history, **live}
        if against_truth(expected, stack.rollups.minutes):
            self._wait_for_the_last(expected, stack)
        rollups = stack.rollups.minutes
        problems = against_totals(history, history, rollups)
        problems += against_totals(expected_live(fleet, stopped_s, 0), live, rollups)
        problems += against_truth(expected, rollups)
        compared = {key: rollups[key] for key in expected.keys() & rollups.keys()}
        problems += against_owners(core_owners(), compared)
        end_s = int(time.time()) + MINUTE_S
        metrics = read_metrics(stack.history, (*GAUGES, *TALLIES), past.start_s, end_s)
        problems += against_metrics(rollups, metrics)
        found = [*mute, *map(str, problems), *refused_lines(stack)]
        return found, (len(history), len(live))

    def _wait_for_the_last(
        self, expected: Mapping[ClusterMinute, Expected], stack: DeployedStack
    ) -> None:
        missing = expected.keys() - stack.rollups.minutes.keys()
        title = f"Waiting for the last {len(missing)} rollups"
        with self._progress.step(f"{title}: a minute closes {CLOSES_AFTER_S} s after its end"):
            newest = max((minute_s // MINUTE_S for _, minute_s in missing), default=0)
            while closable_minute(time.time()) < newest:
                self._stage.wait(1.0)
                stack.look()
            close_until(CLOSE_PATIENCE_S, expected, stack, self._stage)

    def _say_what_this_is(self) -> None:
        print(
            f"The whole of neuron-emf on this machine: {len(FLEET)} simulated instances in "
            f"{len(CLUSTERS)} clusters, the real emitter on each,\n"
            "the real template.yaml deployed by the real SAM CLI to an AWS emulator on 127.0.0.1. "
            "Ctrl-C stops it and leaves nothing behind.\n"
            f"It differs from AWS in {len(limits(self.template))} ways, listed at the end and on "
            "its page.\n",
            flush=True,
        )
