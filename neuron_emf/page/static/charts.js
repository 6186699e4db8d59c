/*
 * Charts over the range, with one crosshair and one zoom for all of them.
 */

import { html, useEffect, useRef, useState } from "./vendor/ui.js";
import { Chart, momentWords, newestIndex } from "./chart.js";
import { useAnswer } from "./data.js";
import { Choice, Icon, Name, Section, Skeleton, Trouble } from "./parts.js";
import { Reading } from "./reading.js";
import { isLedgerRange } from "./state.js";
import { counted, figure, hoursOf, list } from "./words.js";

/** @typedef {import("./types.js").ChartsAnswer} ChartsAnswer */
/** @typedef {import("./main.js").SectionProps} SectionProps */
/** @typedef {import("./plot.js").Span} Span */

const VIEWS = [
  { value: "cluster", label: "By cluster" },
  { value: "all", label: "In all" },
];
const EVERY_S = 30;
const LEDGER_EVERY_S = 600;

/**
 * The charts of the chosen cluster and range, which the cards show too.
 *
 * @param {SectionProps["state"]} state
 * @returns {import("./data.js").Answer<ChartsAnswer>}
 */
export function useCharts({ cluster, range }) {
  return useAnswer("/charts.json", { cluster, range }, { every_s: isLedgerRange(range) ? LEDGER_EVERY_S : EVERY_S });
}

/** @param {SectionProps} props */
export function Charts({ state }) {
  const [by, setBy] = useState("cluster");
  const answer = useCharts(state);
  const [zoom, setZoom] = useState(/** @type {Span | null} */ (null));
  useEffect(() => setZoom(null), [state.cluster, state.range]);
  const preferred = useRef(/** @type {Map<string, number>} */ (new Map()));
  /** @type {ChartsAnswer | null} */
  const charts = answer.value;
  const absent = charts && isLedgerRange(state.range) ? charts.charts.filter(({ series }) => !series.length) : [];
  const drawn = charts?.charts.filter((chart) => !absent.includes(chart)) ?? [];
  const newest = newestIndex(drawn.flatMap(({ series }) => series));
  const resetZoom = () => setZoom(null);
  const aside = html`
    ${zoom && html`<button type="button" class="button" onClick=${resetZoom}><${Icon} name="zoom-out" /> Whole range</button>`}
    ${!state.cluster && html`<${Choice} label="Series of the charts" value=${by} options=${VIEWS} onChange=${setBy} />`}
  `;
  return html`
    <${Section} id="charts" title="Charts" aside=${aside}>
      ${(state.team || state.owner) && html`<${Scope} state=${state} />`}
      ${answer.failure && html`<${Trouble} what="The history of the charts" failure=${answer.failure} again=${answer.again} />`}
      ${!charts && !answer.failure && html`<${Skeleton} rows=${8} />`}
      ${charts && html`
        <p class="soft">${newest !== null && `Values are of ${momentWords(charts, newest)}, or of the cursor. `}Drag to zoom, double-click for the whole range. On the keyboard, Tab to a chart: arrows move the cursor, plus and minus zoom, digits switch series.</p>
        <${Coverage} charts=${charts} again=${answer.again} />
        <div class="charts-grid">
          ${drawn.map((chart) => html`
            <${Chart} key=${chart.id} chart=${chart} answer=${charts} newest=${newest} isTogether=${by === "all" && !state.cluster} zoom=${zoom} setZoom=${setZoom} preferred=${preferred.current} />
          `)}
        </div>
        ${absent.length > 0 && html`<p class="soft">The ledger does not have ${list(absent.map(({ title }) => inSentence(title)))}. Choose 24 hours or less.</p>`}
      `}
    <//>
  `;
}

/** @param {{ state: import("./state.js").State }} props */
function Scope({ state }) {
  const place = state.cluster ? html`cluster <${Name} text=${state.cluster} />` : "all clusters";
  const kind = state.owner ? "owner" : "team";
  return html`<p class="scope"><${Icon} name="info" /><span>Of ${place}, not of ${kind} <${Name} text=${state[kind]} />: rollups have these numbers by cluster only.</span></p>`;
}

/**
 * What is missing of the range, and how it can be read.
 * @param {{ charts: ChartsAnswer, again: () => void }} props
 */
function Coverage({ charts, again }) {
  if (charts.reading) return html`<${Reading} range=${charts.range} reading=${charts.reading} again=${again} />`;
  const { known, all } = hoursOf(charts);
  if (!isLedgerRange(charts.range) || known === all) return null;
  return html`<p class="soft">The ledger has ${figure(known)} of ${counted(all, "hour")}. ${counted(all - known, "missing hour")} ${all - known === 1 ? "is" : "are"} shaded.</p>`;
}

/**
 * Return *title* as it is inside a sentence: `Cores by state` becomes `cores by state`.
 *
 * @param {string} title
 */
function inSentence(title) {
  return /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
