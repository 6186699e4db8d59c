"""The command `neuron-emf deploy`, and its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import CONTEXT
from emitter.errors import SettingsError
from emitter.settings.declaration import Texts, setting
from emitter.settings.options import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.deploy.package import Package

EXIT_NOT_CONFIRMED: Final = 1
_EPILOG: Final = (
    "Exit codes: 0 the stack is up to date, 1 not confirmed, 2 usage error, "
    "3 AWS rejected the change or the deployment failed."
)


@dataclass(frozen=True, kw_only=True)
class DeploySettings:
    """Which stack, and whether to ask."""

    stack_name: str = setting("neuron-emf", "Name of the stack.", metavar="NAME")
    region: str | None = setting(
        None, "AWS region; by default the one the AWS SDK finds.", metavar="NAME", short="-r"
    )
    yes: bool = setting(
        default=False, help_text="Change the stack without asking for confirmation."
    )
    tags: tuple[str, ...] = setting(
        (),
        "Tags of the stack and of what it makes, separated by commas; by default those it has.",
        kind=Texts(),
        metavar="KEY=VALUE",
    )
    role_arn: str = setting(
        "",
        "Role that CloudFormation assumes; by default the one the stack has, else you.",
        metavar="ARN",
    )
    write_template: str = setting(
        "",
        "Write the template and the functions to this folder, for another tool; deploy nothing.",
        metavar="FOLDER",
    )


@click.command(name="deploy", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@options(DeploySettings)
def command(parameters: tuple[str, ...], **values: object) -> int:
    """
    Deploy the stack of this release, or change or upgrade an existing one.

    NAME=VALUE gives a parameter of the template. What is not named keeps the
    value that the stack has, so an upgrade names nothing. What would change is
    shown and confirmed first. The release is kept in a private bucket of the
    account, which the stack neuron-emf-deploy owns.
    """
    from neuron_emf.deploy.package import carried  # noqa: PLC0415 - --help needs none of it

    settings = DeploySettings(**values)  # type: ignore[arg-type]  # click made each of its field's type
    return deploy(carried(), settings, parameters)


def deploy(package: Package, settings: DeploySettings, parameters: Sequence[str]) -> int:
    """
    Do to *package* what *settings* say; the exit code.

    Raises:
        SettingsError: If a parameter cannot be read, or the template has none of its name.
        SourceError: If AWS refuses, or the deployment fails.
    """
    from neuron_emf.account import AccountSettings, account  # noqa: PLC0415 - as above
    from neuron_emf.deploy.bucket import release_bucket  # noqa: PLC0415 - as above
    from neuron_emf.deploy.change_set import (  # noqa: PLC0415 - as above
        drop_change_set,
        drop_on_error,
        execute,
        make_change_set,
    )
    from neuron_emf.deploy.listing import change_listing, output_listing  # noqa: PLC0415 - as above
    from neuron_emf.deploy.package import template_key  # noqa: PLC0415 - as above
    from neuron_emf.deploy.parameters import (  # noqa: PLC0415 - as above
        given_parameters,
        require_declared,
        require_one_step,
    )
    from neuron_emf.deploy.stack import (  # noqa: PLC0415 - as above
        Stack,
        require_usable,
        wait_until_deployed,
    )
    from neuron_emf.printing import show  # noqa: PLC0415 - as above

    if settings.write_template:
        return _write(package, Path(settings.write_template))
    named = dict(_pair("parameter", one) for one in parameters)
    require_declared(package.parameters, named)
    choices = _choices(settings)
    where = account(AccountSettings(stack_name=settings.stack_name, region=settings.region))
    cloudformation = where.client("cloudformation")
    stack = Stack.read(cloudformation, settings.stack_name)
    require_usable(stack)
    given = given_parameters(package.parameters, named, stack)
    if stack is not None and stack.parameters:
        require_one_step(stack.parameters, named)
    bucket = release_bucket(where, choices)
    template = package.template(bucket.code_uri(package.functions_key))
    bucket.put(package.functions_key, package.functions)
    bucket.put(template_key(template), template.encode())
    url = bucket.url(template_key(template))
    change_set = make_change_set(
        cloudformation, stack, settings.stack_name, url, given, choices=choices
    )
    if change_set is None:
        click.echo(f"No changes: {settings.stack_name} is up to date.")
        return 0
    with drop_on_error(cloudformation, settings.stack_name, change_set.name):
        show(*change_listing(change_set, stack))
        if not settings.yes and not _is_confirmed(settings.stack_name):
            drop_change_set(cloudformation, settings.stack_name, change_set.name)
            click.echo("Nothing was changed.", err=True)
            return EXIT_NOT_CONFIRMED
        execute(cloudformation, change_set)
    show(output_listing(wait_until_deployed(cloudformation, settings.stack_name)))
    return 0


def _is_confirmed(stack_name: str) -> bool:
    try:
        return click.confirm(f"Apply these changes to the stack {stack_name}?", err=True)
    except click.Abort:  # the end of the input is no yes, and the change set must not stay
        click.echo("", err=True)
        return False


def _pair(what: str, text: str) -> tuple[str, str]:
    name, is_given, value = text.partition("=")
    if not is_given or not name:
        msg = f"A {what} is NAME=VALUE, found {text!r}. Write for example Mode=kinesis."
        raise SettingsError(msg)
    return name, value


def _choices(settings: DeploySettings) -> dict[str, object]:
    """What CloudFormation keeps of a stack where a request does not have it."""
    tags = [{"Key": key, "Value": value} for key, value in
            (_pair("tag", one) for one in settings.tags)]  # fmt: skip
    members = {"RoleARN": settings.role_arn, "Tags": tags}
    return {name: value for name, value in members.items() if value}


def _write(package: Package, folder: Path) -> int:
    from neuron_emf.deploy.change_set import CAPABILITIES  # noqa: PLC0415 - as above

    try:
        template, functions = package.write(folder)
    except OSError as error:
        msg = f"Cannot write to {folder}: {error.strerror}."
        raise SettingsError(msg) from error
    click.echo(f"template      {template}")
    click.echo(f"functions     {functions}")
    click.echo(f"capabilities  {' '.join(CAPABILITIES)}")
    click.echo("CodeUri of each function is the zip beside the template: upload it, or let")
    click.echo(f"aws cloudformation package --template-file {template} --s3-bucket BUCKET do it.")
    return 0
