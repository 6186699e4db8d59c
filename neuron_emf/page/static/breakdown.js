/*
 * The breakdown: who or what has the idle cores, and what they cost, by the chosen group.
 *
 * Cores and USD/h are of the newest minute, USD is over the chosen range. Unknown is never 0.
 */

import { html, useState } from "./vendor/ui.js";
import { isSnapshot, useAnswer } from "./data.js";
import { Choice, Icon, Name, Section, Skeleton, Trouble } from "./parts.js";
import { Reading } from "./reading.js";
import { OpenedRow } from "./breakdown_row.js";
import { RANGES, isLedgerRange } from "./state.js";
import { amount, counted, duration, figure, list, moment, share } from "./words.js";

/** @typedef {import("./types.js").BreakdownRow} Row */
/** @typedef {import("./types.js").BreakdownAnswer} Answer */
/** @typedef {import("./main.js").SectionProps} SectionProps */

/**
 * @typedef {object} Column
 * @property {string} key Member `sort` of the state, without `-`.
 * @property {string} title
 * @property {(row: Row) => string | number | null} value What is sorted.
 */

const FIRST_ROWS = 10;
const MAX_URGENT_FIRST = 3; // dearer rows must stay on the first screen
const MAX_GAPS = 3; // gaps of missing hours that are named
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
export function Breakdown({ state, set }) {
  const { group, range, cluster, team, owner } = state;
  const every_s = isLedgerRange(range) ? LEDGER_EVERY_S : undefined;
  const isChosenHere = isSnapshot && group === "owner";
  const filter = isChosenHere ? { cluster } : { cluster, team, owner };
  const answer = useAnswer("/breakdown.json", { group, range, ...filter }, { every_s });
  const value = answer.value && isChosenHere ? ownRows(answer.value, team, owner) : answer.value;
  const options = Object.entries(GROUP_NAMES).map(([value, label]) => ({ value, label: value === "type" ? "Type" : label }));
  const aside = html`<${Choice} label="Group by" value=${group} options=${options} onChange=${(/** @type {string} */ value) => set({ group: value })} />`;
  return html`<${Section} id="breakdown" title="Idle cores by" className="breakdown" asOf=${answer.value?.data_to_ms} aside=${aside}>
    ${answer.failure && html`<${Trouble} what="The breakdown" failure=${answer.failure} again=${answer.again} />`}
    ${value && html`<${Content} answer=${value} again=${answer.again} state=${state} set=${set} />`}
    ${!answer.value && !answer.failure && html`<${Waiting} seconds=${answer.seconds} range=${range} />`}
  <//>`;
}

/**
 * Return *answer* with the rows of a team or an owner: a snapshot has rows of all, and no totals of some.
 *
 * @param {Answer} answer
 * @param {string} team
 * @param {string} owner
 * @returns {Answer}
 */
function ownRows(answer, team, owner) {
  if (!team && !owner) return answer;
  const rows = answer.rows.filter((row) => (!team || row.team === team) && (!owner || row.owner === owner));
  const unknown = /** @type {any} */ (Object.fromEntries(Object.keys(answer.total).map((name) => [name, null])));
  return { ...answer, rows, total: unknown };
}

/** @param {{ seconds: number | null, range: string }} props */
function Waiting({ seconds, range }) {
  const source = isLedgerRange(range) ? "the ledger's hourly summaries" : "rollups";
  return html`<${Skeleton} rows=${8} />${seconds !== null && html`<p class="soft" role="status">Reading ${source}, ${seconds} s</p>`}`;
}

/** @param {{ answer: Answer, again: () => void } & Pick<SectionProps, "state" | "set">} props */
function Content({ answer, again, state, set }) {
  const [search, setSearch] = useState("");
  const [isWhole, setIsWhole] = useState(false);
  const rows = sorted(found(answer.rows, search), state.sort);
  const openAt = rows.findIndex((row) => keyOf(row) === state.open);
  const shown = isWhole || openAt >= FIRST_ROWS ? rows : rows.slice(0, FIRST_ROWS);
  const hasSearch = answer.rows.length > FIRST_ROWS || search !== "";
  return html`
    <${Reading} range=${answer.range} reading=${answer.reading} again=${again} />
    ${hasSearch && html`<label class="breakdown-search"><${Icon} name="search" /><input type="search" value=${search}
      placeholder=${`Search ${answer.rows.length} rows`} aria-label="Search the breakdown"
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setSearch(event.currentTarget.value)} /></label>`}
    ${rows.length > 0 && html`<${Table} answer=${answer} rows=${shown} state=${state} set=${set} />`}
    ${!rows.length && html`<p>${emptyWords(answer, search)}</p>`}
    ${shown.length < rows.length && html`<button type="button" class="button" onClick=${() => setIsWhole(true)}>Show all ${figure(rows.length)}</button>`}
    <${Gaps} answer=${answer} />
    ${answer.notes.map((note) => html`<p class="soft">${note}</p>`)}`;
}

/**
 * @param {Answer} answer
 * @param {string} search
 */
function emptyWords(answer, search) {
  if (search) return `No row contains “${search}”.`;
  if (answer.total.idle_cores === 0) return "No core is idle.";
  return "No idle cores are reported here.";
}

/** @param {{ answer: Answer }} props */
function Gaps({ answer }) {
  if (!answer.missing.length || answer.reading) return null;
  const known = answer.hours === null ? "the minutes with rollups" : `${answer.hours} of ${answer.of_hours} hours`;
  const gaps = answer.missing.map(([start, end]) => `${moment(start)} to ${moment(end)}`);
  const more = gaps.length > MAX_GAPS ? ` and ${gaps.length - MAX_GAPS} more gaps` : "";
  return html`<p class="breakdown-gaps"><${Icon} name="triangle-alert" />
    USD is of ${known}. Missing, not zero: ${list(gaps.slice(0, MAX_GAPS))}${more}.</p>`;
}

/** @param {Row} row */
function keyOf(row) {
  return `row:${row.key}`;
}

/** @param {{ answer: Answer, rows: Row[] } & Pick<SectionProps, "state" | "set">} props */
function Table({ answer, rows, state, set }) {
  const hasCluster = answer.group === "owner" || answer.group === "instance";
  const heads = [{ ...NAME, title: GROUP_NAMES[answer.group] }, ...(hasCluster ? [CLUSTER] : []), ...NUMBERS];
  const range = RANGES[answer.range].label;
  return html`<div class="table-wrap"><table class="table live breakdown-table" role="table">
    <thead role="rowgroup"><tr role="row">${heads.map((column) => html`<${Head} key=${column.key} column=${column} sort=${state.sort} set=${set} unit=${column.key === "usd" ? range : ""} />`)}</tr></thead>
    <tbody role="rowgroup">${rows.map((row) => html`<${TableRow} key=${row.key} row=${row} answer=${answer} columns=${heads.length} isOpen=${state.open === keyOf(row)} state=${state} set=${set} />`)}</tbody>
    <tfoot role="rowgroup"><${Total} answer=${answer} hasCluster=${hasCluster} /></tfoot>
  </table></div>`;
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

/** @param {{ row: Row, answer: Answer, columns: number, isOpen: boolean } & Pick<SectionProps, "state" | "set">} props */
function TableRow({ row, answer, columns, isOpen, state, set }) {
  const names = ["breakdown-row", isOpen && "is-open", row.cannot_wait && "is-marked"];
  const toggle = () => set({ open: isOpen ? "" : keyOf(row) });
  const hasCluster = answer.group === "owner" || answer.group === "instance";
  return html`<tr role="row" class=${names.filter(Boolean).join(" ")}>
      <th scope="row" role="rowheader"><div class="breakdown-subject"><button type="button" class="breakdown-name" aria-expanded=${isOpen} onClick=${toggle}>
        <${Icon} name=${isOpen ? "chevron-down" : "chevron-right"} /><span class=${row.is_bracket ? "soft" : ""}><${Name} text=${row.name} /></span></button>
        <${Remarks} row=${row} group=${answer.group} /></div></th>
      ${hasCluster && html`<td role="cell"><${Name} text=${row.cluster ?? "several"} /></td>`}
      <td role="cell" class="number" data-label="idle"><${Known} value=${row.idle_cores} words=${figure} /></td>
      <td role="cell" class="number"><${Share} row=${row} /></td>
      <td role="cell" class="number" data-before="idle for" title=${row.since_ms === null ? null : `Since ${moment(row.since_ms)}`}><${Known} value=${row.idle_minutes} words=${duration} /></td>
      <td role="cell" class="number" data-label="USD/h"><${Money} value=${row.usd_per_hour} unpriced=${row.unpriced_cores} /></td>
      <td role="cell" class="number" data-label=${`USD, ${RANGES[answer.range].label}`}><${Money} value=${row.usd} unpriced=${0} /></td>
    </tr>
    ${isOpen && html`<tr role="row" class="breakdown-open"><td role="cell" colspan=${columns}>
      <${OpenedRow} row=${row} group=${answer.group} state=${state} set=${set} /></td></tr>`}`;
}

/** @param {{ row: Row, group: string }} props */
function Remarks({ row, group }) {
  const place = group === "instance" ? [row.instance_type, row.owner] : [group === "owner" && row.team ? `team ${row.team}` : null];
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

/** @param {{ answer: Answer, hasCluster: boolean }} props */
function Total({ answer, hasCluster }) {
  const { total, range } = answer;
  return html`<tr role="row"><th scope="row" role="rowheader">All</th>${hasCluster && html`<td role="cell"></td>`}
    <td role="cell" class="number" data-label="idle"><${Known} value=${total.idle_cores} words=${figure} /></td>
    <td role="cell" class="number"><${Share} row=${total} /></td><td role="cell"></td>
    <td role="cell" class="number" data-label="USD/h"><${Money} value=${total.usd_per_hour} unpriced=${total.unpriced_cores} /></td>
    <td role="cell" class="number" data-label=${`USD, ${RANGES[range].label}`}><${Money} value=${total.usd} unpriced=${0} /></td></tr>`;
}

/** @param {{ value: number | null, words: (value: number | null) => string }} props */
function Known({ value, words }) {
  return value === null ? html`<${Unknown} />` : words(value);
}

function Unknown() {
  return html`<span class="soft" title="unknown"><span aria-hidden="true">–</span><span class="visually-hidden">unknown</span></span>`;
}
