"""
The calls of the AWS CLI that a page's steps would make, without making any.

A restricted shell reads the steps of a page as they stand, so that quotes, variables,
loops and pipes are its business; on its path there is an `aws` that writes down what it is
given and answers `ANSWER`, some tools that only turn text into text, and nothing else.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.docs.shown_blocks import blocks_in

ANSWER = "VALUE-OF-A-SUBSTITUTION"  # as long as the shortest ARN that a model takes
TEXT_TOOLS = ("base64", "cat", "cut", "date", "head", "seq", "sort", "tail", "tr", "uniq")
WRITTEN_DOWN = f"""#!/bin/sh
{{ printf '%s\\0' "$@"; printf '\\n\\0'; }} >> "$AWS_CALLS"
echo {ANSWER}
"""
UNKNOWN_COMMANDS = f"command_not_found_handle() {{ echo {ANSWER}; }}\n"
# A redirection outside of quotes; what stands in quotes is matched first and kept.
REDIRECTION = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|(?P<away>\s\d?>>?\s*[^\s;|&()<>]+)""", re.DOTALL
)
CALL = re.compile(r"(?<![\w/.-])aws (?=[a-z][a-z0-9-]* [a-z])")
INLINE = re.compile(r"`(aws [a-z][a-z0-9-]* [a-z][a-z0-9-]* [^`\n]+)`")
MENTION = re.compile(r"`aws ([a-z][a-z0-9-]*) ([a-z][a-z0-9-]*)`")
COMMENT = re.compile(r"(?m)^\s*#.*$")
PATIENCE_S = 20


def calls_of(page: Path) -> list[list[str]]:
    """What the AWS CLI would be given by all that a page has to type, in its order."""
    return calls_in(page.read_text("utf-8"), page)


def calls_in(text: str, page: Path) -> list[list[str]]:
    """
    The same of *text*, which stands in *page*.

    Raises:
        AssertionError:
            If a call that can be seen in the text was not made by the shell.
    """
    blocks = [block.text for block in blocks_in(text, page) if block.language == "sh"]
    outside = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    script = "\n".join([*blocks, *INLINE.findall(outside)])
    if not CALL.search(COMMENT.sub("", script)):
        return []
    made = _made_by(REDIRECTION.sub(_without, script))
    seen = len(CALL.findall(COMMENT.sub("", script)))
    assert len(made) >= seen, f"{page.name}: {seen} calls of the AWS CLI are seen, {made} are made"
    return made


def mentions_of(page: Path) -> list[tuple[str, str]]:
    """
    Service and operation of the calls that a page names between backticks, without their options.
    """
    return MENTION.findall(page.read_text("utf-8"))


def _without(found: re.Match[str]) -> str:
    return "" if found["away"] else found[0]


def _made_by(script: str) -> list[list[str]]:
    with tempfile.TemporaryDirectory(prefix="emf-") as name:
        folder = Path(name)
        programs = folder / "programs"
        programs.mkdir()
        (programs / "aws").write_text(WRITTEN_DOWN, "ascii")
        (programs / "aws").chmod(0o755)
        for tool in TEXT_TOOLS:
            found = shutil.which(tool)
            assert found, tool
            (programs / tool).symlink_to(found)
        written = folder / "calls"
        written.touch()
        ended = subprocess.run(
            [shutil.which("bash") or "bash", "-r", "-c", UNKNOWN_COMMANDS + script],
            cwd=folder,
            env={"PATH": str(programs), "AWS_CALLS": str(written), "HOME": name},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert "syntax error" not in ended.stderr, ended.stderr
        whole = written.read_text("utf-8")
    return [call.split("\0")[:-1] for call in whole.split("\n\0")[:-1]]
