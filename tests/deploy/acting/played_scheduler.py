"""
Schedulers that are played: commands that answer from texts and write down what they were given.

    played = PlayedScheduler(folder, {"squeue": "", "kubectl get nodes": '{"items": []}'})
    run = played.run("slurm.sh", event, "--act")
    played.calls        each call as it was typed

A pair is an exit code and what is printed; `{"once": ...}` answers once and then ends with 9.
The answer is that of the longest name that a call begins with; a call without one fails, as a
scheduler that does not answer.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parents[3] / "deploy" / "acting"
COMMANDS = ("aws", "kubectl", "neuron-emf", "scontrol", "sinfo", "squeue")
PLAYED = """#!{python}
import json, os, shlex, sys
folder = {folder!r}
call = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
with open(folder + "/calls", "a") as calls:
    calls.write(shlex.join(call) + "\\n")
answers = json.load(open(folder + "/answers.json"))
text = " ".join(call)
found = [name for name in answers if text.startswith(name)]
if not found:
    sys.exit("no answer to: " + text)
answer = answers[max(found, key=len)]
if isinstance(answer, dict) and "once" in answer:
    again = sum(line.startswith(max(found, key=len)) for line in open(folder + "/calls")) > 1
    answer = [9, ""] if again else answer["once"]
if isinstance(answer, list):
    print(answer[1])
    sys.exit(answer[0])
print(answer if isinstance(answer, str) else json.dumps(answer), end="")
"""


class PlayedScheduler:
    """A folder with the commands, and one with nothing else that could act."""

    def __init__(self, folder: Path, answers: dict[str, Any]) -> None:
        self.answers = answers
        self._folder = folder
        (folder / "bin").mkdir()
        for name in COMMANDS:
            program = folder / "bin" / name
            program.write_text(PLAYED.format(python=sys.executable, folder=str(folder)), "utf-8")
            program.chmod(0o755)

    def run(self, script: str, event: Any, *options: str) -> subprocess.CompletedProcess[str]:
        """Give an event to a script of `deploy/acting`."""
        (self._folder / "answers.json").write_text(json.dumps(self.answers), "utf-8")
        (self._folder / "calls").write_text("", "utf-8")
        path = f"{self._folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [SCRIPTS / script, *options],
            input=json.dumps(event), text=True, capture_output=True, check=False,
            env={"PATH": path, "HOME": str(self._folder)},
        )  # fmt: skip

    @property
    def calls(self) -> list[str]:
        """What was typed, in order."""
        lines = (self._folder / "calls").read_text("utf-8").splitlines()
        return [" ".join(shlex.split(line)) for line in lines]
