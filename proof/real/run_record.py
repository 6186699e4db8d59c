"""
Keep the last result of each part, and write the block of docs/reference/support.md from it.

Each result has its own date and commit, because parts may run on different days.
"""

from __future__ import annotations

import json
import platform
import subprocess
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from local import REPOSITORY

LAST_RUN_FILE: Final = Path(__file__).with_name("last_run.json")


@dataclass(frozen=True)
class Result:
    """
    The result of one part.

    Attributes:
        title: Name of the part on the page.

        claim: One sentence, what ran against what.

        versions: Versions by program.

        sentences: Results with figures, or the difference if the part failed.

        has_passed: True if the part raised no error.

        took_s: Duration in seconds.
    """

    title: str
    claim: str
    versions: dict[str, str]
    sentences: list[str]
    has_passed: bool
    took_s: int


def keep(name: str, result: Result) -> None:
    """Write *result* as the last result of part *name*, with today's date and this commit."""
    kept = read()
    today = datetime.now(timezone.utc).date().isoformat()
    origin = {"date": today, "commit": _commit(), "machine": _machine()}
    kept[name] = asdict(result) | origin
    text = json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False)
    LAST_RUN_FILE.write_text(f"{text}\n", encoding="utf-8")


def read() -> dict[str, dict[str, Any]]:
    """Return the last results by part."""
    if not LAST_RUN_FILE.exists():
        return {}
    kept: dict[str, dict[str, Any]] = json.loads(LAST_RUN_FILE.read_text(encoding="utf-8"))
    return kept


def page_list() -> str:
    """Return one item of the page for each part that has a result."""
    items = [_item(result) for result in read().values()]
    return "\n".join(items or ["No result is recorded."]) + "\n"


def _item(result: dict[str, Any]) -> str:
    versions = ", ".join(f"{program} {text}" for program, text in result["versions"].items())
    verdict = "" if result["has_passed"] else "failed: "
    origin = f"{result['date']}, commit `{result['commit']}`, {result['machine']}"
    sentences = " ".join(result["sentences"])
    return (
        f"- **{result['title']}** ({versions}; {origin}, {result['took_s']} s): "
        f"{result['claim']} {verdict}{sentences}"
    )


def _commit() -> str:
    def git(*arguments: str) -> str:
        command = ["git", *arguments]
        run = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
        return run.stdout.strip()

    own = f":!{LAST_RUN_FILE.relative_to(REPOSITORY)}"
    changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", own, ":!docs")
    return git("rev-parse", "--short=8", "HEAD") + (" with changes" if changes else "")


def _machine() -> str:
    release = platform.freedesktop_os_release()
    return f"{release['PRETTY_NAME']}, {platform.machine()}"
