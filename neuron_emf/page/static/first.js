/*
 * The first screen: status, three numbers, who holds idle cores.
 *
 * What is not known is grey and says so; old data are grey, too, with their time.
 */

import { element, fill, renew, write } from "./dom.js";
import { MINUTE_MS, clock, duration, figure } from "./figures.js";

const CARDS = [["idle", "cores"], ["cost", "usd_per_hour"], ["avoidable", "usd_per_hour"]];
const FIRST_OWNERS = 10;
const DAY_MS = 1440 * MINUTE_MS;
const byId = (id) => document.getElementById(id);

let all = false; // every owner is shown

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
  warn(page.cost.unpriced_cores > 0);
  showOwners(page);
}

/** The cost is amber where cores are in no amount. */
function warn(isUnpriced) {
  byId("cost").parentElement.classList.toggle("unpriced", isUnpriced);
}

function showOwners(page) {
  renew(byId("owners"), [page.owners, page.owners_told, page.data_to_ms, all], () => ownersOf(page));
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
  const short = all ? page.owners : page.owners.slice(0, FIRST_OWNERS);
  const parts = [];
  if (page.owners.length) {
    const heads = ["Owner", "Cluster", "Cores", "Idle for", "Since", "USD/h"];
    parts.push(element("table", { class: "owners", role: "table" },
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads.map((words, at) =>
        element("th", { scope: "col", role: "columnheader", class: at === 0 || at === 1 ? null : "figure" }, words)))),
      element("tbody", { role: "rowgroup" }, ...short.map((row) => ownerRow(row, page)))));
  }
  if (!page.owners_told) parts.push(element("p", { class: "unknown" }, "Who holds idle cores is not told: the stack is older than this page."));
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

function ownerRow(row, page) {
  const { words } = row;
  const team = row.team ? [" ", element("span", { class: "team" }, `(${row.team})`)] : [];
  const owner = row.is_nobody ? element("span", { class: "bracket" }, row.name) : element("bdi", {}, row.name);
  const uses = words.uses ? [" ", element("span", { class: "team" }, words.uses)] : [];
  const cell = (words, kind, before) => element("td", { role: "cell", class: kind, "data-before": before }, words);
  return element("tr", { role: "row" },
    element("th", { scope: "row", role: "rowheader" }, owner, ...team, ...uses),
    element("td", { role: "cell" }, element("bdi", {}, row.cluster)),
    cell(words.cores, "figure", "cores "),
    cell(words.idle, "figure", "idle "),
    cell(row.since_ms === null ? "not told" : since(row.since_ms, page.data_to_ms), "figure", "since "),
    cell(words.usd, "figure money", null));
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
