"""
Draw a recorded soak: `.venv-pictures/bin/python proof/soak/picture.py JSON SVG`.

The one program here that needs matplotlib, so it imports nothing else of this
repository. The same record and release make the same bytes. The picture names
the curves it was drawn from (their digest, in its description), so that a test
without matplotlib knows whether it is the one of the record.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt

INK, FAINT, CURVE, LIMIT, GONE = "#0f172a", "#94a3b8", "#2563eb", "#b91c1c", "#fde68a"
MEASURED_FONT = "DejaVu Sans"  # comes with matplotlib: the same room for text everywhere
SHOWN_FONTS = "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"
STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "neuron-emf",  # names inside of the file do not change from run to run
    "font.family": [MEASURED_FONT],
    "font.size": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "white",  # opaque: as readable on a dark page as on a light one
}
HOURS_A_DAY = 24
PANELS = (
    ("resident_mib", "resident memory, MiB"),
    ("descriptors", "descriptors"),
    ("threads", "threads"),
    ("spool_records", "records in the spool"),
    ("spool_mib", "files of the spool, MiB"),
)


def main(arguments: list[str]) -> int:
    """Draw; the exit code."""
    if len(arguments) != 2:
        sys.stderr.write("expected JSON and SVG: picture.py docs/figures/soak.json FILE.svg\n")
        return 2
    record, picture = map(Path, arguments)
    facts = json.loads(record.read_text(encoding="utf-8"))["facts"]
    with plt.rc_context(STYLE):
        draw(facts["drawn"], picture)
    return 0


def draw(drawn: dict, picture: Path) -> None:
    """Small multiples over one axis of time; limits are dashed, time without network is shaded."""
    curves = {name: [float(one) for one in text.split()] for name, text in drawn["curves"].items()}
    days = [hour / HOURS_A_DAY for hour in curves["hour"]]
    figure, panels = plt.subplots(
        len(PANELS), sharex=True, figsize=(9.6, 7.2), layout="constrained"
    )
    for panel, (name, title) in zip(panels, PANELS, strict=True):
        for start, end in drawn["gone_hours"]:
            panel.axvspan(start / HOURS_A_DAY, end / HOURS_A_DAY, color=GONE, linewidth=0)
        panel.step(days, curves[name], where="pre", color=CURVE, linewidth=1.2)
        panel.set_title(title, loc="left", fontsize=9, color=INK)
        panel.set_ylim(0, 1.25 * max(1.0, *curves[name]))
        panel.margins(x=0)
        if name in drawn["limits"]:
            limit = drawn["limits"][name]
            panel.axhline(limit, color=LIMIT, linewidth=1, linestyle="--")
            panel.set_ylim(0, 1.25 * limit)
            panel.text(days[-1], limit, f"limit {limit:g} ", color=LIMIT, ha="right", va="bottom")
        panel.axvline(drawn["warm_hours"] / HOURS_A_DAY, color=FAINT, linewidth=1, linestyle=":")
    panels[0].text(
        drawn["warm_hours"] / HOURS_A_DAY, 2, " no growth from here on", color=INK, va="bottom"
    )
    panels[-1].set_xlabel("days since the start; shaded: no network")
    name = hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:16]
    said = {"Date": None, "Title": drawn["title"], "Description": name}
    figure.savefig(picture, format="svg", metadata=said)
    written = picture.read_text(encoding="utf-8").replace(f"'{MEASURED_FONT}'", SHOWN_FONTS)
    lines = written.splitlines()
    picture.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
