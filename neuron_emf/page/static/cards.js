/*
 * Four cards: idle cores, their cost, what of it is avoidable, utilization; each with its trend.
 */

import { html } from "./vendor/ui.js";
import { useCharts } from "./charts.js";
import { useAnswer } from "./data.js";
import { PLACEHOLDERS, clustersElsewhere, rowsOf, unnamedCores, utilizationOf } from "./groups.js";
import { Icon, Name, Notice, Skeleton, Spark, Term, Terms } from "./parts.js";
import { RANGES } from "./state.js";
import { amount, clock, counted, duration, figure, list, percent, printable, share, zoneName } from "./words.js";

/** @typedef {import("./types.js").Now} Now */

const CORES_EVERY_S = 20;

/**
 * What a card shows: its number in the unit of its chart, and the words below.
 *
 * @typedef {object} Shown
 * @property {number | null} value
 * @property {string} line The first of the words.
 * @property {string[]} notes
 */

/**
 * The numbers of one owner or team.
 *
 * @typedef {object} Own
 * @property {string} kind owner or team
 * @property {import("./types.js").BreakdownNumbers} total
 * @property {{ percent: number | null, cores: number } | null} utilization Null if the cores are not read.
 * @property {string} notRead Why the cores are not read.
 * @property {string[]} notes What its idle cores do not have.
 */

/**
 * @typedef {object} CardShape
 * @property {"idle" | "cost" | "avoidable" | "utilization"} id
 * @property {string} chart The chart with its trend.
 * @property {string} title
 * @property {string} term A term of the glossary.
 * @property {boolean} isBetterLow True if a lower value is better.
 * @property {(page: Now) => number | null} value Of all owners.
 * @property {(own: Own) => Shown} own Of one owner or team.
 * @property {(value: number | null) => string} big
 * @property {string} unit
 */

/** @type {CardShape[]} */
const CARDS = [
  {
    id: "idle", chart: "idle_cores", title: "Idle cores", term: "idle", isBetterLow: true, unit: "", big: figure,
    value: (page) => page.idle.cores,
    own: ({ total, notes }) => ({
      value: total.idle_cores,
      line: total.cores ? `${share(total.idle_cores, total.cores)} of ${figure(total.cores)} cores held or reserved` : "",
      notes,
    }),
  },
  {
    id: "cost", chart: "cost", title: "Cost of idle cores", term: "idle", isBetterLow: true, unit: "USD/h", big: amount,
    value: (page) => page.cost.usd_per_hour,
    own: ({ total }) => ({
      value: total.usd_per_hour,
      line: total.unpriced_cores ? `Without ${counted(total.unpriced_cores, "core")} that have no price` : "",
      notes: [],
    }),
  },
  {
    id: "avoidable", chart: "avoidable", title: "Avoidable", term: "avoidable", isBetterLow: true, unit: "USD/h", big: amount,
    value: (page) => page.avoidable.usd_per_hour,
    own: ({ kind }) => ({ value: null, line: `Known for whole clusters, not for one ${kind}`, notes: [] }),
  },
  {
    id: "utilization", chart: "utilization", title: "Utilization", term: "utilization", isBetterLow: false, unit: "", big: percent,
    value: (page) => page.utilization.percent,
    own: ({ utilization, notRead }) => ({
      value: utilization?.percent ?? null,
      line: utilization ? `of ${counted(utilization.cores, "known core")} held or reserved` : notRead,
      notes: [],
    }),
  },
];

/** @param {import("./main.js").SectionProps} props */
export function Cards({ state, now }) {
  const charts = useCharts(state);
  const page = now.value;
  const kind = state.owner ? "owner" : "team";
  const name = state[kind];
  const cores = useAnswer("/cores.json", { cluster: state.cluster }, { every_s: CORES_EVERY_S, on: name !== "" });
  const own = page && name ? ownOf(state, kind, page, cores) : null;
  return html`<div class="cards-block">
    ${name && html`<${Scope} kind=${kind} name=${PLACEHOLDERS[name] ?? name} cluster=${state.cluster} />`}
    <div class="cards">${CARDS.map((card) => html`<${Card} key=${card.id} card=${card} page=${page} own=${own} charts=${charts.value} range=${state.range} isFailed=${Boolean(now.failure)} />`)}</div>
    ${charts.failure && page && html`<p class="soft cards-scope">No trend: ${printable(charts.failure.sentence)}</p>`}
    ${charts.value?.ledger && html`<p class="soft cards-scope">No comparison with yesterday and last week: ${charts.value.ledger}</p>`}
    ${page?.cost.advice && html`<p class="cards-advice"><${Icon} name="info" /> ${page.cost.advice}</p>`}
    ${page?.is_old && html`<${Notice} kind="warn">The newest data are of ${clock(page.data_to_ms)} ${zoneName()}, ${duration(page.age_minutes)} ago.<//>`}
  </div>`;
}

/** @param {{ kind: string, name: string, cluster: string }} props */
function Scope({ kind, name, cluster }) {
  const place = cluster && html` in cluster <${Name} text=${cluster} />`;
  return html`<p class="scope"><${Icon} name="info" /><span>Cards of ${kind} <${Name} text=${name} />${place}. Trends are known for whole clusters only.</span></p>`;
}

/**
 * @param {import("./state.js").State} state
 * @param {string} kind
 * @param {Now} page
 * @param {import("./data.js").Answer<{ instances: import("./types.js").InstanceCores[] }>} cores
 * @returns {Own}
 */
function ownOf(state, kind, page, cores) {
  const elsewhere = clustersElsewhere(state, page);
  const unnamed = unnamedCores(state, page);
  return {
    kind,
    total: rowsOf({ ...state, group: "owner" }, page, [], null).total,
    utilization: cores.value ? utilizationOf(cores.value.instances, state) : null,
    notRead: cores.failure?.sentence ?? "Reading cores",
    notes: [
      ...(unnamed ? [`At least: rollups do not name the owners of ${counted(unnamed, "more idle core")}`] : []),
      ...(elsewhere.length ? [`More in ${list(elsewhere)}`] : []),
    ],
  };
}

/**
 * @param {{ card: CardShape, page: Now | null, own: Own | null, charts: import("./types.js").ChartsAnswer | null, range: string,
 *   isFailed: boolean }} props
 */
function Card({ card, page, own, charts, range, isFailed }) {
  const title = html`<h2><${Term} name=${card.term}>${card.title}<//></h2>`;
  if (!page) {
    const body = isFailed ? html`<p class="card-number is-unknown">unknown</p>` : html`<${Skeleton} rows=${2} />`;
    return html`<section class="card">${title}${body}</section>`;
  }
  const { value, line, notes } = own ? card.own(own) : ofAll(card, page);
  return html`<section class=${`card card-${card.id}`}>${title}
    <p class=${`card-number live ${value === null ? "is-unknown" : ""}`}>${card.big(value)}${value !== null && card.unit && html` <span class="card-unit">${card.unit}</span>`}</p>
    <p class="card-line live">${line}</p>
    <${CardNotes} notes=${notes} />
    ${!own && html`<${Trend} card=${card} value=${value} charts=${charts} range=${range} />`}
  </section>`;
}

/**
 * Return what a card shows of all owners, in the words of `neuron-emf top`.
 *
 * @param {CardShape} card
 * @param {Now} page
 * @returns {Shown}
 */
function ofAll(card, page) {
  const value = card.value(page);
  const { words, notes } = page[card.id];
  const below = [words.replace(numberOf(card, value), "").trim(), ...notes].filter(Boolean);
  return { value, line: below[0] ?? "", notes: below.slice(1) };
}

/**
 * Return `38.94 USD/h`.
 *
 * @param {CardShape} card
 * @param {number | null} value
 */
function numberOf({ big, unit }, value) {
  return `${big(value)}${value !== null && unit && ` ${unit}`}`;
}

/**
 * Return the title, the number and the words of each card.
 *
 * @param {Now} page
 */
export function wordsOf(page) {
  return CARDS.map((card) => {
    const { value, line, notes } = ofAll(card, page);
    return [card.title, value === null ? "" : numberOf(card, value), line, ...notes].filter(Boolean);
  });
}

/** @param {{ card: CardShape, value: number | null, charts: import("./types.js").ChartsAnswer | null, range: string }} props */
function Trend({ card, value, charts, range }) {
  if (!charts) return html`<div class="card-trend"></div>`;
  const values = charts.charts.find(({ id }) => id === card.chart)?.all ?? [];
  const points = charts.x.map((at_ms, at) => /** @type {[number, number | null]} */ ([at_ms, values[at] ?? null]));
  const words = RANGES[/** @type {keyof typeof RANGES} */ (range)].words;
  const yesterday = charts.before.yesterday?.[card.chart] ?? null;
  const lastWeek = charts.before.last_week?.[card.chart] ?? null;
  return html`<div class="card-trend live"><${Spark} points=${points} label=${`${card.title}, ${words}`} /></div>
    ${(yesterday !== null || lastWeek !== null) && html`<p class="card-changes live">
      <${Change} value=${value} before=${yesterday} words="yesterday" isBetterLow=${card.isBetterLow} />
      <${Change} value=${value} before=${lastWeek} words="last week" isBetterLow=${card.isBetterLow} />
    </p>`}`;
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
