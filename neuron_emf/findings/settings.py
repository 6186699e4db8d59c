"""What `neuron-emf findings` can be told."""

from __future__ import annotations

from dataclasses import dataclass

from emitter.settings.declaration import setting
from neuron_emf.account import AccountSettings


@dataclass(frozen=True, kw_only=True)
class FindingsSettings(AccountSettings):
    """Which findings, and how they are shown."""

    cluster: str = setting("", "Only findings of this cluster.", metavar="NAME", short="-c")
    kind: str = setting("", "Only findings of this kind, such as idle-instance.", metavar="KIND")
    json: bool = setting(default=False, help_text="Print JSON for programs.")
