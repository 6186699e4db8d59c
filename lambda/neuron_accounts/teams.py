"""
The team of an owner, by rules of the stack's operator.

A rule is `CLUSTER|OWNER=TEAM`. Cluster and owner are patterns of the whole name, in which `*`
matches any text; case matters. The first matching rule decides. If none matches, the team is the
one that the owner's scheduler reports, and absent if it reports none.

The template's parameter Teams has rules separated by commas, such as
`research|slurm:*=ml-research,*|prod/*=serving`; its AllowedPattern is the grammar of `team_rules`.
A file has one rule per line. Blanks around each part are ignored; names of owners can contain
blanks, colons and slashes, and so can patterns. A character that the grammar excludes (a comma in a
name) is matched by `*`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from glob import escape
from typing import Final

from neuron_accounts.prices import ParameterTextError
from neuron_wire.names import PLACEHOLDER_OWNERS

MAX_TEAMS_CHARS: Final = 1_024
"""
The parameter's MaxLength, which its pattern cannot express: all variables of a Lambda function have
at most 4,096 bytes together.
"""

_COMMENT: Final = "#"
_RULE_NAME: Final = r" *[!#-&(-+\--<>-\[\]-{}~][ !#-&(-+\--<>-\[\]-{}~]*"
"""Printable ASCII except quotes, backslash and the three separators; not only blanks."""

_RULE: Final = re.compile(
    rf"(?P<cluster>{_RULE_NAME})\|(?P<owner>{_RULE_NAME})=(?P<team>{_RULE_NAME})"
)


@dataclass(frozen=True, slots=True)
class TeamRule:
    """
    One rule.

    Attributes:
        cluster: Pattern of cluster names, such as `research`.

        owner: Pattern of owner names, such as `slurm:*`.

        team: The team of matching owners.
    """

    cluster: str
    owner: str
    team: str

    def matches(self, cluster: str, owner: str) -> bool:
        """Return True if the rule applies to *owner* in *cluster*."""
        if owner in PLACEHOLDER_OWNERS and owner != self.owner:
            return False  # a placeholder: only a rule with its exact name matches
        return bool(_form(self.owner).match(owner) and _form(self.cluster).match(cluster))


@dataclass(frozen=True, slots=True)
class TeamRules:
    """
    Rules in their order; none by default.

    Attributes:
        rules: The rules; the first that matches counts.
    """

    rules: tuple[TeamRule, ...] = ()

    def team_of(self, cluster: str, owner: str, scheduler_team: str | None = None) -> str | None:
        """
        Return the team of *owner* in *cluster*: by the first matching rule, or *scheduler_team*.

        `*` does not match placeholders such as `[unallocated]` and `[others]`, which have no team
        unless a rule has their exact name.
        """
        for rule in self.rules:
            if rule.matches(cluster, owner):
                return rule.team
        return scheduler_team


def team_rules(text: str) -> TeamRules:
    """
    Return the rules of the parameter Teams. An empty text has no rule.

    >>> rules = team_rules("research|slurm:*=ml-research,*|prod/*=serving")
    >>> rules.rules[0]
    TeamRule(cluster='research', owner='slurm:*', team='ml-research')

    Raises:
        ParameterTextError: If *text* is not what the template accepts.
    """
    if len(text) > MAX_TEAMS_CHARS:
        msg = f"{len(text)} characters, at most {MAX_TEAMS_CHARS} are allowed: join rules with *"
        raise ParameterTextError(msg)
    return TeamRules(tuple(_rule(part) for part in text.split(",") if text))


def team_rules_of_file(text: str) -> TeamRules:
    r"""
    Return the rules in a file, one per line; blank lines and lines with `#` at the start have none.

    >>> team_rules_of_file("# research\nresearch|slurm:*=ml").team_of("research", "slurm:7 ada")
    'ml'

    Raises:
        ParameterTextError: If a line is not a rule; the message begins with the line's number.
    """
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(_COMMENT):
            continue
        try:
            rules.append(_rule(line.strip()))
        except ParameterTextError as error:
            msg = f"line {number}: {error}"
            raise ParameterTextError(msg) from error
    return TeamRules(tuple(rules))


def _rule(text: str) -> TeamRule:
    match = _RULE.fullmatch(text)
    if match is None:
        msg = (
            f"{text[:60]!a}, which is not CLUSTER|OWNER=TEAM: write it as research|slurm:*=ml, "
            "with * for any text and without quotes, backslashes and commas"
        )
        raise ParameterTextError(msg)
    return TeamRule(match["cluster"].strip(), match["owner"].strip(), match["team"].strip())


@lru_cache(256)
def _form(pattern: str) -> re.Pattern[str]:
    """Return the form of a whole name for *pattern*, in which only `*` matches any text."""
    # The regular expression of several stars needs no backtracking: its time is linear.
    return re.compile(translate("*".join(map(escape, pattern.split("*")))))
