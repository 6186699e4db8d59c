/*
 * How the series of a chart look: a colour, and a dash, mark or hatching that says the same.
 *
 * What a series means chooses its colour where it has one on this page: the
 * states of cores look alike in every chart, and so does a cluster.
 */

import { drawn } from "./dom.js";
import { colour } from "./theme.js";

export const KINDS = 8;
const STATE = { BusyCores: 0, AttachedIdleCores: 1, UnattachedCores: 3, UnknownCores: 5 };
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash"];
const DASH_ARRAYS = ["", "5 3", "1.5 2.5", "5 2 1.5 2", "8 3", "8 2 1.5 2", "", "5 3"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "diamond-tall", "hexagon"];
const MARKS = [
  "M0-3.4A3.4 3.4 0 1 1-.01-3.4Z", "M-3-3H3V3H-3Z", "M0-4.4 4.4 0 0 4.4-4.4 0Z", "M0-4 4 3H-4Z",
  "M-1.3-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4V-1.3H-1.3Z", "M0 4-4-3H4Z", "M0-5 3 0 0 5-3 0Z", "M-2-3.6H2L4 0 2 3.6H-2L-4 0Z",
];
const HATCHES = ["", "/", "x", ".", "\\", "-", "|", "+"];

/** The kinds of a chart's series, 0 to 7, in their order. */
export function kindsOf(series, clusters) {
  const byState = series.every((one) => one.metric in STATE);
  const byCluster = series.every((one) => Object.keys(one.dimensions).join() === "ClusterName")
    && new Set(series.map((one) => one.dimensions.ClusterName)).size === series.length && series.length > 1;
  return series.map((one, at) => {
    if (byState) return STATE[one.metric];
    const index = byCluster ? clusters.indexOf(one.dimensions.ClusterName) : at;
    return (index < 0 ? at : index) % KINDS;
  });
}

/** Colour, dash, mark and hatching of a kind, as Plotly names them. */
export function stroke(kind) {
  return { colour: colour(`series-${kind}`), dash: DASHES[kind], symbol: SYMBOLS[kind], hatch: HATCHES[kind] };
}

/** A small picture of it for the legend. */
export function swatch(kind, stacked) {
  const box = { viewBox: "0 0 26 12", width: 26, height: 12, "aria-hidden": "true", class: `swatch series-${kind}` };
  if (stacked) return drawn("svg", box, drawn("rect", { width: 26, height: 12 }), ...hatching(HATCHES[kind]));
  return drawn(
    "svg",
    box,
    drawn("path", { class: "line", d: "M1 6H25", "stroke-dasharray": DASH_ARRAYS[kind] }),
    drawn("path", { d: MARKS[kind], transform: "translate(13 6)" }),
  );
}

function hatching(shape) {
  const slashes = "M1 11 11 1M8 11 18 1M15 11 25 1";
  const back = "M1 1 11 11M8 1 18 11M15 1 25 11";
  const d = { "": "", "/": slashes, "\\": back, x: slashes + back, ".": "M4 6h1.5M12 6h1.5M20 6h1.5", "-": "M0 4H26M0 8H26", "|": "M6 0V12M13 0V12M20 0V12", "+": "M0 6H26M8 0V12M18 0V12" }[shape];
  return d ? [drawn("path", { class: "hatch", d })] : [];
}
