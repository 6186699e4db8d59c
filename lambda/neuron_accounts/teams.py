"""
Which team an owner belongs to, by rules that the stack's operator gives.

A rule is `CLUSTER|OWNER=TEAM`. Cluster and owner are patterns of the whole name,
in which `*` stands for any text; capitals count. The first rule that matches says
the team, in the order in which the rules stand. Where none matches, the team is
what the scheduler of the owner knows, and absent where that knows none.

The template's parameter Teams holds rules with commas between, such as
`research|slurm:*=ml-research,*|prod/*=serving`; its AllowedPattern is the grammar
of `team_rules`. A file holds one rule a line. Blanks around each part do not
count; names of owners hold blanks, colons and slashes, and so may patterns. What
the grammar has no letter for (a comma in a name) a `*` matches.
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
The parameter's MaxLength, which its pattern cannot say: all variables of a Lambda
function take 4,096 bytes together.
"""

_COMMENT: Final = "#"
_RULE_NAME: Final = r" *[!#-&(-+\--<>-\[\]-{}~][ !#-&(-+\--<>-\[\]-{}~]*"
"""Printable ASCII, less quotes, backslash and the three separators; something beside blanks."""

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

        team: Whose they are.
    """

    cluster: str
    owner: str
    team: str

    def matches(self, cluster: str, owner: str) -> bool:
        """Whether the rule speaks of *owner* in *cluster*."""
        if owner in PLACEHOLDER_OWNERS and owner != self.owner:
            return False  # a placeholder: only a rule that names it matches
        return bool(_form(self.owner).match(owner) and _form(self.cluster).match(cluster))


@dataclass(frozen=True, slots=True)
class TeamRules:
    """
    Rules in their order; none unless given.

    Attributes:
        rules: The first that matches counts.
    """

    rules: tuple[TeamRule, ...] = ()

    def team_of(self, cluster: str, owner: str, scheduler_team: str | None = None) -> str | None:
        """
        The team of *owner* in *cluster*: by the first rule, else *scheduler_team*.

        `*` does not match `[unallocated]`, `[others]` and their like, which have
        no team unless a rule names them as they are.
        """
        for rule in self.rules:
            if rule.matches(cluster, owner):
                return rule.team
        return scheduler_team


def team_rules(text: str) -> TeamRules:
    """
    The rules of the parameter Teams. Empty text is no rule.

    Raises:
        ParameterTextError: If *text* is not what the template accepts.
    """
    if len(text) > MAX_TEAMS_CHARS:
        msg = f"{len(text)} characters, at most {MAX_TEAMS_CHARS} are allowed: join rules with *"
        raise ParameterTextError(msg)
    return TeamRules(tuple(_rule(part) for part in text.split(",") if text))


def team_rules_of_file(text: str) -> TeamRules:
    """
    The rules of a file, one a line; blank lines and those that begin with `#` hold none.

    Raises:
        ParameterTextError: If a line is no rule; the message begins with its number.
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
    """The form of a whole name that is *pattern*, in which only `*` stands for any text."""
    # What fnmatch makes of several stars needs no backtracking: its time is linear.
    return re.compile(translate("*".join(map(escape, pattern.split("*")))))
