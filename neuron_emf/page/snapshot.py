"""
A snapshot: the page with its data of one moment in one file, which sends no request.

The answers are those of the page's server, under the keys of the page's requests. Names are those
in the lines, so `run --attribution` decides which names there are. The file has no token.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from neuron_emf.page.ranges import DEFAULT_RANGE
from neuron_emf.page.server import STATIC, problem_of
from neuron_emitter.errors import EmitterError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.page.view import PageView, Query
    from neuron_wire.line_members import JsonObject

BUNDLE: Final = Path(__file__).with_name("snapshot.js")
"""The page's modules in one script, which `make page-bundle` writes."""

MAX_CLUSTERS: Final = 8
MAX_INSTANCES: Final = 20
MAX_OWNERS: Final = 10
_STYLES: Final = ("vendor/uplot.css", "page.css")
_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>neuron-emf</title>
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{style}</style>
</head>
<body>
<div id="page"></div>
<noscript><p>This page needs JavaScript, which this file contains.</p></noscript>
<script type="application/json" id="snapshot">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def write_snapshot(view: PageView, file: Path) -> str:
    """
    Write the page of *view* with its present data into *file*. Return a sentence about it.

    Raises:
        SettingsError: If the file cannot be written, or this installation cannot make snapshots.
        EmitterError: If the first screen cannot be read.
    """
    text = snapshot(view)
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        msg = f"Cannot write {file}: {error.strerror}. Use another path."
        raise SettingsError(msg) from error
    return (
        f"Wrote {file}, {len(text.encode()) / 1e6:.1f} MB. It has the names of owners and "
        "instances: anyone who has the file can read them."
    )


def snapshot(view: PageView) -> str:
    """
    Return the page of *view* with its present data.

    A part that cannot be read contains the sentence that the page shows.

    Raises:
        SettingsError: If this installation has no script of snapshots.
        EmitterError: If the first screen cannot be read.
    """
    try:
        script = BUNDLE.read_text("utf-8")
    except FileNotFoundError as error:
        msg = (
            "The script of snapshots is not in this installation. Install a released wheel, or run "
            "make page-bundle in a clone of the repository; it needs npm."
        )
        raise SettingsError(msg) from error
    now = view.now({})
    document = {
        "made_ms": now["now_ms"],
        "answers": {
            key_of(path, query): _answer(view, path, query) for path, query in _requests(view, now)
        },
    }
    style = "".join((STATIC / name).read_text("utf-8") for name in _STYLES)
    policy = (
        f"default-src 'none'; script-src {_source_of(script)}; style-src {_source_of(style)}; "
        "img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    icon = base64.b64encode((STATIC / "icon.svg").read_bytes()).decode()
    data = in_html(document)
    return _PAGE.format(policy=policy, icon=icon, style=style, data=data, script=script)


def key_of(path: str, query: Query) -> str:
    """Return the key of a request in the form of `keyOf` in data.js."""
    given = sorted((name, value) for name, value in query.items() if value)
    values = urlencode(given, safe="*").replace("~", "%7E")  # as URLSearchParams quotes
    return f"{path}?{values}" if values else path


def in_html(document: object) -> str:
    """Return *document* as JSON that neither ends nor begins an element, whatever its names are."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _source_of(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _answer(view: PageView, path: str, query: Query) -> JsonObject:
    try:
        return view.reads[path](query)
    except (EmitterError, ValueError) as error:
        return problem_of(error)[1]


def _requests(view: PageView, now: JsonObject) -> Iterator[tuple[str, Query]]:
    """Yield each request of the page that a snapshot answers."""
    yield "/alarms.json", {}
    yield "/amounts.json", {"range": DEFAULT_RANGE}
    clusters = sorted(now["clusters"], key=lambda row: -(row["idle_cores"] or 0))
    names = [row["cluster"] for row in clusters[:MAX_CLUSTERS]]
    for cluster in ("", *names):
        shown = {"cluster": cluster}
        yield from (("/now.json", shown), ("/cores.json", shown))
        yield "/charts.json", {**shown, "range": DEFAULT_RANGE}
    instances = _answer(view, "/cores.json", {}).get("instances", ())
    for row in instances[:MAX_INSTANCES]:
        yield "/instance.json", {"cluster": row["cluster"], "instance": row["instance"]}
        yield "/commands.json", {"cluster": row["cluster"], "instances": row["instance"]}
    for row in now["owners"][:MAX_OWNERS]:
        place = {"cluster": row["cluster"], "owner": row["owner"]}
        yield "/commands.json", {**place, "instances": ",".join(_ids_of(row, instances))}


def _ids_of(owner: JsonObject, instances: Sequence[JsonObject]) -> Iterator[str]:
    """Yield the instances whose commands the page shows in the row of *owner*."""
    for instance in instances:
        holders = [holder.get("Name") for holder in instance["holders"]]
        names = {*holders, *(name for name, _, _ in instance["owned"])}
        if instance["cluster"] == owner["cluster"] and owner["owner"] in names:
            yield instance["instance"]
