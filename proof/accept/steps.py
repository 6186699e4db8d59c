"""
The steps of an acceptance, in their order, and why some cannot be judged on the embedded AWS.

A step gives its problems; none is what was hoped for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from neuron_emf.checks import CheckResult, failed, not_tried, ok
from proof.accept import ledger, looking, path

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.accept.scene import Scene

MOST_PROBLEMS: Final = 20  # of one step that are printed


@dataclass(frozen=True)
class Step:
    """
    One step.

    Attributes:
        name: Also of its recording.

        act: Does it; its problems, as sentences.

        not_here: Why the embedded AWS cannot judge it; empty when it can.
    """

    name: str
    act: Callable[[Scene], list[str]]
    not_here: str = ""

    @property
    def sentence(self) -> str:
        """What it shows."""
        return str(self.act.__doc__).strip()

    def result(self, scene: Scene) -> CheckResult:
        """Do it, where it can be judged; what it says beside its problems is in the notes."""
        found = not_tried(f"{self.not_here} (embedded AWS)")
        if not (scene.place.is_embedded and self.not_here):
            scene.journal.step(self.name)
            scene.place.recorder.step(self.name)
            scene.notes.clear()
            began_s = time.monotonic()
            problems = self.act(scene)
            found = ok(f"no difference after {time.monotonic() - began_s:.0f} s")
            if problems:
                found = failed("; ".join(problems[:MOST_PROBLEMS]))
        return replace(found, check=self.name, must_hold=self.sentence)


STEPS: Final = (
    Step("preflight", path.preflight),
    Step("frame", path.frame),
    Step("deploy", path.deploy),
    Step("deliver", path.deliver),
    Step("late", path.late),
    Step("ledger", ledger.ledger),
    Step("metrics", path.metrics, "it extracts no metrics from lines"),
    Step("alarms", looking.alarms, "it refuses these alarms and evaluates none by a clock"),
    Step("events", looking.events, "no alarm changes its state, so there is no event"),
    Step("queries", looking.queries, "it refuses saved queries and reads no JSON in a query"),
    Step("to-kinesis", path.to_kinesis),
    Step("through-the-stream", path.through_the_stream, "its log groups deliver to no stream"),
    Step("back-to-direct", path.back_to_direct),
    Step("broken-path", path.broken, "it evaluates no alarm by a clock"),
    Step("delete-and-adopt", path.delete_and_adopt),
)

LEFTOVERS: Final = ("Metrics of this run stay for 15 months; CloudWatch deletes none.",)
