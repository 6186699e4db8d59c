/*
 * The breakdown: who or what has the idle cores, and what they cost, by the chosen group.
 *
 * Cores and USD/h are of the newest minute, USD is over the chosen range. Unknown is never 0.
 */

import { html, useMemo, useState } from "./vendor/ui.js";
import { useAnswer } from "./data.js";
import { clustersElsewhere, rowsOf } from "./groups.js";
import { Choice, Icon, Name, Section, Skeleton, Trouble } from "./parts.js";
import { Reading } from "./reading.js";
import { OpenedRow } from "./breakdown_row.js";
import { RANGES, isLedgerRange } from "./state.js";
import { amount, counted, duration, figure, hoursOf, list, moment, printable, share } from "./words.js";

/** @typedef {import("./types.js").BreakdownRow} Row */
/** @typedef {import("./types.js").BreakdownNumbers} Numbers */
/** @typedef {import("./types.js").AmountsAnswer} AmountsAnswer */
/** @typedef {import("./main.js").SectionProps} SectionProps */

/**
 * @typedef {object} Column
 * @property {string} key Member `sort` of the state, without `-`.
 * @property {string} title
 * @property {(row: Row) => string | number | null} value What is sorted.
 */

const FIRST_ROWS = 10;
const MAX_URGENT_FIRST = 3; // more expensive rows must stay on the first screen
const MAX_GAPS = 3; // gaps of missing hours that are named
const EVERY_S = 20;
const LEDGER_EVERY_S = 60;
const GROUP_NAMES = { owner: "Owner", team: "Team", cluster: "Cluster", type: "Instance type", instance: "Instance" };
/** @type {Column[]} */
const NUMBERS = [
  { key: "idle", title: "Idle cores", value: (row) => row.idle_cores },
  { key: "share", title: "Share", value: (row) => (row.cores ? (row.idle_cores ?? 0) / row.cores : null) },
  { key: "for", title: "Idle for", value: (row) => row.idle_minutes },
  { key: "hourly", title: "USD/h", value: (row) => row.usd_per_hour },
  { key: "usd", title: "USD", value: (row) => row.usd },
];
/** @type {Column} */
const NAME = { key: "name", title: "", value: (row) => row.name };
/** @type {Column} */
const CLUSTER = { key: "cluster", title: "Cluster", value: (row) => row.cluster };

/**
 * Return *rows* in the order of *sort*; unknown values are last. Without *sort*, a few rows that cannot wait are first.
 *
 * @param {Row[]} rows
 * @param {string} sort
 */
export function sorted(rows, sort) {
  if (!sort) {
    const urgent = rows.filter(({ cannot_wait }) => cannot_wait).slice(0, MAX_URGENT_FIRST);
    return [...urgent, ...rows.filter((row) => !urgent.includes(row))];
  }
  const isDescending = sort.startsWith("-");
  const column = [NAME, CLUSTER, ...NUMBERS].find(({ key }) => key === sort.replace("-", ""));
  if (!column) return rows;
  return [...rows].sort((one, other) => {
    const order = compare(column.value(one), column.value(other));
    const isUnknown = column.value(one) === null || column.value(other) === null;
    return isDescending && !isUnknown ? -order : order;
  });
}

/**
 * @param {string | number | null} one
 * @param {string | number | null} other
 */
function compare(one, other) {
  if (one === other) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return typeof one === "string" ? one.localeCompare(String(other)) : one - Number(other);
}

/**
 * Return the rows in which each word of *search* occurs.
 *
 * @param {Row[]} rows
 * @param {string} search
 */
export function found(rows, search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const text = [row.name, row.owner, row.team, row.cluster, row.instance, row.instance_type, ...row.marks].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** @param {SectionProps} props */
export function Breakdown({ state, set, now }) {
  const { group, range, cluster, team, owner } = state;
  const cores = useAnswer("/cores.json", { cluster }, { every_s: EVERY_S });
  const amounts = useAnswer("/amounts.json", { range }, { every_s: isLedgerRange(range) ? LEDGER_EVERY_S : EVERY_S });
  const page = now.value;
  const isOfInstances = group === "type" || group === "instance";
  const hasCores = cores.value || (cores.failure && !isOfInstances);
  const isReady = page && hasCores && (amounts.value || amounts.failure || amounts.seconds !== null);
  const rows = useMemo(
    () => (isReady ? rowsOf({ group, cluster, team, owner }, page, cores.value?.instances ?? [], amounts.value?.amounts ?? null) : null),
    [isReady, page, cores.value, amounts.value, group, cluster, team, owner],
  );
  const options = Object.entries(GROUP_NAMES).map(([value, label]) => ({ value, label: value === "type" ? "Type" : label }));
  const aside = html`<${Choice} label="Group by" value=${group} options=${options} onChange=${(/** @type {string} */ value) => set({ group: value })} />`;
  const isLost = !page && now.failure;
  return html`<${Section} id="breakdown" title="Idle cores by" className="breakdown" asOf=${page?.data_to_ms} aside=${aside}>
    ${isLost && html`<p class="trouble-short soft"><${Icon} name="circle-alert" /> The breakdown is not available.</p>`}
    ${cores.failure && isOfInstances && html`<${Trouble} what="The breakdown" failure=${cores.failure} again=${cores.again} />`}
    ${amounts.failure && !isLost && html`<${Trouble} what="USD of the range" failure=${amounts.failure} again=${amounts.again} />`}
    ${page && amounts.isLoading && amounts.seconds !== null && html`<${Waiting} seconds=${amounts.seconds} range=${range} />`}
    ${rows && page && html`<${Content} rows=${rows} page=${page} amounts=${amounts.value} again=${amounts.again} state=${state} set=${set} />`}
    ${!rows && !isLost && !(cores.failure && isOfInstances) && html`<${Skeleton} rows=${8} />`}
  <//>`;
}

/** @param {{ seconds: number, range: string }} props */
function Waiting({ seconds, range }) {
  const isLedger = isLedgerRange(range);
  const progress = useAnswer("/progress.json", {}, { every_s: 1, on: isLedger });
  const left = progress.value?.hours_left;
  const source = isLedger ? `the ledger's hourly summaries${left ? `, ${counted(left, "hour")} left` : ""}` : "rollups";
  return html`<p class="soft" role="status">Reading ${source} for USD of the range, ${seconds} s</p>`;
}

/**
 * @param {{ rows: import("./groups.js").Rows, page: import("./types.js").Now, amounts: AmountsAnswer | null,
 *   again: () => void } & Pick<SectionProps, "state" | "set">} props
 */
function Content({ rows: { rows: all, total, notes }, page, amounts, again, state, set }) {
  const [search, setSearch] = useState("");
  const [isWhole, setIsWhole] = useState(false);
  const rows = sorted(found(all, search), state.sort);
  const openAt = rows.findIndex((row) => keyOf(row) === state.open);
  const shown = isWhole || openAt >= FIRST_ROWS ? rows : rows.slice(0, FIRST_ROWS);
  const hasSearch = all.length > FIRST_ROWS || search !== "";
  return html`
    ${amounts && html`<${Reading} range=${state.range} reading=${amounts.reading} again=${again} />`}
    ${hasSearch && html`<label class="breakdown-search"><${Icon} name="search" /><input type="search" value=${search}
      placeholder=${`Search ${all.length} rows`} aria-label="Search the breakdown"
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setSearch(event.currentTarget.value)} /></label>`}
    ${rows.length > 0 && html`<${Table} total=${total} rows=${shown} state=${state} set=${set} />`}
    ${!rows.length && html`<p>${emptyWords(total, search, clustersElsewhere(state, page))}</p>`}
    ${shown.length < rows.length && html`<button type="button" class="button" onClick=${() => setIsWhole(true)}>Show all ${figure(rows.length)}</button>`}
    ${amounts && html`<${Gaps} answer=${amounts} />`}
    ${notes.map((note) => html`<p class="soft">${note}</p>`)}`;
}

/**
 * @param {Numbers} total
 * @param {string} search
 * @param {string[]} elsewhere Clusters outside of the filter that have such idle cores.
 */
function emptyWords(total, search, elsewhere) {
  if (search) return `No row contains “${search}”.`;
  if (elsewhere.length) return `No idle cores in this cluster, but in ${list(elsewhere.map(printable))}.`;
  if (total.idle_cores === 0) return "No core is idle.";
  return "No idle cores are reported here.";
}

/** @param {{ answer: AmountsAnswer }} props */
function Gaps({ answer }) {
  if (!answer.missing.length || answer.reading) return null;
  const { known: hours, all } = hoursOf(answer);
  const known = isLedgerRange(answer.range) ? `${hours} of ${all} hours` : "the minutes with rollups";
  const gaps = answer.missing.map(([start, end]) => `${moment(start)} to ${moment(end)}`);
  const more = gaps.length > MAX_GAPS ? ` and ${gaps.length - MAX_GAPS} more gaps` : "";
  return html`<p class="breakdown-gaps"><${Icon} name="triangle-alert" />
    USD is of ${known}. Missing, not zero: ${list(gaps.slice(0, MAX_GAPS))}${more}.</p>`;
}

/** @param {Row} row */
function keyOf(row) {
  return `row:${row.key}`;
}

/** @param {{ total: Numbers, rows: Row[] } & Pick<SectionProps, "state" | "set">} props */
function Table({ total, rows, state, set }) {
  const hasCluster = state.group === "owner" || state.group === "instance";
  const heads = [{ ...NAME, title: GROUP_NAMES[/** @type {keyof typeof GROUP_NAMES} */ (state.group)] }, ...(hasCluster ? [CLUSTER] : []), ...NUMBERS];
  const range = labelOf(state.range);
  return html`<div class="table-wrap"><table class="table live breakdown-table" role="table">
    <thead role="rowgroup"><tr role="row">${heads.map((column) => html`<${Head} key=${column.key} column=${column} sort=${state.sort} set=${set} unit=${column.key === "usd" ? range : ""} />`)}</tr></thead>
    <tbody role="rowgroup">${rows.map((row) => html`<${TableRow} key=${row.key} row=${row} columns=${heads.length} isOpen=${state.open === keyOf(row)} state=${state} set=${set} />`)}</tbody>
    <tfoot role="rowgroup"><${Total} total=${total} range=${range} hasCluster=${hasCluster} /></tfoot>
  </table></div>`;
}

/** @param {string} range */
function labelOf(range) {
  return RANGES[/** @type {keyof typeof RANGES} */ (range)].label;
}

/** @param {{ column: Column, sort: string, unit: string, set: SectionProps["set"] }} props */
function Head({ column, sort, unit, set }) {
  const isText = column === CLUSTER || column.key === "name";
  const isSorted = sort.replace("-", "") === column.key;
  const direction = sort.startsWith("-") ? "descending" : "ascending";
  const press = () => set({ sort: next(column.key, sort, isText) });
  return html`<th scope="col" role="columnheader" class=${isText ? "" : "number"} aria-sort=${isSorted ? direction : null}>
    <button type="button" class="breakdown-sort" onClick=${press}>${column.title}${unit && `, ${unit}`}
      ${isSorted && html`<${Icon} name=${direction === "descending" ? "arrow-down" : "arrow-up"} />`}</button></th>`;
}

/**
 * Return the sort after a press: numbers start with the greatest, names with A; the third press ends it.
 *
 * @param {string} key
 * @param {string} sort
 * @param {boolean} isText
 */
function next(key, sort, isText) {
  const orders = isText ? [key, `-${key}`, ""] : [`-${key}`, key, ""];
  return orders[(orders.indexOf(sort) + 1) % orders.length];
}

/** @param {{ row: Row, columns: number, isOpen: boolean } & Pick<SectionProps, "state" | "set">} props */
function TableRow({ row, columns, isOpen, state, set }) {
  const names = ["breakdown-row", isOpen && "is-open", row.cannot_wait && "is-marked"];
  const toggle = () => set({ open: isOpen ? "" : keyOf(row) });
  const { group } = state;
  const hasCluster = group === "owner" || group === "instance";
  return html`<tr role="row" class=${names.filter(Boolean).join(" ")}>
      <th scope="row" role="rowheader"><div class="breakdown-subject"><button type="button" class="breakdown-name" aria-expanded=${isOpen} onClick=${toggle}>
        <${Icon} name=${isOpen ? "chevron-down" : "chevron-right"} /><span class=${row.is_bracket ? "soft" : ""}><${Name} text=${row.name} /></span></button>
        <${Remarks} row=${row} group=${group} /></div></th>
      ${hasCluster && html`<td role="cell"><${Name} text=${row.cluster ?? "several"} /></td>`}
      <td role="cell" class="number" data-label="idle"><${Known} value=${row.idle_cores} words=${figure} /></td>
      <td role="cell" class="number"><${Share} row=${row} /></td>
      <td role="cell" class="number" data-before="idle for" title=${row.since_ms === null ? null : `Since ${moment(row.since_ms)}`}><${Known} value=${row.idle_minutes} words=${duration} /></td>
      <td role="cell" class="number" data-label="USD/h"><${Money} value=${row.usd_per_hour} unpriced=${row.unpriced_cores} /></td>
      <td role="cell" class="number" data-label=${`USD, ${labelOf(state.range)}`}><${Money} value=${row.usd} unpriced=${0} /></td>
    </tr>
    ${isOpen && html`<tr role="row" class="breakdown-open"><td role="cell" colspan=${columns}>
      <${OpenedRow} row=${row} group=${group} state=${state} set=${set} /></td></tr>`}`;
}

/** @param {{ row: Row, group: string }} props */
function Remarks({ row, group }) {
  const place = group === "instance" && !row.is_bracket ? [row.instance_type, row.owner] : [group === "owner" && row.team ? `team ${row.team}` : null];
  const words = [...place, row.uses].filter(Boolean);
  return html`${row.cannot_wait && html`<span class="badge is-bad">cannot wait</span>`}
    ${row.is_gone && html`<span class="badge is-wait">gone</span>`}
    ${words.length > 0 && html`<span class="breakdown-remarks soft"><${Name} text=${words.join(", ")} /></span>`}`;
}

/** @param {{ row: import("./types.js").BreakdownNumbers }} props */
function Share({ row }) {
  const { idle_cores, cores } = row;
  if (idle_cores === null || !cores) return html`<${Unknown} />`;
  const width = `${Math.min(100, (100 * idle_cores) / cores)}%`;
  return html`<span class="breakdown-share" title=${`${figure(idle_cores)} of ${counted(cores, "core")}`}>
    <span class="breakdown-bar" aria-hidden="true"><i style=${{ width }}></i></span>${share(idle_cores, cores)}</span>`;
}

/** @param {{ value: number | null, unpriced: number | null }} props */
function Money({ value, unpriced }) {
  if (value === null) return html`<${Unknown} />`;
  return html`${amount(value)}${unpriced ? html`<span class="soft" title=${`${counted(unpriced, "core")} without a price`}>+?</span>` : ""}`;
}

/** @param {{ total: Numbers, range: string, hasCluster: boolean }} props */
function Total({ total, range, hasCluster }) {
  return html`<tr role="row"><th scope="row" role="rowheader">All</th>${hasCluster && html`<td role="cell"></td>`}
    <td role="cell" class="number" data-label="idle"><${Known} value=${total.idle_cores} words=${figure} /></td>
    <td role="cell" class="number"><${Share} row=${total} /></td><td role="cell"></td>
    <td role="cell" class="number" data-label="USD/h"><${Money} value=${total.usd_per_hour} unpriced=${total.unpriced_cores} /></td>
    <td role="cell" class="number" data-label=${`USD, ${range}`}><${Money} value=${total.usd} unpriced=${0} /></td></tr>`;
}

/** @param {{ value: number | null, words: (value: number | null) => string }} props */
function Known({ value, words }) {
  return value === null ? html`<${Unknown} />` : words(value);
}

function Unknown() {
  return html`<span class="soft" title="unknown"><span aria-hidden="true">–</span><span class="visually-hidden">unknown</span></span>`;
}
