"""
What the AWS CLI has against a call, by its own parser; run by the Python of .venv-docs.

    aws_reader.py

Reads a line of JSON per call, [WORDS, FILES, ANSWER]: FILES is what `file://` finds, a text by
name, null when only a step that is run writes it; ANSWER stands for what an earlier call gave.
Answers a line of JSON: a text, or null. Nothing is sent: where the CLI would call AWS,
botocore's validator looks at the parameters. The package on the index is version 1 of the CLI,
so what the pages use of version 2 is declared here.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import ClassVar

from awscli.arguments import CustomArgument
from awscli.clidriver import ServiceOperation, create_clidriver
from awscli.customizations.commands import BasicCommand

# ruff: isort: split
from botocore.loaders import create_loader  # the CLI's own copy, there once it is imported
from botocore.validate import ParamValidator

LOADER = create_loader(os.environ["AWS_DATA_PATH"])  # keeps the models from call to call


class Tail(BasicCommand):
    """`aws logs tail`, of version 2."""

    NAME = "tail"
    ARG_TABLE: ClassVar = [
        {"name": "group_name", "positional_arg": True},
        {"name": "follow", "action": "store_true"},
        *({"name": name} for name in ("filter-pattern", "format", "since")),
        {"name": "log-stream-names", "nargs": "+"},
    ]

    def _run_main(self, *_):
        return 0


def add_globals(argument_table, **_):
    """Global options of version 2."""
    binary = CustomArgument("cli-binary-format", choices=["base64", "raw-in-base64-out"])
    for option in (binary, CustomArgument("no-cli-pager", action="store_true")):
        option.add_to_arg_table(argument_table)


def add_tail(command_table, session, **_):
    """Register `aws logs tail`."""
    command_table["tail"] = Tail(session)


class Validation:
    """Stands where the CLI would call AWS."""

    def __init__(self, shape, answer, is_complete):
        self.shape, self.answer, self.is_complete = shape, answer, is_complete

    def invoke(self, _service, _operation, parameters, _globals):
        """Validate instead."""
        if self.shape is None or not self.is_complete:
            return 0
        report = ParamValidator().validate(parameters, self.shape)
        faults = (
            [report.generate_report()]
            if report.has_errors()
            else [
                *self.unlisted(self.shape, parameters, ""),
                *broken_documents(parameters),
            ]
        )
        sys.stderr.write("\n".join(faults))
        return len(faults)

    def unlisted(self, shape, value, path):
        """Strings that are none of those a model lists: the SDK leaves this to the service."""
        if shape.type_name == "structure":
            parts = [(shape.members[name], one, f"{path}.{name}") for name, one in value.items()]
        elif shape.type_name == "list":
            parts = [(shape.member, one, f"{path}[{at}]") for at, one in enumerate(value)]
        elif shape.type_name == "map":
            parts = [(shape.value, one, f"{path}.{name}") for name, one in value.items()]
        else:
            parts, allowed = [], getattr(shape, "enum", [])
            if allowed and value not in (*allowed, self.answer):
                yield f"{path}: expected one of {', '.join(allowed)}, found {value}"
        for part in parts:
            yield from self.unlisted(*part)


def broken_documents(parameters):
    """A policy or the body of a dashboard: text to the CLI, JSON to the service."""
    for name, value in parameters.items():
        if isinstance(value, str) and value.lstrip().startswith("{") and '"' in value:
            try:
                json.loads(value)
            except ValueError as error:
                yield f"{name} is no JSON: {error}"


def fault_of(words, files, answer):
    """What the CLI writes of a call that it refuses, None when it would make it."""
    options = [word for word in words if word.startswith("--")]
    if len(set(options)) < len(options):
        return "an option is given twice"
    is_complete = all(files.get(word.partition("file://")[2], "") is not None for word in words)

    def operation(self, *arguments):
        self._operation_caller = Validation(self._operation_model.input_shape, answer, is_complete)
        return CALL_OPERATION(self, *arguments)

    ServiceOperation.__call__ = operation
    driver = create_clidriver()
    driver.session.register_component("data_loader", LOADER)
    driver.session.register("building-top-level-params", add_globals)
    driver.session.register("building-command-table.logs", add_tail)
    text = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(text):
        os.chdir(folder)
        for name, content in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text("{}" if content is None else content, "utf-8")
        try:
            status = driver.main(words)
        except SystemExit as end:
            status = end.code
        os.chdir("/")
    return None if status == 0 else text.getvalue().rpartition("> help\n")[2].strip()


def command(self, *arguments):
    """A command of the CLI's own: its words are read, and that is all."""
    if not self.SUBCOMMANDS:
        self._run_main = lambda *_: 0
    return CALL_COMMAND(self, *arguments)


CALL_OPERATION, CALL_COMMAND = ServiceOperation.__call__, BasicCommand.__call__

if __name__ == "__main__":
    BasicCommand.__call__ = command
    argparse.ArgumentParser._get_option_tuples = lambda *_: []  # an option is written out
    for line in sys.stdin:
        sys.stdout.write(json.dumps(fault_of(*json.loads(line))) + "\n")
        sys.stdout.flush()
