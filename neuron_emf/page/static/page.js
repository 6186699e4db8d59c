/*
 * Ask for the page's figures and show them: the first screen first, each part on its own.
 *
 * What is chosen stands in the address. A changed cluster empties everything at once, and an
 * answer about another one comes too late.
 */

import { forgetAlarms, pipelineWords, showAlarms } from "./alarms.js";
import { Cores } from "./cores.js";
import { element, fill, renew, withCopies, write } from "./dom.js";
import { clock, clockWithSeconds, counted, figure, megabytes } from "./figures.js";
import { forget, onOwner, show, showAge, showWeek } from "./first.js";
import { showGraphs } from "./graphs.js";
import { showQueries } from "./queries.js";
import { addressed, ask, busy } from "./source.js";
import { choose, chosen } from "./theme.js";

const EVERY_MS = 10_000;
const OF_CLOSE = [["MinutesClosed", "Minutes closed in it"], ["MinutesWaiting", "Minutes waiting"], ["RecordsRefused", "Records refused"], ["SecondsBehind", "Seconds behind"]];
const RANGES = ["15", "60", "180", "720"];
const byId = (id) => document.getElementById(id);
const part = (id) => byId(id).querySelector(".content");
const address = new URLSearchParams(location.search);

let cluster = address.get("cluster") ?? "";
let minutes = RANGES.includes(address.get("minutes")) ? address.get("minutes") : "60";
let paused = false;
let age = 0; // of what is shown: an answer to an older question comes too late
let readingAge = -1; // what is being read, so that a slow answer is not asked for twice
let page = null;
let offsetMs = 0; // of the server's clock
let alarms = null;
let messages = null;
let pricedFor = null;
const cores = new Cores(part("cores"), address.get("find") ?? "", remember);

/** Do one part: its words while it works, its trouble where it fails, nothing if it comes too late. */
async function fetched(path, values, target, words, take, fail, method = "GET") {
  const mine = age;
  const done = target ? busy(target, words) : () => {};
  const [answer, refusal] = await ask(path, values, method).then((found) => [found, null], (error) => [null, error]);
  done();
  if (mine !== age) return false;
  if (refusal) fail(refusal.message);
  else take(answer);
  return !refusal;
}

async function read() {
  if (readingAge === age) return;
  const mine = readingAge = age;
  const others = [readAlarms(), readMessages()];
  const known = await fetched("/now.json", { cluster }, byId("busy"), "Reading the rollups of the last 15 minutes", (answer) => {
    page = answer;
    offsetMs = answer.now_ms - Date.now();
    byId("trouble").hidden = true;
    showPage();
  }, complain);
  if (known && mine === age) others.push(readCores(), readGraphs());
  await Promise.allSettled(others);
  if (mine !== age) return;
  readingAge = -1;
  if (known) document.documentElement.dataset.ready = "true";
}

function readAlarms() {
  return fetched("/alarms.json", {}, null, "", (answer) => {
    alarms = answer.alarms;
    showAlarmsNow();
  }, (trouble) => {
    alarms = null;
    forgetAlarms(byId("alarms"), `Not known: ${trouble}`);
  });
}

function readMessages() {
  return fetched("/messages.json", {}, null, "", (answer) => {
    messages = answer.messages;
    if (alarms) showAlarmsNow();
    showMessages();
  }, (trouble) => fill(part("messages"), element("p", { class: "unknown" }, trouble)));
}

function readCores() {
  if (!byId("cores").open || cores.has(page.minute_ms)) return null;
  const note = progressOf("cores");
  return fetched("/cores.json", { cluster }, note, "Reading a minute of lines", (answer) => cores.update(answer), (trouble) => cores.forget(trouble));
}

function readGraphs() {
  if (!byId("graphs").open) return null;
  const [note, wanted] = [progressOf("graphs"), minutes];
  return fetched("/history.json", { cluster, minutes }, note, "Reading older rollups", (answer) => {
    if (wanted !== minutes) return;
    part("graphs").classList.add("graphs");
    showGraphs(part("graphs"), answer);
  }, (trouble) => fill(part("graphs"), element("p", { class: "unknown" }, trouble)));
}

function readWeek() {
  return fetched("/week.json", { cluster }, byId("week-note"), "Reading the ledger", (answer) => {
    showWeek(answer, page);
    write(byId("week-note"), `Idle cores of the last 7 days: ${answer.words}, of ${answer.hours} of ${answer.of_hours} hours that are settled.`);
    byId("week").hidden = true;
  }, (trouble) => write(byId("week-note"), trouble), "POST");
}

function readQueries() {
  if (!byId("queries").open || pricedFor === minutes) return;
  pricedFor = minutes;
  const wanted = minutes;
  fill(part("queries"), element("p", { class: "unknown" }, "Prices not known yet"));
  fetched("/queries.json", { minutes }, progressOf("queries"), "Counting a minute of lines", (answer) => {
    if (wanted === minutes) showQueries(part("queries"), answer, minutes);
  }, (trouble) => {
    pricedFor = null;
    fill(part("queries"), element("p", { class: "unknown" }, trouble));
  });
}

/** Where a part says that it works, behind its heading. */
function progressOf(id) {
  const summary = byId(id).firstElementChild;
  if (!summary.querySelector(".progress")) summary.append(element("span", { class: "note progress", role: "status" }));
  return summary.querySelector(".progress");
}

function complain(trouble) {
  const old = page ? ` What is shown is of ${clockWithSeconds(page.now_ms)} UTC.` : "";
  write(byId("trouble"), `${trouble}${old}`);
  byId("trouble").hidden = false;
}

function showPage() {
  write(byId("place"), `${page.region ?? "no region"}, stack ${page.stack_name}, all times UTC${page.notes.map((one) => `. ${one}`).join("")}`);
  showClusters();
  show(page, Date.now() + offsetMs);
  showPipeline();
  byId("differences").hidden = !page.differences.length;
  fill(part("differences"), page.differences.map((one) => element("li", {}, one)));
}

function showAlarmsNow() {
  showAlarms(byId("alarms"), alarms, messages, cluster);
  showPipeline();
}

function showMessages() {
  const shown = messages.filter((one) => !cluster || one.cluster === null || one.cluster === cluster);
  renew(part("messages"), shown, () => (shown.length
    ? shown.map((one) => element("details", { class: "message" }, element("summary", {}, `${clock(one.at_ms)} `, one.subject), withCopies(one.text)))
    : element("p", {}, "No message was sent in the last day.")));
}

function showPipeline() {
  if (!page) return;
  const facts = page.close
    ? [["Last run of close", `${clockWithSeconds(page.close.at_ms)} UTC`],
      ...OF_CLOSE.filter(([name]) => name in page.close).map(([name, words]) => [words, figure(page.close[name])])]
    : [["Last run of close", "not reported in the last 15 minutes"]];
  for (const [words, titles] of alarms ? pipelineWords(alarms) : []) facts.push([`Alarms ${words}`, `${titles.length}: ${titles.join(", ")}`]);
  facts.push(["Read by this page", `${counted(page.traffic.calls, "call")}, ${megabytes(page.traffic.bytes)}`]);
  fill(part("pipeline"), element("dl", { class: "facts" }, ...facts.flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)])));
}

function showClusters() {
  const select = byId("cluster");
  const known = page.clusters.map((one) => one.cluster);
  const names = known.includes(cluster) || !cluster ? known : [cluster, ...known];
  const key = JSON.stringify(names);
  if (select.dataset.made === key) return;
  select.dataset.made = key;
  fill(select, [["", "All"], ...names.map((name) => [name, name])].map(([value, words]) => {
    const option = element("option", {}, words);
    option.value = value; // as it is, not as it is shown
    return option;
  }));
  select.value = cluster;
}

/** Nothing of another cluster stays. */
function empty() {
  age += 1;
  page = null;
  byId("trouble").hidden = true;
  delete document.documentElement.dataset.ready;
  forget();
  const hadWeek = byId("week").hidden;
  showWeek(null);
  if (hadWeek) readWeek();
  if (alarms) showAlarmsNow();
  if (messages) showMessages();
  cores.forget();
  part("graphs").classList.remove("graphs");
  fill(part("graphs"), element("p", { class: "unknown" }, "Not known yet"));
  fill(part("pipeline"), element("p", { class: "unknown" }, "Not known yet"));
}

/** What is chosen, in the address; the token stays where it is. */
function remember() {
  const values = Object.entries({ cluster, minutes, find: cores.words }).filter(([, value]) => value);
  history.replaceState(null, "", `?${new URLSearchParams(values)}${location.hash}`);
}

for (const one of document.querySelectorAll(".part")) {
  if (one.dataset.wide && matchMedia("(min-width: 45rem)").matches) one.open = true;
  one.addEventListener("toggle", () => {
    if (!one.open || !page) return;
    ({ cores: readCores, graphs: readGraphs, queries: readQueries })[one.id]?.();
  });
}
/** Show another cluster, and nothing of the one before. */
function showCluster(name) {
  if (name === cluster) return;
  cluster = byId("cluster").value = name;
  remember();
  empty();
  read();
}

/** Open a part or go to a heading, and put the cursor there. */
function leadTo(id) {
  const target = byId(id);
  if (target.matches("details")) target.open = true;
  (target.querySelector("summary") ?? target).focus({ preventScroll: true });
  target.scrollIntoView();
}

byId("cluster").addEventListener("change", () => showCluster(byId("cluster").value));
byId("status").addEventListener("click", (event) => {
  const id = event.target.closest("button")?.dataset.leads;
  if (id) leadTo(id);
});
onOwner((name, of) => {
  showCluster(of);
  cores.find(name);
  remember();
  leadTo("cores");
});
addEventListener("hashchange", () => cores.lookAt(addressed()));
byId("week").addEventListener("click", () => readWeek());
byId("minutes").value = minutes;
byId("minutes").addEventListener("change", () => {
  minutes = byId("minutes").value;
  remember();
  fill(part("graphs"), element("p", { class: "unknown" }, "Not known yet"));
  if (page) readGraphs();
  readQueries();
});
byId("theme").value = chosen();
byId("theme").addEventListener("change", () => choose(byId("theme").value));
byId("pause").addEventListener("click", () => {
  paused = !paused;
  write(byId("pause"), paused ? "Resume" : "Pause");
  if (!paused) read();
});
byId("controls").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !paused) read();
});

setInterval(() => page && showAge(page, Date.now() + offsetMs), 1000);
setInterval(() => {
  if (!paused && !document.hidden) read();
}, EVERY_MS);
empty();
if (addressed()) byId("cores").open = true;
forgetAlarms(byId("alarms"));
fill(part("messages"), element("p", { class: "unknown" }, "Not known yet"));
read();
