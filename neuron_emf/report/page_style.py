"""
How the page of an idle report looks: light, dark and printed, with no script and nothing fetched.

Colours are from a palette that the colour-blind can tell apart (Okabe and Ito),
darkened or lightened until text on them has the contrast of WCAG 2.1 AA; no
number is told by colour alone.
"""

from __future__ import annotations

from typing import Final

CSS: Final = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1a1c1e; --soft: #4a5056; --line: #c9ced3; --stripe: #f3f5f7;
  --busy: #0072b2; --attached: #d55e00; --unattached: #e69f00; --unknown: #8a9097;
  --accent: #005a8d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #eceff1; --soft: #b4bcc4; --line: #3d444b; --stripe: #1d2226;
    --busy: #56b4e9; --attached: #ff8a3d; --unattached: #f0c24b; --unknown: #79818a;
    --accent: #7cc4f5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 72rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word;
}
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
p, li { max-width: 46rem; }
p { margin: .4rem 0; }
ul { margin: .4rem 0; padding-left: 1.2rem; }
.soft { color: var(--soft); }
dl.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
  gap: .75rem; margin: 1.2rem 0;
}
dl.facts div { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; }
dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; color: var(--soft); padding: .2rem 0 .4rem; }
th, td {
  padding: .3rem .6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line);
}
thead th { border-bottom: 2px solid var(--soft); font-size: .82rem; }
tbody tr:nth-child(even) { background: var(--stripe); }
tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 9rem; }
tbody th.short { white-space: nowrap; min-width: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.number { white-space: normal; }
svg.bar { display: block; width: 8rem; height: .9rem; }
.busy { fill: var(--busy); } .attached { fill: var(--attached); }
.unattached { fill: var(--unattached); } .unknown { fill: var(--unknown); }
ul.legend {
  list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem;
  font-size: .85rem;
}
ul.legend svg { width: .9rem; height: .9rem; vertical-align: -.1rem; margin-right: .35rem; }
footer {
  margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .6rem;
  font-size: .85rem;
}
@media print {
  :root {
    --paper: #ffffff; --ink: #000000; --soft: #33383d; --line: #9aa0a6; --stripe: #ffffff;
    --busy: #0072b2; --attached: #d55e00; --unattached: #e69f00; --unknown: #8a9097;
  }
  @page { margin: 15mm; }
  html { font-size: 8.5pt; }
  body { max-width: none; padding: 0; }
  .scroll { overflow: visible; }
  h2 { break-after: avoid; }
  thead { display: table-header-group; }
  tr, dl.facts div { break-inside: avoid; }
  svg.bar { width: 3.5rem; }
  svg.bar, ul.legend svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  th, td { padding: .15rem .35rem; }
  tbody th { min-width: 0; }
}
"""
