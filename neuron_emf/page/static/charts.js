/*
 * Charts over the range, with one crosshair and one zoom for all of them.
 */

import { html, useEffect, useRef, useState } from "./vendor/ui.js";
import { Chart } from "./chart.js";
import { useAnswer } from "./data.js";
import { Choice, Icon, Section, Skeleton, Trouble } from "./parts.js";
import { Reading } from "./reading.js";
import { isLedgerRange } from "./state.js";
import { counted, figure } from "./words.js";

/** @typedef {import("./types.js").ChartsAnswer} ChartsAnswer */
/** @typedef {import("./main.js").SectionProps} SectionProps */
/** @typedef {import("./plot.js").Span} Span */

const VIEWS = [
  { value: "cluster", label: "By cluster" },
  { value: "all", label: "In all" },
];
const EVERY_S = 30;
const LEDGER_EVERY_S = 600;

/** @param {SectionProps} props */
export function Charts({ state }) {
  const [by, setBy] = useState("cluster");
  const every_s = isLedgerRange(state.range) ? LEDGER_EVERY_S : EVERY_S;
  const answer = useAnswer("/charts.json", { cluster: state.cluster, range: state.range, by }, { every_s });
  const [zoom, setZoom] = useState(/** @type {Span | null} */ (null));
  useEffect(() => setZoom(null), [state.cluster, state.range]);
  const preferred = useRef(/** @type {Map<string, number>} */ (new Map()));
  /** @type {ChartsAnswer | null} */
  const charts = answer.value;
  const resetZoom = () => setZoom(null);
  const aside = html`
    ${zoom && html`<button type="button" class="button" onClick=${resetZoom}><${Icon} name="zoom-out" /> Whole range</button>`}
    ${!state.cluster && html`<${Choice} label="Series of the charts" value=${by} options=${VIEWS} onChange=${setBy} />`}
  `;
  return html`
    <${Section} id="charts" title="Charts" aside=${aside}>
      ${answer.failure && html`<${Trouble} what="The history of the charts" failure=${answer.failure} again=${answer.again} />`}
      ${!charts && !answer.failure && html`<${Skeleton} rows=${8} />`}
      ${charts && html`
        <p class="soft">Drag to zoom, double-click for the whole range. On the keyboard, Tab to a chart: arrows move the cursor, plus and minus zoom, digits switch series.</p>
        <${Coverage} charts=${charts} again=${answer.again} />
        <div class="charts-grid">
          ${charts.charts.map((chart) => html`
            <${Chart} key=${chart.id} chart=${chart} answer=${charts} zoom=${zoom} setZoom=${setZoom} preferred=${preferred.current} />
          `)}
        </div>
      `}
    <//>
  `;
}

/**
 * What is missing of the range, and how it can be read.
 * @param {{ charts: ChartsAnswer, again: () => void }} props
 */
function Coverage({ charts, again }) {
  if (charts.reading) return html`<${Reading} range=${charts.range} reading=${charts.reading} again=${again} />`;
  if (charts.hours === null || charts.of_hours === null || charts.hours === charts.of_hours) return null;
  const missing = charts.of_hours - charts.hours;
  return html`<p class="soft">The ledger has ${figure(charts.hours)} of ${counted(charts.of_hours, "hour")}. ${counted(missing, "missing hour")} ${missing === 1 ? "is" : "are"} shaded.</p>`;
}
