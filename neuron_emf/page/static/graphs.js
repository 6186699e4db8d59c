/*
 * Lines and bars over time. A minute without a value is a gap, never a zero.
 */

import { drawn, element, fill, renew } from "./dom.js";
import { MINUTE_MS, clock, figure } from "./figures.js";

const HEIGHT = 144;
const NARROWEST = 260;
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 8, 8, 18];
const DASHES = [null, "6 3", "2 3", "6 2 2 2", "10 3", "10 2 2 2", "4 4", "1 3"];
const STEPS_MIN = [5, 15, 30, 60, 180];

/** Graphs of a history, in place of what is there. */
export function showGraphs(target, history) {
  const columns = getComputedStyle(target).gridTemplateColumns.split(" ").length;
  const width = Math.max(NARROWEST, Math.floor(target.clientWidth / columns) - 40);
  renew(target, [history, width], () => {
    const opened = new Set([...target.querySelectorAll(".values[open]")].map((one) => one.dataset.title));
    return history.graphs.map((graph) => element("section", { class: "graph", "aria-label": graph.title },
      element("h3", {}, titleOf(graph)),
      graph.series.some((one) => one.points.length) ? picture(graph, history, width) : element("p", { class: "unknown" }, "No data in this time"),
      legend(graph), values(graph, opened.has(graph.title))));
  });
}

function picture(graph, { start_ms: start, end_ms: end }, width) {
  const bars = graph.kind === "bars";
  const most = graph.unit === "percent" ? Math.max(100, highest(graph, bars)) : highest(graph, bars) || 1;
  const tick = roundStep(most / 4);
  const high = Math.ceil(most / tick) * tick;
  const x = (ms) => LEFT + ((ms - start) / (end - start)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - value / high) * (HEIGHT - TOP - BOTTOM);
  const axes = Array.from({ length: Math.round(high / tick) + 1 }, (_, at) => at * tick).map((value) => [
    drawn("path", { class: "axis", d: `M${LEFT} ${y(value)}H${width - RIGHT}` }),
    drawn("text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" }, figure(Number(value.toPrecision(6)))),
  ]);
  const step = (STEPS_MIN.find((one) => (end - start) / MINUTE_MS / one <= 6) ?? 180) * MINUTE_MS;
  const ticks = [];
  for (let ms = Math.ceil(start / step) * step; ms < end; ms += step) {
    ticks.push(drawn("text", { x: x(ms), y: HEIGHT - 4, "text-anchor": "middle" }, clock(ms)));
  }
  const body = bars ? stacked(graph.series, x, y) : graph.series.map((one, at) => line(one.points, at, x, y));
  return drawn("svg", { class: "drawing", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": wordsOf(graph) },
    drawn("defs", {}, ...[1, 2, 3, 4].map(texture)), ...axes.flat(), ...ticks, ...body);
}

/** The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not under *value*. */
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((one) => one * power).find((step) => step >= value * 0.999);
}

function line(points, at, x, y) {
  let d = "";
  points.forEach(([ms, value], place) => {
    const joined = place && ms - points[place - 1][0] <= 1.5 * MINUTE_MS;
    const alone = !joined && !(points[place + 1]?.[0] - ms <= 1.5 * MINUTE_MS);
    d += `${joined ? "L" : "M"}${x(ms).toFixed(1)} ${y(value).toFixed(1)}${alone ? "h1" : ""}`;
  });
  return drawn("path", { class: `line series-${at}`, d, "stroke-dasharray": DASHES[at], "data-series": at });
}

/** One bar for each minute, the states on each other. */
function stacked(series, x, y) {
  const below = new Map();
  return series.flatMap(({ points }, at) => {
    let d = "";
    for (const [ms, value] of points) {
      const [low, left, right] = [below.get(ms) ?? 0, x(ms).toFixed(1), x(ms + MINUTE_MS).toFixed(1)];
      d += `M${left} ${y(low).toFixed(1)}V${y(low + value).toFixed(1)}H${right}V${y(low).toFixed(1)}Z`;
      below.set(ms, low + value);
    }
    const areas = [drawn("path", { class: `state-${at}`, d })];
    if (at) areas.push(drawn("path", { fill: `url(#texture-${at})`, d }));
    return areas;
  });
}

function texture(at) {
  const mark = { 1: drawn("path", { class: "texture-1", d: "M0 8L8 0" }), 2: drawn("circle", { class: "texture-2", cx: 4, cy: 4, r: 1 }), 3: drawn("path", { class: "texture-1", d: "M1 4H7" }), 4: drawn("path", { class: "texture-4", d: "M2 2L6 6M6 2L2 6" }) }[at];
  return drawn("pattern", { id: `texture-${at}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, mark);
}

function highest(graph, bars) {
  if (!bars) return Math.max(0, ...graph.series.flatMap((one) => one.points.map(([, value]) => value)));
  const sums = new Map();
  graph.series.forEach((one) => one.points.forEach(([ms, value]) => sums.set(ms, (sums.get(ms) ?? 0) + value)));
  return Math.max(0, ...sums.values());
}

function wordsOf(graph) {
  const last = graph.series.filter((one) => one.points.length).map((one) => `${one.label} ${figure(one.points.at(-1)[1])}`);
  return `${titleOf(graph)}. Last: ${last.join(", ")}.`;
}

/** "Idle cores", but "Cost of idle cores, USD per hour": a unit is said once. */
function titleOf(graph) {
  return graph.title.toLowerCase().includes(graph.unit) ? graph.title : `${graph.title}, ${graph.unit}`;
}

function legend(graph) {
  const items = graph.series.map((one, at) => {
    const sample = graph.kind === "bars"
      ? [drawn("rect", { class: `state-${at}`, width: 26, height: 12 }), at ? drawn("rect", { fill: `url(#texture-${at})`, width: 26, height: 12 }) : null]
      : [drawn("path", { class: `line series-${at}`, d: "M0 6H26", "stroke-dasharray": DASHES[at] })];
    const last = one.points.at(-1);
    return element("li", {}, drawn("svg", { width: 26, height: 12, "aria-hidden": "true" }, ...sample.filter(Boolean)),
      element("bdi", {}, one.label), element("span", { class: "value" }, last ? figure(last[1]) : "no data"));
  });
  if (graph.left_out) items.push(element("li", { class: "note" }, `and ${figure(graph.left_out)} more with fewer`));
  return element("ul", { class: "legend" }, ...items);
}

/** The numbers behind a graph; written when somebody opens them. */
function values(graph, open) {
  const box = element("div", { class: "scrolled", tabindex: 0, role: "group", "aria-label": `Values of ${graph.title}` });
  const details = element("details", { class: "values", "data-title": graph.title }, element("summary", {}, "Values"), box);
  details.addEventListener("toggle", () => {
    if (!details.open || box.childElementCount) return;
    const columns = graph.series.map((one) => new Map(one.points));
    const times = [...new Set(columns.flatMap((one) => [...one.keys()]))].sort((a, b) => b - a);
    fill(box, element("table", {},
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "UTC"), ...graph.series.map((one) => element("th", { scope: "col", class: "figure" }, one.label)))),
      element("tbody", {}, ...times.map((ms) => element("tr", {}, element("th", { scope: "row" }, clock(ms)),
        ...columns.map((one) => element("td", { class: "figure" }, one.has(ms) ? element("data", { value: one.get(ms) }, figure(one.get(ms))) : "no data")))))));
  });
  details.open = open;
  return details;
}
