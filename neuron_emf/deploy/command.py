"""The command `neuron-emf deploy`, and its settings."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from neuron_emf.account import account, documented, stack_output
from neuron_emf.command_options import AccountSettings, AnswerSettings, flag
from neuron_emf.command_output import show, show_json
from neuron_emf.deploy.change_set import (
    change_listing,
    new_change_set,
    output_listing,
)
from neuron_emf.deploy.package import carried, release_bucket
from neuron_emf.deploy.plan import ask_prices, for_people, plan, unpriced_sentence
from neuron_emf.deploy.removal import read_removal, removal_listing, remove
from neuron_emf.deploy.stack import (
    Stack,
    given_parameters,
    require_one_step,
    require_same_kind,
    require_usable,
    wait_until_deployed,
)
from neuron_emitter.command_line import Command
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.minute_settings import setting
from neuron_emitter.settings.options import SYSTEM_FILE, options
from neuron_emitter.settings.run_settings import DEFAULT_LOG_GROUP, RegionSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.account import Account
    from neuron_emf.deploy.package import Package
    from neuron_wire.line_members import Members, Texts

EXIT_NOT_CONFIRMED: Final = 1


@dataclass(frozen=True, kw_only=True)
class DeploySettings(AnswerSettings, RegionSettings):
    """The stack, and whether to ask."""

    stack_name: str = setting(
        "",
        "Name of the stack; by default neuron-emf, or neuron-emf-emitters with --emitters-only.",
        metavar="NAME",
    )
    emitters_only: bool = flag("Deploy only the log group and 3 alarms, without functions.")
    plan: bool = flag("Only print what it would create and cost, or delete.")
    yes: bool = flag("Change or delete the stack without confirmation.")
    delete: bool = flag(
        "Delete the stack, and the releases that no other stack uses; shows what stays."
    )
    bind_role: str = setting(
        "",
        "Attach the emitter policy of the stack to this role, by its name or ARN; deploy nothing.",
        metavar="ROLE",
    )
    tags: tuple[str, ...] = setting(
        (),
        "Tags of the stack and its resources, separated by commas; by default the present tags.",
        metavar="KEY=VALUE",
    )
    role_arn: str = setting(
        "",
        "Role that CloudFormation assumes; by default the role of the stack, otherwise your own.",
        metavar="ARN",
    )
    write_template: str = setting(
        "",
        "Write the template and the functions to this folder, for another tool; deploy nothing.",
        metavar="FOLDER",
    )


@click.command(
    name="deploy",
    cls=Command,
    epilog=(
        "Exit codes: 0 the stack is up to date or deleted, 1 not confirmed, 2 usage error, "
        "3 AWS rejected the change, or the deployment or deletion failed."
    ),
)
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@options(DeploySettings)
def command(parameters: tuple[str, ...], **values: object) -> int:
    """
    Deploy the stack of this release, or change or upgrade an existing one.

    NAME=VALUE sets a parameter of the template. A parameter without a value
    keeps the value that the stack has, so an upgrade needs none. The changes
    are shown and confirmed first. The release is kept in a private bucket of
    the account, which the stack neuron-emf-deploy owns.
    """
    settings = DeploySettings(**values)  # type: ignore[arg-type]  # click made each of its field's type
    if settings.delete or settings.bind_role:
        if parameters or settings.json:
            msg = "--delete and --bind-role take no NAME=VALUE and no --json. Omit them."
            raise SettingsError(msg)
        return delete(settings) if settings.delete else bind_role(settings)
    return deploy(carried(emitters_only=settings.emitters_only), settings, parameters)


def deploy(package: Package, settings: DeploySettings, parameters: Sequence[str]) -> int:
    """
    Deploy *package* with *settings*. Return the exit code.

    Raises:
        SettingsError: If a parameter cannot be read, or the template has none of its name.
        SourceError: If AWS refuses, or the deployment fails.
    """
    if settings.write_template:
        return _write(package, Path(settings.write_template))
    named = dict(_pair("parameter", text) for text in parameters)
    package.require_named(named)
    if settings.json and not settings.plan:
        msg = "--json needs --plan. Add --plan, or omit --json."
        raise SettingsError(msg)
    if settings.plan:
        return _show_plan(package, settings, named)
    choices = _choices(settings)
    where, name = _place(settings)
    cloudformation = where.client("cloudformation")
    stack = Stack.describe(cloudformation, name)
    require_usable(stack)
    require_same_kind(stack, package.defaults)
    require_one_step(stack.parameters, named)
    parameters_then = {**package.defaults, **stack.parameters, **named}
    if unpriced := unpriced_sentence(parameters_then, cloudformation.meta.region_name):
        click.echo(unpriced, err=True)
        is_person = sys.stdin is not None and sys.stdin.isatty()
        # An upgrade does not ask: the operator has answered at the first deployment.
        if not stack.parameters and not settings.yes and is_person:
            named |= ask_prices(parameters_then)
    given = given_parameters(package.defaults, named, stack)
    if package.functions:
        template = {"TemplateURL": release_bucket(where, choices).upload_release(package)}
    else:
        template = {"TemplateBody": package.source}  # a request takes 51,200 bytes
    request = {"Capabilities": list(package.capabilities), **template, **choices}
    with new_change_set(cloudformation, stack, given, request) as change_set:
        if change_set is None:
            click.echo(f"No changes: {name} is up to date.")
            return 0
        show(*change_listing(change_set, stack))
        if not settings.yes and not _is_confirmed(f"Apply these changes to the stack {name}?"):
            change_set.drop()
            return EXIT_NOT_CONFIRMED
        change_set.execute()
    deployed = wait_until_deployed(cloudformation, name)
    show(output_listing(deployed))
    region = cloudformation.meta.region_name
    click.echo(_emitter_settings(deployed, region, has_rollups=bool(package.functions)))
    return 0


def delete(settings: DeploySettings) -> int:
    """
    Show the effects of the removal, ask, and delete the stack. Return the exit code.

    Raises:
        SettingsError: If there is no such stack, or it must not be deleted.
        SourceError: If AWS refuses, or the deletion fails.
    """
    where, name = _place(settings)
    removal = read_removal(where, name)
    show(*removal_listing(where, removal))
    if settings.plan:
        return 0
    if not settings.yes and not _is_confirmed(f"Delete the stack {name}?"):
        return EXIT_NOT_CONFIRMED
    remove(where, removal, _choices(settings))
    return 0


def bind_role(settings: DeploySettings) -> int:
    """
    Attach the emitter policy of the stack to a role. Return the exit code.

    Raises:
        SourceError: If there is no such stack or role, or AWS refuses.
    """
    where, _ = _place(settings)
    policy = stack_output(where, "EmitterPolicyArn", "Deploy it first.")
    role = settings.bind_role.rpartition("/")[2]  # the API accepts a name, a chart has the ARN
    with documented("iam:AttachRolePolicy"):
        where.client("iam").attach_role_policy(RoleName=role, PolicyArn=policy)
    click.echo(f"The role {role} has the policy {policy}.")
    return 0


def _place(settings: DeploySettings) -> tuple[Account, str]:
    """Return the account, and the name of the stack."""
    default = "neuron-emf-emitters" if settings.emitters_only else "neuron-emf"
    name = settings.stack_name or default
    return account(AccountSettings(stack_name=name, region=settings.region)), name


def _show_plan(package: Package, settings: DeploySettings, named: Texts) -> int:
    planned = plan(package, named)
    if settings.json:
        show_json(planned)
    else:
        unpriced = unpriced_sentence({**package.defaults, **named}, settings.region)
        show(*for_people(planned), *filter(None, [unpriced]))
    return 0


def _emitter_settings(stack: Stack, region: str, *, has_rollups: bool) -> str:
    """Return the emitters' configuration file for *stack*."""
    values = {
        "log-group": stack.outputs.get("EmitterLogGroupName", DEFAULT_LOG_GROUP),
        "region": region,
        "metrics": "none" if has_rollups else "cluster",
    }
    if not has_rollups:
        values["cluster"] = stack.parameters.get("ClusterName", "")
    lines = "\n".join(f'{name} = "{value}"' for name, value in values.items())
    bind = f"neuron-emf deploy --bind-role ROLE --region {region} --stack-name {stack.name}"
    return (
        f"\nLet the role of an instance write: {bind}\n"
        f"\nSettings of the emitters, in {SYSTEM_FILE}:\n\n{lines}"
    )


def _is_confirmed(question: str) -> bool:
    try:
        if click.confirm(question, err=True):
            return True
    except click.Abort:  # the end of the input means no, and the change set must not stay
        click.echo("", err=True)
    click.echo("Nothing was changed.", err=True)
    return False


def _pair(what: str, text: str) -> tuple[str, str]:
    name, is_given, value = text.partition("=")
    if not is_given or not name:
        msg = f"Invalid {what} {text!r}. Use NAME=VALUE, such as Mode=kinesis."
        raise SettingsError(msg)
    return name, value


def _choices(settings: DeploySettings) -> Members:
    """Return tags and role of a request; without them CloudFormation keeps those of the stack."""
    pairs = [_pair("tag", tag) for tag in settings.tags]
    tags = [{"Key": key, "Value": value} for key, value in pairs]
    members = {"RoleARN": settings.role_arn, "Tags": tags}
    return {name: value for name, value in members.items() if value}


def _write(package: Package, folder: Path) -> int:
    try:
        template, functions = package.write_release(folder)
    except OSError as error:
        msg = f"Cannot write to {folder}: {error.strerror}. Use another folder."
        raise SettingsError(msg) from error
    click.echo(f"template      {template}")
    click.echo(f"capabilities  {' '.join(package.capabilities)}")
    if functions is not None:
        click.echo(f"functions     {functions}, CodeUri of each function: upload it, or let")
        click.echo(f"aws cloudformation package --s3-bucket BUCKET --template-file {template}")
    return 0
