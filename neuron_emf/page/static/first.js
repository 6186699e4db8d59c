/*
 * The first screen: status, three numbers, who owns idle cores.
 *
 * What is not known is grey and says so; old data are grey, too, with their time.
 */

import { element, fill, renew, write } from "./dom.js";
import { MINUTE_MS, clock, duration, figure } from "./figures.js";

const CARDS = [["idle", "cores"], ["cost", "usd_per_hour"], ["avoidable", "usd_per_hour"]];
const FIRST_OWNERS = 10;
const DAY_MS = 1440 * MINUTE_MS;
const byId = (id) => document.getElementById(id);

const HEADS = [
  ["Owner", null, (row) => row.name.toLowerCase()],
  ["Cluster", null, (row) => row.cluster],
  ["Cores", "figure", (row) => row.cores],
  ["Idle for", "figure", (row) => row.idle_minutes],
  ["Since", "figure", (row) => row.since_ms],
  ["USD/h", "figure", (row) => row.usd_per_hour],
];

// Members of the last seven days, and how a phone shows them: words before and after the amount.
const WEEK = [
  ["7 days, USD", "usd", "7 days ", " USD"],
  ["USD per million executions", "usd_per_million_executions", "", " USD per million executions"],
];

let all = false; // every owner is shown
let sorted = null; // by which head, and whether upwards; null as the answer has them: the dearest first
let week = null; // what the last seven days cost by owner; null until somebody asks
let lead = () => {}; // what a press on an owner does

/** Show the last seven days beside now, or no longer. */
export function showWeek(found, page) {
  week = found && { ...found, rows: new Map(found.owners.map((row) => [keyOf(row), row])) };
  if (page) showOwners(page);
}

function keyOf(row) {
  return JSON.stringify([row.owner, row.cluster]);
}

/** An amount of the last seven days; null if it is unknown, or the owner has no settled hour. */
function weekAmount(row, member) {
  return week.rows.get(keyOf(row))?.[member] ?? null;
}

/** The heads of the table. */
function heads() {
  return week ? [...HEADS, ...WEEK.map(([words, member]) => [words, "figure", (row) => weekAmount(row, member)])] : HEADS;
}

/** A press on an owner's name calls *leads* with the owner's name and cluster. */
export function onOwner(leads) {
  lead = leads;
}

/** Forget everything: grey, until it is known again. */
export function forget() {
  for (const [id, words] of [["status-data", "Data"], ["status-coverage", "Coverage"], ["status-silent", "Silent instances"]]) {
    say(id, `${words} not known yet`, "unknown");
  }
  for (const [id] of CARDS) card(id, { words: "Not known yet", notes: [] }, true);
  warn(false);
  fill(byId("owners"), element("p", { class: "unknown" }, "Not known yet"));
  all = false;
}

/** Show now in the words of the answer; *now* is the server's time, which goes on between two answers. */
export function show(page, now) {
  showAge(page, now);
  const { coverage_percent: coverage, silent, words } = page;
  say("status-coverage", words.coverage, coverage === null ? "unknown" : coverage < 95 ? "bad" : "");
  say("status-silent", words.silent, silent === null ? "unknown" : silent ? "bad" : "");
  const old = page.is_old ? [`of ${clock(page.data_to_ms)} UTC, not of now`] : [];
  for (const [id, number] of CARDS) {
    card(id, { words: page[id].words, notes: [...old, ...page[id].notes] }, page.is_old || page[id][number] === null);
  }
  warn(page.cost.is_incomplete);
  showOwners(page);
}

/** The cost is amber if idle cores are in no amount. */
function warn(isUnpriced) {
  byId("cost").parentElement.classList.toggle("unpriced", isUnpriced);
}

function showOwners(page) {
  renew(byId("owners"), [page.owners, page.owners_known, page.data_to_ms, all, sorted, week?.hours], () => ownersOf(page));
}

/** How old the data are, each second. */
export function showAge(page, now) {
  if (page.data_to_ms === null) {
    say("status-data", page.words.data, "bad");
    return;
  }
  const minutes = Math.max(0, Math.floor((now - page.data_to_ms) / MINUTE_MS));
  say("status-data", `Data to ${clock(page.data_to_ms)} UTC, ${duration(minutes)} old`, page.is_old || minutes > 10 ? "bad" : "");
}

function ownersOf(page) {
  const rows = inOrder(page.owners);
  const short = all ? rows : rows.slice(0, FIRST_OWNERS);
  const parts = [];
  if (page.owners.length) {
    parts.push(element("table", { class: "owners", role: "table" },
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads().map((_, at) => headOf(at, page)))),
      element("tbody", { role: "rowgroup" }, ...short.map((row) => ownerRow(row, page)))));
  }
  if (!page.owners_known) parts.push(element("p", { class: "unknown" }, "The owners of idle cores are unknown: the stack is older than this page."));
  else if (page.minute_ms === null) parts.push(element("p", { class: "unknown" }, "Not known"));
  else if (!page.owners.length) parts.push(element("p", {}, "No core is idle."));
  if (short.length < page.owners.length) {
    const more = element("button", { type: "button", class: "more" }, `Show all ${figure(page.owners.length)}`);
    more.addEventListener("click", () => {
      all = true;
      showOwners(page);
    });
    parts.push(more);
  }
  return parts;
}

/** The owners in the order that is chosen; who has no value comes last. */
function inOrder(owners) {
  if (!sorted) return owners;
  const [, , value] = heads()[sorted.at] ?? HEADS[0];
  const way = sorted.up ? 1 : -1;
  return [...owners].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    return a < b ? -way : a > b ? way : 0;
  });
}

/** A head that sorts: numbers from the greatest, texts from A; a second press turns it round. */
function headOf(at, page) {
  const [words, kind] = heads()[at];
  const way = sorted?.at === at ? (sorted.up ? "ascending" : "descending") : null;
  const button = element("button", { type: "button", class: "sort" }, words, element("span", { "aria-hidden": "true" }, way ? (sorted.up ? " ▲" : " ▼") : ""));
  button.addEventListener("click", () => {
    sorted = { at, up: sorted?.at === at ? !sorted.up : kind === null };
    showOwners(page);
  });
  return element("th", { scope: "col", role: "columnheader", class: kind, "aria-sort": way }, button);
}

function ownerRow(row, page) {
  const { words } = row;
  const team = row.team ? [" ", element("span", { class: "team" }, `(${row.team})`)] : [];
  const owner = element("button", { type: "button", class: "lead", title: "Its cores, alarms and graphs" },
    row.is_nobody ? element("span", { class: "bracket" }, row.name) : element("bdi", {}, row.name));
  owner.addEventListener("click", () => lead(row.is_nobody ? "" : row.name, row.cluster));
  const uses = words.uses ? [" ", element("span", { class: "team" }, words.uses)] : [];
  const cell = (words, kind, before, after = null) => element("td", { role: "cell", class: kind, "data-before": before, "data-after": after }, words);
  return element("tr", { role: "row" },
    element("th", { scope: "row", role: "rowheader" }, owner, ...team, ...uses),
    element("td", { role: "cell" }, element("bdi", {}, row.cluster)),
    cell(words.cores, "figure", null, ` ${row.cores === 1 ? "core" : "cores"}`),
    cell(words.idle, "figure", "idle "),
    cell(row.since_ms === null ? "not reported" : since(row.since_ms, page.data_to_ms), "figure", "since "),
    cell(words.usd, "figure money", null, row.usd_per_hour === null ? null : " USD/h"),
    ...(week ? WEEK : []).map(([, member, before, after]) => {
      const usd = weekAmount(row, member);
      return cell(usd === null ? "-" : usd.toFixed(2), "figure", before, after);
    }));
}

/** 07:59, or with its day where that is another one. */
function since(ms, newest) {
  return newest - ms < DAY_MS ? clock(ms) : `${new Date(ms).toISOString().slice(5, 10)} ${clock(ms)}`;
}

function card(id, { words, notes }, isGrey) {
  const number = byId(id);
  write(number, words);
  number.className = isGrey ? "number unknown" : "number";
  fill(byId(`${id}-notes`), notes.map((note) => element("li", {}, note)));
}

/** A part of the status line. */
export function say(id, words, kind, sign = null) {
  const target = byId(id);
  const shown = sign ? `${sign}${words}` : words;
  if (target.textContent !== shown || target.className !== kind) {
    target.className = kind;
    fill(target, sign ? element("span", { class: "sign", "aria-hidden": "true" }, sign) : null, words);
  }
}
