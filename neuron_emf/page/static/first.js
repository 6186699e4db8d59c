/*
 * The first screen: status, three numbers, who holds idle cores.
 *
 * What is not known is grey and says so; old data are grey, too, with their time.
 */

import { element, fill, renew, write } from "./dom.js";
import { MINUTE_MS, clock, counted, dollars, duration, figure, wholePercent } from "./figures.js";

const BRACKETS = { "[unallocated]": "Unallocated", "[others]": "Others", "[unnamed]": "Unnamed process", "[not told]": "Not told" };
const FIRST_OWNERS = 10;
const DAY_MS = 1440 * MINUTE_MS;
const byId = (id) => document.getElementById(id);

let all = false; // every owner is shown

/** Forget everything: grey, until it is known again. */
export function forget() {
  for (const [id, words] of [["status-data", "Data"], ["status-coverage", "Coverage"], ["status-silent", "Silent instances"]]) {
    say(id, `${words} not known yet`, "unknown");
  }
  for (const id of ["idle", "cost", "avoidable"]) card(id, null, "Not known yet", []);
  fill(byId("owners"), element("p", { class: "unknown" }, "Not known yet"));
  all = false;
}

/** Show an overview; *now* is the server's time, which goes on between two answers. */
export function show(page, now) {
  showAge(page, now);
  const isNone = page.minute_ms === null;
  say("status-coverage", page.coverage_percent === null ? "Coverage unknown" : `Coverage ${wholePercent(page.coverage_percent)}`,
    page.coverage_percent === null ? "unknown" : page.coverage_percent < 95 ? "bad" : "");
  say("status-silent", page.silent === null ? "Silent instances unknown" : `${figure(page.silent)} of ${counted(page.silent + (page.instances ?? 0), "instance")} silent`,
    page.silent === null ? "unknown" : page.silent ? "bad" : "");
  const none = isNone ? "No rollup in the last 15 minutes" : "Not told";
  const old = page.is_old ? [`of ${clock(page.data_to_ms)} UTC, not of now`] : [];
  showIdle(page, none, old);
  showCost(page, none, old);
  showAvoidable(page, none, old);
  showOwners(page, isNone);
}

/** How old the data are, each second. */
export function showAge(page, now) {
  if (page.data_to_ms === null) {
    say("status-data", "No rollup in the last 15 minutes", "bad");
    return;
  }
  const minutes = Math.max(0, Math.floor((now - page.data_to_ms) / MINUTE_MS));
  say("status-data", `Data to ${clock(page.data_to_ms)} UTC, ${duration(minutes)} old`, page.is_old || minutes > 10 ? "bad" : "");
}

function showIdle({ idle, is_old, idle_after_minutes }, none, old) {
  const share = idle.percent === null ? "" : ` (${wholePercent(idle.percent)})`;
  const words = idle.cores === null ? null : `${figure(idle.cores)} of ${figure(idle.known_cores ?? 0)}${share}`;
  const split = idle.held_cores === null ? "Held or unheld: not told" : `${figure(idle.held_cores)} held, ${figure(idle.unheld_cores)} unheld`;
  card("idle", words, none, [
    ...old,
    words && split,
    idle.unknown_cores ? `${counted(idle.unknown_cores, "core")} unknown, not counted` : null,
  ], is_old);
}

function showCost({ cost, is_old }, none, old) {
  const words = cost.usd_per_hour === null ? null : `${dollars(cost.usd_per_hour)} USD/h`;
  const parts = [["shared", cost.shared_usd_per_hour], ["sunk", cost.sunk_usd_per_hour]].filter(([, usd]) => usd);
  const types = cost.unpriced_types.length ? ` (${cost.unpriced_types.join(", ")})` : "";
  card("cost", words, none, [
    ...old,
    cost.basis || null,
    words && parts.length ? `of which ${parts.map(([name, usd]) => `${dollars(usd)} ${name}`).join(", ")}` : null,
    cost.unpriced_cores ? `${counted(cost.unpriced_cores, "core")} ${cost.unpriced_cores === 1 ? "has" : "have"} no price${types}` : null,
  ], is_old);
}

function showAvoidable({ avoidable, is_old }, none, old) {
  const words = avoidable.usd_per_hour === null ? null : `${dollars(avoidable.usd_per_hour)} USD/h`;
  card("avoidable", words, none, [
    ...old,
    words && avoidable.instances !== null ? counted(avoidable.instances, "wholly idle instance") : null,
    words && avoidable.held_usd_per_hour !== null ? `${dollars(avoidable.held_usd_per_hour)} held, ${dollars(avoidable.unheld_usd_per_hour)} unheld` : null,
  ], is_old);
}

function showOwners(page, isNone) {
  renew(byId("owners"), [page.owners, page.owners_told, page.data_to_ms, all], () => ownersOf(page, isNone));
}

function ownersOf(page, isNone) {
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
  else if (isNone) parts.push(element("p", { class: "unknown" }, "Not known"));
  else if (!page.owners.length) parts.push(element("p", {}, "No core is idle."));
  if (short.length < page.owners.length) {
    const more = element("button", { type: "button", class: "more" }, `Show all ${figure(page.owners.length)}`);
    more.addEventListener("click", () => {
      all = true;
      showOwners(page, isNone);
    });
    parts.push(more);
  }
  return parts;
}

function ownerRow(row, page) {
  const bracket = BRACKETS[row.owner];
  const team = row.team ? [" ", element("span", { class: "team" }, `(${row.team})`)] : [];
  const owner = bracket ? element("span", { class: "bracket" }, bracket) : element("bdi", {}, row.owner || "Unnamed process");
  const uses = row.uses ? [" ", element("span", { class: "team" }, row.uses)] : [];
  const money = row.usd_per_hour === null ? "no price" : `${dollars(row.usd_per_hour)}${row.unpriced_cores ? " +?" : ""}`;
  const cell = (words, kind, before) => element("td", { role: "cell", class: kind, "data-before": before }, words);
  return element("tr", { role: "row" },
    element("th", { scope: "row", role: "rowheader" }, owner, ...team, ...uses),
    element("td", { role: "cell" }, element("bdi", {}, row.cluster)),
    cell(figure(row.cores), "figure", "cores "),
    cell(row.idle_minutes === null ? "not told" : duration(row.idle_minutes), "figure", "idle "),
    cell(row.since_ms === null ? "not told" : since(row.since_ms, page.data_to_ms), "figure", "since "),
    cell(money, "figure money", null));
}

/** 07:59, or with its day where that is another one. */
function since(ms, newest) {
  return newest - ms < DAY_MS ? clock(ms) : `${new Date(ms).toISOString().slice(5, 10)} ${clock(ms)}`;
}

function card(id, words, none, notes, isOld = false) {
  const number = byId(id);
  write(number, words ?? none);
  number.className = words === null || isOld ? "number unknown" : "number";
  fill(byId(`${id}-notes`), notes.filter(Boolean).map((note) => element("li", {}, note)));
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
