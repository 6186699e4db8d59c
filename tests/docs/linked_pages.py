"""The links and headings of a Markdown page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

DOCS_FOLDER = REPOSITORY / "docs"
CODE_FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE_SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?\)")
HTML_ADDRESS = re.compile(r'\b(?:src|srcset|href)="([^"]+)"')
OTHER_SITE = re.compile(r"https://|http://127\.0\.0\.1|mailto:")
HEADING = re.compile(r"^#{1,6} (.+?) *#*$", re.MULTILINE)


def pages():
    """Return the pages that people read: the README, files next to it, and everything in docs/."""
    top_pages = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*(path for path in top_pages if path.exists()), *sorted(DOCS_FOLDER.rglob("*.md"))]


def anchor_of(heading):
    """Return the anchor of a heading, on the repository's host and on the site."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "")).lower()
    return text.replace(" ", "-")


@dataclass(frozen=True)
class LinkedPage:
    """
    A page of Markdown.

    Attributes:
        path: Path of the page.

        text: Text of the page, without fenced blocks and comments.
    """

    path: Path
    text: str

    @classmethod
    def read(cls, path):
        """Return the page at *path*."""
        text = path.read_text(encoding="utf-8")
        return cls(path, HTML_COMMENT.sub("", CODE_FENCE.sub("", text)))

    @property
    def anchors(self):
        """Return the anchors of the headings, in order."""
        return [anchor_of(match) for match in HEADING.findall(self.text)]

    @property
    def links(self):
        """Return every target of links and pictures."""
        prose = CODE_SPAN.sub("", self.text)
        return [*LINK.findall(prose), *HTML_ADDRESS.findall(prose)]

    def broken_links(self):
        """Return a sentence for each broken link."""
        return [fault for link in self.links if (fault := self._fault(link))]

    def _fault(self, link):
        if OTHER_SITE.match(link):
            return None
        name, _, anchor = link.partition("#")
        target = (self.path.parent / name).resolve() if name else self.path
        if "://" in link or link.startswith("/"):
            fault = "neither relative nor https"
        elif name and not target.is_file():
            fault = "there is no such file"
        elif DOCS_FOLDER in self.path.parents and DOCS_FOLDER not in target.parents:
            fault = "leads out of docs/, where the site has nothing"
        else:
            fault = self._fault_of_anchor(target, anchor)
        return fault and f"{link}: {fault}"

    def _fault_of_anchor(self, target, anchor):
        if not anchor:
            return None
        page = self if target == self.path else LinkedPage.read(target)
        headings = page.anchors.count(anchor)
        return None if headings == 1 else f"{headings} headings have that anchor"
