"""
The words of the AWS CLI that no model of a service has: its global options and its own commands.

By https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-options.html and the reference
of each command of its own.
"""

from __future__ import annotations

import re
from typing import NoReturn

import jmespath
from jmespath.exceptions import JMESPathError

GLOBAL_VALUES = {
    *("--cli-binary-format", "--cli-read-timeout", "--color", "--endpoint-url", "--max-items"),
    *("--output", "--page-size", "--profile", "--query", "--region", "--starting-token"),
}
GLOBAL_FLAGS = {"--no-cli-pager", "--no-paginate", "--no-sign-request", "--no-verify-ssl"}
OUTPUTS = {"json", "text", "table", "yaml", "yaml-stream", "off"}
# Commands that the CLI adds to the models: their options, and how many words may stand alone.
OWN = {
    ("cloudformation", "deploy"): (
        {
            "--capabilities",
            "--no-fail-on-empty-changeset",
            "--parameter-overrides",
            "--stack-name",
            "--tags",
            "--template-file",
        },
        0,
    ),
    ("configure", "list"): (set(), 0),
    ("ecr", "get-login-password"): (set(), 0),
    ("eks", "update-kubeconfig"): ({"--name", "--alias"}, 0),
    ("logs", "tail"): (
        {"--filter-pattern", "--follow", "--format", "--log-stream-names", "--since"},
        1,
    ),
    ("s3", "cp"): ({"--recursive", "--no-progress", "--quiet", "--sse"}, 2),
    ("s3", "ls"): ({"--recursive", "--human-readable"}, 1),
    ("s3", "mb"): (set(), 1),
    ("s3", "rm"): ({"--recursive"}, 1),
    ("ssm", "start-session"): ({"--target", "--document-name", "--parameters"}, 0),
}
# Words of the CLI that stand alone, by operation: the file that the answer is written to.
ALONE = {("lambda", "invoke"): 1, ("s3api", "get-object"): 1}


class CallError(Exception):
    """The CLI would refuse the words that it is given."""


def refuse(why: str) -> NoReturn:
    """End the reading of a call, in a sentence."""
    raise CallError(why) from None


def without_global_options(call: list[str]) -> list[str]:
    """
    What is left of a call when the options that every command has are taken away.

    Raises:
        CallError:
            If one of them has no value, or an impossible one.
    """
    words, kept = list(call), []
    while words:
        word = words.pop(0)
        if word in GLOBAL_FLAGS:
            continue
        if word not in GLOBAL_VALUES:
            kept.append(word)
            continue
        if not words:
            refuse(f"{word} has no value")
        value = words.pop(0)
        if word == "--query":
            try:
                jmespath.compile(value)
            except JMESPathError as error:
                refuse(f"--query is no JMESPath: {error}")
        if word == "--output" and value not in OUTPUTS:
            refuse(f"no output {value}")
    return kept


def by_option(words: list[str]) -> tuple[dict[str, list[str]], int]:
    """
    The words behind each option, and how many stand before the first.

    Raises:
        CallError:
            If an option is given twice.
    """
    given: dict[str, list[str]] = {}
    standing, option = 0, None
    for word in words:
        if re.match(r"--[a-z]", word):
            option = word
            if option in given:
                refuse(f"{option} is given twice")
            given[option] = []
        elif option is None:
            standing += 1
        else:
            given[option].append(word)
    return given, standing
