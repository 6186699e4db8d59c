/*
 * Alarm widgets, and what rings now at the top of the page.
 *
 * A state is a word and a shape; its colour only repeats them.
 */

import { drawn, element, fill, write } from "./dom.js";
import { counted } from "./figures.js";

const WORST_FIRST = ["ALARM", "INSUFFICIENT_DATA", "OK", "not evaluated"];
const OPEN = new Set(["ALARM", "INSUFFICIENT_DATA"]);
const KIND = { ALARM: "alarm", INSUFFICIENT_DATA: "insufficient", OK: "ok", "not evaluated": "none" };

/** One line for each cluster of an alarm, or one for an alarm without clusters. */
export function linesOf(alarms) {
  return alarms.flatMap((alarm) =>
    alarm.contributors.length
      ? alarm.contributors.map((one) => ({ ...one, subject: alarm.subject, name: alarm.name }))
      : [{ subject: alarm.subject, name: alarm.name, cluster: null, state: alarm.state, reason: alarm.reason }],
  );
}

/** The lines of all alarms of a page, each alarm once. */
export function allLines(widgets) {
  const alarms = new Map();
  for (const widget of widgets) {
    if (widget.type === "alarm") widget.alarms.forEach((alarm) => alarms.set(alarm.name, alarm));
  }
  return linesOf([...alarms.values()]);
}

/** A state as shape and word. */
export function badge(state) {
  const kind = KIND[state] ?? "none";
  const shape = {
    alarm: [drawn("path", { d: "M8 1 15.5 15H.5Z" }), drawn("path", { class: "mark", d: "M8 6v4.5M8 12v1.4" })],
    insufficient: [drawn("path", { d: "M8 .8 15.2 8 8 15.2.8 8Z" }), drawn("path", { class: "mark", d: "M5 8h1.4M7.4 8h1.3M9.8 8h1.3" })],
    ok: [drawn("circle", { cx: 8, cy: 8, r: 7 }), drawn("path", { class: "mark", d: "M4.5 8.3 7 10.8l4.6-5" })],
    none: [drawn("circle", { class: "hollow", cx: 8, cy: 8, r: 6 })],
  }[kind];
  return element(
    "span",
    { class: `badge ${kind}` },
    drawn("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, ...shape),
    state.replaceAll("_", " "),
  );
}

/** A widget's body that stays, with an update. */
export function alarmBody() {
  const body = element("div", { class: "scrolled", tabindex: 0, role: "group" });
  const groups = new Map(
    WORST_FIRST.map((state) => {
      const list = element("ul", { class: "alarms" });
      const count = element("span");
      const group = element("details", { open: OPEN.has(state) }, element("summary", {}, badge(state), " ", count), list);
      return [state, { group, list, count }];
    }),
  );
  body.append(...[...groups.values()].map((one) => one.group));
  return {
    body,
    update(widget) {
      body.setAttribute("aria-label", widget.title);
      const lines = linesOf(widget.alarms);
      for (const [state, { group, list, count }] of groups) {
        const found = lines.filter((line) => line.state === state);
        group.hidden = !found.length;
        write(count, String(found.length));
        fill(list, ...byReason(found).map(rowOf));
      }
    },
  };
}

/** What rings, for the top of the page. */
export function ringing(lines) {
  const rings = lines.filter((line) => line.state === "ALARM");
  return rings.map((line) => element("li", {}, badge("ALARM"), " ", ...sentence(line)));
}

/** One sentence on all that does not ring. */
export function quiet(lines) {
  return WORST_FIRST.slice(1)
    .map((state) => [state, lines.filter((line) => line.state === state).length])
    .filter(([, number]) => number)
    .map(([state, number]) => `${number} ${state.replaceAll("_", " ")}`)
    .join(", ");
}

/** A headline for all of them. */
export function headline(lines) {
  const number = lines.filter((line) => line.state === "ALARM").length;
  return number ? `${counted(number, "alarm")} ${number === 1 ? "rings" : "ring"}` : "No alarm rings";
}

function sentence(line) {
  const where = line.cluster === null ? [] : [" in ", clusterLink(line.cluster)];
  const why = line.reason ? [`: ${line.reason}.`] : ["."];
  const what = line.subject ? [element("span", { class: "why" }, line.subject)] : [];
  return [element("strong", {}, titleOf(line)), ...where, ...why, " ", ...what];
}

function clusterLink(cluster) {
  const link = element("a", { href: `?${new URLSearchParams({ cluster })}#cores` }, element("bdi", {}, cluster));
  link.dataset.cluster = cluster;
  return link;
}

/** Idle cores, of IdleCoresAlarm. */
function titleOf(line) {
  const words = line.name.replace(/Alarm$/, "").split(/(?<=[a-z])(?=[A-Z])/);
  return words.map((word, at) => (at ? word.toLowerCase() : word)).join(" ");
}

/** Alarms that say the same share a line. */
function byReason(lines) {
  const groups = new Map();
  for (const line of lines) {
    const key = line.cluster === null && line.reason ? line.reason : Symbol(line.name);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()];
}

function rowOf(lines) {
  if (lines.length === 1) return element("li", {}, ...sentence(lines[0]));
  return element(
    "li",
    {},
    element("strong", {}, lines.map(titleOf).join(", ")),
    `: ${lines[0].reason}.`,
  );
}
