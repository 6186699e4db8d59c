"""Who has idle cores of an instance: the answer, who is asked, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.neuron_emf.findings.account_histories import REFUSALS
from tests.neuron_emf.findings.histories import LONG_AGO
from tests.neuron_emf.findings.world import JOB, MINUTE_MS, World

if TYPE_CHECKING:
    from collections.abc import Callable


def _gone(w: World, **more: str) -> None:
    holder = {"Cores": "0", "Name": "ml/a-0", "Pid": 7, "Tag": "1", "Gone": True}
    w.own("ml/a-0")
    w.change(59, Holders=[{**holder, **more}])


OWNED: dict[str, tuple[str, str | None, str, Callable[[World], object]]] = {
    "held": ("ask", JOB, "scontrol show job 4711", World.own),
    "idle for 20 minutes": ("ask", JOB, "for 20 min", lambda w: (w.begin(-40), w.own(quiet=20))),
    "reserved": ("ask", "ml/a-0/main", "kubectl describe pod a-0 -n ml",
                 lambda w: w.own("ml/a-0/main", Cores=None, Reserved=f"0-{w.cores - 1}")),
    "account that says nothing": ("ask", JOB, "sstat -a -j 4711", lambda w: (
        w.own(), w.answers.update(dict.fromkeys(w.answers, REFUSALS[0])))),
    "no rollups": ("ask", JOB, "scontrol", lambda w: (w.own(), w.forget_rollups(LONG_AGO))),
    "unnamed": ("ask", None, "aws ec2 describe-tags", lambda w: w.own("[unnamed]")),
    "pod that is gone": ("ask", None, "kubectl get pod a-0 -n ml", _gone),
    "holds what was given to another": ("ask", "ml/b-0", "kubectl describe pod b-0 -n ml",
                                        lambda w: _gone(w, GivenTo="ml/b-0")),
    "name of no form": ("ask", "ml/a;reboot", "aws ec2 describe-tags",
                        lambda w: w.own("ml/a;reboot")),
    "busy elsewhere": ("leave", None, "uses 16 of 48",
                       lambda w: w.own(row={"HeldCores": 48, "BusyCores": 16})),
    "executes elsewhere": ("leave", None, "executes", lambda w: w.own(row={"Executions": 80})),
    "rank that waits": ("leave", None, "3 of 4 work",
                        lambda w: w.own("ml/a-3", row={"Siblings": 4, "IdleSiblings": 1})),
    "little used": ("leave", None, "something executed",
                    lambda w: (w.own(QuietMinutes=None), w.change(59, Executions=80))),
    "executions unread": ("leave", None, f"{JOB} held cores", lambda w: w.own(QuietMinutes=None)),
    "just started": ("leave", None, f"{JOB} held cores", lambda w: w.own(quiet=3)),
    "uses part": ("leave", None, "a core was busy",
                  lambda w: (w.own(Cores="0"), w.change(59, **w.core("b")))),
    "emitter that is gone": ("leave", None, "14 min old", lambda w: (
        w.own(), setattr(w, "now_ms", w.lines[-1][0] + 15 * MINUTE_MS))),
    "kept": ("leave", None, "tag neuron-emf:keep", lambda w: (w.own(), w.tag("neuron-emf:keep"))),
}  # fmt: skip
