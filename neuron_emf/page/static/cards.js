/*
 * Four cards: idle cores, their cost, what of it is avoidable, utilization; each with its trend.
 */

import { html } from "./vendor/ui.js";
import { useAnswer } from "./data.js";
import { Icon, Name, Notice, Skeleton, Spark, Term, Terms } from "./parts.js";
import { RANGES } from "./state.js";
import { amount, clock, duration, figure, percent, printable, share, zoneName } from "./words.js";

/** @typedef {import("./types.js").Now} Now */

/**
 * @typedef {object} CardShape
 * @property {"idle" | "cost" | "avoidable" | "utilization"} id
 * @property {string} title
 * @property {string} term A term of the glossary.
 * @property {boolean} isBetterLow True if a lower value is better.
 * @property {(page: Now) => number | null} value In the unit of the trend.
 * @property {(value: number | null) => string} big
 * @property {string} unit
 * @property {(page: Now) => string} line What stands below the number.
 */

/** @type {CardShape[]} */
const CARDS = [
  {
    id: "idle", title: "Idle cores", term: "idle", isBetterLow: true, unit: "",
    value: (page) => page.idle.cores, big: figure,
    line: (page) => `${share(page.idle.cores, page.idle.known_cores)} of ${figure(page.idle.known_cores)} known cores`,
  },
  {
    id: "cost", title: "Cost of idle cores", term: "idle", isBetterLow: true, unit: "USD/h",
    value: (page) => page.cost.usd_per_hour, big: amount,
    line: (page) => (page.cost.is_incomplete ? "Without the cores that have no price" : page.cost.basis),
  },
  {
    id: "avoidable", title: "Avoidable", term: "avoidable", isBetterLow: true, unit: "USD/h",
    value: (page) => page.avoidable.usd_per_hour, big: amount,
    line: (page) => `At most; ${share(page.avoidable.usd_per_hour, page.cost.usd_per_hour)} of the cost of idle cores`,
  },
  {
    id: "utilization", title: "Utilization", term: "utilization", isBetterLow: false, unit: "",
    value: (page) => page.utilization.percent, big: percent,
    line: (page) => page.utilization.words.replace(/^\d+ % /, ""),
  },
];

/** @param {import("./main.js").SectionProps} props */
export function Cards({ state, now }) {
  const query = { cluster: state.cluster, range: state.range };
  const trend = useAnswer("/trend.json", query, { every_s: 60 });
  const page = now.value;
  const isNarrower = Boolean(state.team || state.owner);
  return html`<div class="cards-block">
    ${isNarrower && html`<p class="soft cards-scope">The cards are of ${state.cluster ? html`cluster <${Name} text=${state.cluster} />` : "all clusters"}: rollups have no totals by team or owner.</p>`}
    <div class="cards">${CARDS.map((card) => html`<${Card} key=${card.id} card=${card} page=${page} trend=${trend.value} range=${state.range} isFailed=${Boolean(now.failure)} />`)}</div>
    ${trend.failure && page && html`<p class="soft cards-scope">No trend: ${printable(trend.failure.sentence)}</p>`}
    ${trend.value?.ledger && html`<p class="soft cards-scope">No comparison with yesterday and last week: ${trend.value.ledger}</p>`}
    ${page?.cost.advice && html`<p class="cards-advice"><${Icon} name="info" /> ${page.cost.advice}</p>`}
    ${page?.is_old && html`<${Notice} kind="warn">The newest data are of ${clock(page.data_to_ms)} ${zoneName()}, ${duration(page.age_minutes)} ago.<//>`}
  </div>`;
}

/**
 * @param {{ card: CardShape, page: Now | null, trend: import("./types.js").Trends | null, range: string, isFailed: boolean }} props
 */
function Card({ card, page, trend, range, isFailed }) {
  const title = html`<h2><${Term} name=${card.term}>${card.title}<//></h2>`;
  if (!page) {
    const body = isFailed ? html`<p class="card-number is-unknown">unknown</p>` : html`<${Skeleton} rows=${2} />`;
    return html`<section class="card">${title}${body}</section>`;
  }
  const value = card.value(page);
  const line = value === null ? page[card.id].words : card.line(page);
  const words = RANGES[/** @type {keyof typeof RANGES} */ (range)].words;
  const series = trend?.cards[card.id];
  return html`<section class=${`card card-${card.id}`}>${title}
    <p class=${`card-number live ${value === null ? "is-unknown" : ""}`}>${card.big(value)}${value !== null && card.unit && html` <span class="card-unit">${card.unit}</span>`}</p>
    <p class="card-line live">${line}</p>
    <${CardNotes} notes=${page[card.id].notes.filter((/** @type {string} */ note) => note !== line)} />
    <div class="card-trend live">${series && html`<${Spark} points=${series.points} label=${`${card.title}, ${words}`} />`}</div>
    ${series && (series.yesterday !== null || series.last_week !== null) && html`<p class="card-changes live">
      <${Change} value=${value} before=${series.yesterday} words="yesterday" isBetterLow=${card.isBetterLow} />
      <${Change} value=${value} before=${series.last_week} words="last week" isBetterLow=${card.isBetterLow} />
    </p>`}
  </section>`;
}

const MAX_NOTES = 2;

/** @param {{ notes: string[] }} props */
function CardNotes({ notes }) {
  const items = notes.map((note) => html`<li key=${note}><${Terms} text=${note} /></li>`);
  return html`<ul class="card-notes live">${items.slice(0, MAX_NOTES)}</ul>
    ${items.length > MAX_NOTES && html`<details class="card-notes"><summary>${items.length - MAX_NOTES} more</summary><ul>${items.slice(MAX_NOTES)}</ul></details>`}`;
}

/**
 * The change against the same hour of an earlier day; nothing if the ledger does not have it.
 *
 * @param {{ value: number | null, before: number | null, words: string, isBetterLow: boolean }} props
 */
function Change({ value, before, words, isBetterLow }) {
  if (value === null || before === null) return null;
  const difference = value - before;
  const isEqual = Math.abs(difference) < Math.max(Math.abs(before) * 0.005, 1e-9);
  if (isEqual) return html`<span class="change"><${Icon} name="arrow-right" /> as ${words}</span>`;
  const isBetter = difference < 0 === isBetterLow;
  const size = before === 0 ? `from 0` : percent(Math.abs(difference / before) * 100);
  const icon = difference > 0 ? "arrow-up-right" : "arrow-down-right";
  const direction = difference > 0 ? "more than" : "less than";
  return html`<span class=${`change ${isBetter ? "is-better" : "is-worse"}`} title=${`${figure(before)} at this hour ${words}`}><${Icon} name=${icon} /> ${size}<span class="visually-hidden"> ${direction}</span> <span class="soft">vs ${words}</span></span>`;
}
