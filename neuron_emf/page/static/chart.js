/*
 * One chart: its plot with keys, its series with their values under the cursor, and its table.
 *
 * A canvas is invisible to a screen reader, so the keys read the values aloud, and the table has
 * all of them.
 */

import { html, useCallback, useMemo, useRef, useState } from "./vendor/ui.js";
import { Canvas } from "./heat.js";
import { Icon, Name, Terms } from "./parts.js";
import { Plot } from "./plot.js";
import { COLOR_NAMES, DASHES, OTHERS, SLOTS, slotColors, slotsOf, textureOf } from "./series.js";
import { isLedgerRange } from "./state.js";
import { amount, clock, counted, figure, moment, printable, zoneName } from "./words.js";

/** @typedef {import("./types.js").Chart} ChartData */
/** @typedef {import("./types.js").ChartsAnswer} ChartsAnswer */
/** @typedef {import("./series.js").Series} Series */
/** @typedef {import("./plot.js").Span} Span */
/** @typedef {import("./plot.js").Handle} Handle */

const ROWS_AT_FIRST = 60;
const NO_SUM = "Some clusters do not report this number, so there is no sum. Choose by cluster.";
const WHOLE_SCALES = new Set(["utilization", "coverage"]);
const SHORTEST_ZOOM_STEPS = 4;
const BYTES_IN_GB = 1e9;
/** Sizes from which an axis writes a letter for thousands, and what the letter divides by. */
const AXIS_LETTERS = Object.freeze([
  { from: 1e12, divisor: 1e12, letter: "T" },
  { from: 1e9, divisor: 1e9, letter: "G" },
  { from: 1e6, divisor: 1e6, letter: "M" },
  { from: 1e4, divisor: 1e3, letter: "k" },
]);

/**
 * @typedef {object} ChartProps
 * @property {ChartData} chart
 * @property {ChartsAnswer} answer
 * @property {number | null} newest index of the newest value of all charts; null if unknown
 * @property {boolean} isTogether True if all clusters are one series.
 * @property {Span | null} zoom
 * @property {(span: Span | null) => void} setZoom
 * @property {Map<string, number>} preferred slots of labels in all charts
 */
/** @param {ChartProps} props */
export function Chart({ chart, answer, newest, isTogether, zoom, setZoom, preferred }) {
  const [hidden, setHidden] = useState(/** @type {readonly string[]} */ ([]));
  const [cursor, setCursor] = useState(/** @type {number | null} */ (null));
  const [hasTable, setTable] = useState(false);
  const isStacked = isOfStates(chart);
  const series = useMemo(() => seriesOf(chart, isTogether, hidden, preferred), [chart, isTogether, hidden]);
  const toggle = useCallback((/** @type {string} */ label) => {
    setHidden((before) => (before.includes(label) ? before.filter((other) => other !== label) : [...before, label]));
  }, []);
  const whole = { from_ms: answer.start_ms, to_ms: answer.end_ms };
  const at = cursor !== null && cursor < answer.x.length ? cursor : null;
  const own = newestIndex(series);
  const shown = at ?? own;
  const when = shown === null || (at === null && own === newest) ? "" : momentWords(answer, shown);
  const label = `${chart.title}, ${chart.unit}`;
  return html`
    <section class="chart live" aria-label=${label}>
      <header class="chart-head">
        <h3><${Terms} text=${chart.title} /> <span class="soft">${unitWords(chart.unit)}</span></h3>
        <span class="chart-when soft number">${when}</span>
        ${series.length > 0 && html`<button type="button" class="button button-quiet" aria-expanded=${hasTable} title="Table of values"
          onClick=${() => setTable(!hasTable)}><${Icon} name="table" label=${`Table of ${chart.title}`} /></button>`}
      </header>
      ${series.length > 0 && html`
        <${PlotWithKeys} chart=${chart} answer=${answer} series=${series} span=${zoom ?? whole} whole=${whole}
          cursor=${at} setCursor=${setCursor} setZoom=${setZoom} toggle=${toggle} setHidden=${setHidden} />
        <${Legend} series=${series} chart=${chart} at=${shown} isStacked=${isStacked} toggle=${toggle} />
      `}
      ${series.length === 0 && html`<p class="chart-empty soft">${chart.series.length ? NO_SUM : "No cluster reports this number."}</p>`}
      ${hasTable && series.length > 0 && html`<${Table} chart=${chart} answer=${answer} series=${series} />`}
    </section>
  `;
}

/**
 * Return True if the series of *chart* are parts of a sum, one for each state of cores.
 * @param {ChartData} chart
 */
function isOfStates(chart) {
  return chart.id === "core_states";
}

/**
 * Return the series with their slots; the slot of a part of a sum is its place in the sum.
 * @param {ChartData} chart
 * @param {boolean} isTogether
 * @param {readonly string[]} hidden
 * @param {Map<string, number>} preferred
 * @returns {Series[]}
 */
function seriesOf(chart, isTogether, hidden, preferred) {
  const together = chart.all.some((value) => value !== null) ? [{ label: "All clusters", values: chart.all }] : [];
  const shown = isTogether && !isOfStates(chart) ? together : chart.series.slice(0, SLOTS);
  const labels = shown.map(({ label }) => label);
  const slots = isOfStates(chart) ? labels.map((_, place) => place) : slotsOf(labels, preferred);
  return shown.map(({ label, values }, place) => ({ label, values, slot: slots[place], isHidden: hidden.includes(label) }));
}

/**
 * Return the newest moment at which a series has a value, null if none has.
 * @param {readonly { values: (number | null)[] }[]} series
 */
export function newestIndex(series) {
  const length = series[0]?.values.length ?? 0;
  for (let at = length - 1; at >= 0; at -= 1) {
    if (series.some(({ values }) => values[at] !== null)) return at;
  }
  return null;
}

/**
 * @param {ChartsAnswer} answer
 * @param {number} at
 */
export function momentWords(answer, at) {
  return isLedgerRange(answer.range) ? moment(answer.x[at]) : `${clock(answer.x[at])} ${zoneName()}`;
}

/** @param {string} unit */
function unitWords(unit) {
  return unit === "bytes" ? "" : unit;
}

/**
 * Return *value* as the legend and the table write it; the title has the unit of counts and money.
 * @param {number | null | undefined} value
 * @param {string} unit
 */
function valueWords(value, unit) {
  if (value === null || value === undefined) return "no data";
  if (unit === "USD/h") return amount(value);
  if (unit === "percent") return `${figure(value)} %`;
  if (unit === "bytes") return `${figure(value / BYTES_IN_GB)} GB`;
  if (unit === "s") return `${figure(value)} s`;
  return figure(value);
}

/**
 * Return *value* in few characters, for an axis.
 * @param {number} value
 * @param {string} unit
 */
function axisWords(value, unit) {
  if (unit === "percent") return `${figure(value)} %`;
  const scale = AXIS_LETTERS.find(({ from }) => Math.abs(value) >= from);
  return scale ? `${figure(value / scale.divisor)}${scale.letter}` : figure(value);
}

/**
 * The plot and its keys: the focusable half of a chart.
 * @param {{ chart: ChartData, answer: ChartsAnswer, series: readonly Series[], span: Span, whole: Span, cursor: number | null,
 *   setCursor: (index: number | null) => void, setZoom: (span: Span | null) => void, toggle: (label: string) => void,
 *   setHidden: (labels: readonly string[]) => void }} props
 */
function PlotWithKeys({ chart, answer, series, span, whole, cursor, setCursor, setZoom, toggle, setHidden }) {
  const plot = useRef(/** @type {Handle | null} */ (null));
  const [isFocused, setFocused] = useState(false);
  const missing = useMemo(() => missingSpans(answer), [answer]);
  const { x, step_ms } = answer;
  /** @param {number} index */
  const point = (index) => {
    const first = x.findIndex((at_ms) => at_ms >= span.from_ms);
    const last = x.findLastIndex((at_ms) => at_ms <= span.to_ms);
    plot.current?.pointAt(Math.min(last, Math.max(first, index)));
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const from = cursor ?? newestIndex(series) ?? x.length - 1;
    const stride = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowLeft") point(cursor === null ? from : from - stride);
    else if (event.key === "ArrowRight") point(cursor === null ? from : from + stride);
    else if (event.key === "Home") point(0);
    else if (event.key === "End") point(x.length - 1);
    else if (event.key === "+" || event.key === "=") setZoom(zoomed(span, whole, x[from], 0.5, step_ms));
    else if (event.key === "-") setZoom(zoomed(span, whole, x[from], 2, step_ms));
    else if (event.key === "0") setHidden([]);
    else if (/^[1-9]$/.test(event.key) && series[Number(event.key) - 1]) toggle(series[Number(event.key) - 1].label);
    else if (event.key === "Escape") {
      setZoom(null);
      plot.current?.pointAt(null);
    } else return;
    event.preventDefault();
  };
  const shown = series.filter(({ isHidden }) => !isHidden);
  const at = cursor ?? newestIndex(series);
  const values = shown.map(({ label, values: of }) => `${printable(label)} ${valueWords(of[at ?? 0], chart.unit)}`);
  const words = at === null ? "no data" : `${momentWords(answer, at)}: ${values.join(", ")}`;
  const keys = "Keys: arrows move the cursor, Shift by ten, plus and minus zoom, digits switch series, 0 shows all, Escape resets.";
  return html`
    <div class="chart-plot" tabindex="0" role="application" aria-roledescription="chart" title=${isFocused ? keys : undefined}
      aria-label=${`${chart.title}, latest ${words}. ${keys}`} onKeyDown=${press}
      onFocus=${() => setFocused(true)} onBlur=${() => setFocused(false)}>
      <${Plot} x=${x} series=${series} isStacked=${isOfStates(chart)} span=${span} missing=${missing}
        top=${WHOLE_SCALES.has(chart.id) ? 100 : null} words=${(/** @type {number} */ value) => axisWords(value, chart.unit)}
        onCursor=${setCursor} onZoom=${setZoom} onReady=${(/** @type {Handle | null} */ handle) => {
          plot.current = handle;
        }} />
      <p class="visually-hidden" aria-live="polite">${isFocused && cursor !== null ? words : ""}</p>
    </div>
  `;
}

/**
 * Return the times that no data cover: hours without a summary, and minutes not read yet.
 * @param {ChartsAnswer} answer
 * @returns {Span[]}
 */
function missingSpans({ missing, reading, start_ms }) {
  const spans = missing.map(([from_ms, to_ms]) => ({ from_ms, to_ms }));
  return reading ? [{ from_ms: start_ms, to_ms: reading.from_ms }, ...spans] : spans;
}

/**
 * Return *span* scaled by *factor* around *center_ms*, inside *whole*; null for the whole range.
 * @param {Span} span
 * @param {Span} whole
 * @param {number} center_ms
 * @param {number} factor
 * @param {number} step_ms
 */
function zoomed(span, whole, center_ms, factor, step_ms) {
  const length = Math.max(SHORTEST_ZOOM_STEPS * step_ms, (span.to_ms - span.from_ms) * factor);
  if (length >= whole.to_ms - whole.from_ms) return null;
  const wanted = center_ms - length / 2;
  const from_ms = Math.min(whole.to_ms - length, Math.max(whole.from_ms, wanted));
  return { from_ms, to_ms: from_ms + length };
}

/**
 * The series with their values at the cursor; each is a switch. Values have a place of their own,
 * so that nothing moves while the cursor does.
 * @param {{ series: readonly Series[], chart: ChartData, at: number | null, isStacked: boolean, toggle: (label: string) => void }} props
 */
function Legend({ series, chart, at, isStacked, toggle }) {
  return html`
    <ul class="chart-legend">
      ${series.map(({ label, values, slot, isHidden }) => html`
        <li key=${label}>
          <button type="button" class="chart-series" aria-pressed=${!isHidden} onClick=${() => toggle(label)}>
            <${Swatch} slot=${slot} isStacked=${isStacked} />
            <${Name} text=${label} />
            <span class="number">${at === null ? "no data" : valueWords(values[at], chart.unit)}</span>
          </button>
        </li>
      `)}
      ${chart.left_out > 0 && series.some(({ label }) => label === OTHERS) && html`<li class="soft">${counted(chart.left_out, "smaller cluster")} in ${OTHERS}</li>`}
    </ul>
  `;
}

/** @param {{ slot: number, isStacked: boolean }} props */
function Swatch({ slot, isStacked }) {
  const paint = useCallback(
    (/** @type {CanvasRenderingContext2D} */ pen, /** @type {Record<string, string>} */ colors) => {
      if (isStacked) {
        pen.fillStyle = textureOf(pen, slot, colors);
        pen.fillRect(0, 0, 20, 10);
        return;
      }
      pen.strokeStyle = colors[slotColors(false)[slot]];
      pen.lineWidth = 2;
      pen.setLineDash([...DASHES[slot]]);
      pen.beginPath();
      pen.moveTo(0, 5);
      pen.lineTo(20, 5);
      pen.stroke();
    },
    [slot, isStacked],
  );
  return html`<${Canvas} width=${20} height=${10} paint=${paint} names=${COLOR_NAMES} />`;
}

/**
 * All values of a chart, the newest first.
 * @param {{ chart: ChartData, answer: ChartsAnswer, series: readonly Series[] }} props
 */
function Table({ chart, answer, series }) {
  const [isWhole, setWhole] = useState(false);
  const order = answer.x.map((_, at) => at).reverse();
  const shown = isWhole ? order : order.slice(0, ROWS_AT_FIRST);
  return html`
    <div class="chart-table table-wrap" tabindex="0" role="group" aria-label=${`Values of ${chart.title}`}>
      <table class="table">
        <thead><tr>
          <th scope="col">${zoneName()}</th>
          ${series.map(({ label }) => html`<th scope="col" class="number"><${Name} text=${label} /></th>`)}
        </tr></thead>
        <tbody>
          ${shown.map((at) => html`<tr key=${at}>
            <th scope="row" class="number">${isLedgerRange(answer.range) ? moment(answer.x[at]) : clock(answer.x[at])}</th>
            ${series.map(({ values }) => html`<td class="number">${valueWords(values[at], chart.unit)}</td>`)}
          </tr>`)}
        </tbody>
      </table>
      ${!isWhole && order.length > shown.length && html`<button type="button" class="button" onClick=${() => setWhole(true)}>Show all ${figure(order.length)}</button>`}
    </div>
  `;
}
