/*
 * Read the page's figures every few seconds and show them, without moving focus or scroll.
 */

import { Cores } from "./cores.js";
import { element, fill, printable, write } from "./dom.js";
import { MINUTE_MS, clockWithSeconds, duration } from "./figures.js";
import { Now } from "./now.js";
import { Sections } from "./sections.js";
import { choose, chosen, onColours } from "./theme.js";

const EVERY_MS = 5000;
const PATIENCE_MS = 20_000;
const STALE_MS = 30_000;

const byId = (id) => document.getElementById(id);
const parts = Object.fromEntries(
  ["title", "place", "cluster", "range", "theme", "pause", "freshness", "trouble", "limits", "heard", "jumps"].map((id) => [id, byId(id)]),
);
parts.list = byId("limits-list");

let asked = new URLSearchParams(location.search).get("cluster");
let page = null;
let cores = null;
let readAt = null; // of this machine's clock, when the last answer came
let paused = false;
let reading = 0; // number of the newest reading; an older one comes too late

const say = (text) => write(parts.heard, text);
const heat = new Cores();
const now = new Now(byId("now"));
const sections = new Sections(byId("sections"), heat.root, say);

async function read() {
  reading += 1;
  const mine = reading;
  const query = asked ? `?${new URLSearchParams({ cluster: asked })}` : "";
  let answers = null;
  try {
    answers = await Promise.all([fetched(`/page.json${query}`), fetched(`/cores.json${query}`)]);
  } catch (error) {
    if (mine === reading) complain(error);
  }
  if (answers && mine === reading) {
    const first = readAt === null;
    [page, cores] = answers;
    readAt = Date.now();
    parts.trouble.hidden = true;
    show();
    if (first && location.hash) byId(location.hash.slice(1))?.scrollIntoView();
  }
  tick();
}

async function fetched(address) {
  const answer = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Refusal(told.error ?? `expected figures from ${address.split("?")[0]}, found HTTP ${answer.status}`, answer.status);
  }
  return answer.json();
}

class Refusal extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

/** Say what went wrong; a cluster that is not there is not asked for again. */
function complain(error) {
  const what = error instanceof Refusal
    ? `The rehearsal says: ${error.message}.`
    : "The rehearsal does not answer: is `make demo` still running?";
  if (error instanceof Refusal && error.status === 404) asked = page?.cluster ?? null;
  const old = page ? ` What is shown is of ${clockWithSeconds(page.now_ms)} UTC.` : "";
  write(parts.trouble, what + old);
  parts.trouble.hidden = false;
}

function show() {
  const range = rangeOf();
  const context = { start: range.start, end: range.end, clusters: page.clusters };
  document.title = `${ringingMark()}${printable(page.cluster ?? page.title)} · ${printable(page.title)}`;
  write(parts.title, page.title);
  write(parts.place, `stack ${page.stack_name} in ${page.region}, all times UTC`);
  showClusters();
  now.update(page);
  sections.update(page, context);
  heat.update(cores, range);
  showLimits();
  showJumps();
  document.documentElement.dataset.ready = "true";
}

/** What is shown of the dashboard's time: the last minutes, or from the first minute with a value on. */
function rangeOf() {
  const minutes = Number(parts.range.value);
  const series = page.widgets.flatMap((one) => one.series ?? []).filter((one) => one.points.length);
  const firsts = series.filter((one) => one.period_s * 1000 <= MINUTE_MS).map((one) => one.points[0][0]);
  const start = minutes ? page.end_ms - minutes * MINUTE_MS : Math.min(...firsts) - MINUTE_MS;
  return { start: Number.isFinite(start) ? Math.max(page.start_ms, start) : page.start_ms, end: page.end_ms };
}

function ringingMark() {
  return page.widgets.some((one) => one.type === "alarm" && one.alarms.some((alarm) => alarm.state === "ALARM")) ? "(!) " : "";
}

function showClusters() {
  const key = JSON.stringify(page.clusters);
  if (parts.cluster.dataset.made !== key) {
    parts.cluster.dataset.made = key;
    fill(parts.cluster, page.clusters.map((name) => {
      const option = element("option", {}, name);
      option.value = name; // as it is, not as it is shown
      return option;
    }));
  }
  if (document.activeElement !== parts.cluster || asked === page.cluster) parts.cluster.value = page.cluster ?? "";
}

function showLimits() {
  const key = JSON.stringify(page.limits);
  parts.limits.hidden = !page.limits.length;
  if (parts.list.dataset.made === key) return;
  parts.list.dataset.made = key;
  fill(parts.list, page.limits.map((one) => element("li", {}, one)));
}

function showJumps() {
  const found = [["now", "Now"], ...sections.jumps()];
  const own = found.findIndex(([, words]) => page.cluster && words.endsWith(` ${printable(page.cluster)}`));
  found.splice(own < 0 ? found.length : own + 1, 0, ["cores", "Its cores"]);
  if (page.limits.length) found.push(["limits", "What is not as on AWS"]);
  const key = JSON.stringify(found);
  if (parts.jumps.dataset.made === key) return;
  parts.jumps.dataset.made = key;
  fill(parts.jumps.firstElementChild, found.map(([id, words]) => element("li", {}, element("a", { href: `#${id}` }, words))));
}

/** How old what is shown is, each second. */
function tick() {
  if (readAt === null) return;
  const age = Date.now() - readAt;
  const words = age < MINUTE_MS ? `${Math.floor(age / 1000)} s` : duration(Math.floor(age / MINUTE_MS));
  write(parts.freshness, `Updated ${clockWithSeconds(page.now_ms)} UTC, ${words} ago${paused ? ", paused" : ""}`);
  parts.freshness.classList.toggle("stale", age > STALE_MS);
}

function go(cluster) {
  asked = cluster;
  history.replaceState(null, "", `?${new URLSearchParams({ cluster })}`);
  return read();
}

parts.cluster.addEventListener("change", () => go(parts.cluster.value));
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-cluster]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  await go(link.dataset.cluster);
  heat.root.scrollIntoView();
});
parts.range.addEventListener("change", () => page && show());
parts.theme.value = chosen();
parts.theme.addEventListener("change", () => choose(parts.theme.value));
parts.pause.addEventListener("click", () => {
  paused = !paused;
  parts.pause.setAttribute("aria-pressed", String(paused));
  if (!paused) read();
  tick();
});
byId("controls").addEventListener("submit", (event) => event.preventDefault());
onColours(() => sections.repaint());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !paused) read();
});

setInterval(tick, 1000);
setInterval(() => {
  if (!paused && !document.hidden) read();
}, EVERY_MS);
read();
