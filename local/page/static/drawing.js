/*
 * A chart as Plotly's traces and layout. Numbers and times only; no text of ours or of others.
 *
 * A minute without a value is a gap: lines are interrupted, and what is stacked
 * stands as one bar per period, so that nothing is drawn between two values.
 */

import { stroke } from "./strokes.js";
import { colour } from "./theme.js";

export const MARGIN = { left: 46, right: 12, rightAxis: 46, top: 8, bottom: 24 };

/** One trace per series, in their order. */
export function tracesOf(widget, kinds, { start, end }) {
  return widget.series.map((one, at) => {
    const look = stroke(kinds[at]);
    const points = one.points.filter(([ms]) => ms >= start && ms <= end);
    const base = { hoverinfo: "skip", showlegend: false, yaxis: one.axis === "right" ? "y2" : "y" };
    return widget.stacked ? bars(points, one, look, base) : line(points, one, look, { ...base, cliponaxis: beyond(widget, one) });
  });
}

function bars(points, one, look, base) {
  return {
    ...base,
    type: "bar",
    x: points.map(([ms]) => ms),
    y: points.map(([, value]) => value),
    width: one.period_s * 1000,
    offset: 0,
    marker: {
      color: look.colour,
      line: { width: 0 },
      pattern: { shape: look.hatch, fgcolor: colour("hatch"), fgopacity: 0.75, size: 7, solidity: 0.22, fillmode: "overlay" },
    },
  };
}

function line(points, one, look, base) {
  const step = one.period_s * 1500; // half a period late is a gap
  const filled = [];
  points.forEach((point, at) => {
    if (at && point[0] - points[at - 1][0] > step) filled.push([points[at - 1][0] + one.period_s * 1000, null]);
    filled.push(point);
  });
  const lonely = (at) => filled[at][1] !== null && [at - 1, at + 1].every((near) => (filled[near]?.[1] ?? null) === null);
  return {
    ...base,
    type: "scatter",
    mode: "lines+markers",
    connectgaps: false,
    x: filled.map(([ms]) => ms),
    y: filled.map(([, value]) => value),
    line: { color: look.colour, width: 2, dash: look.dash, simplify: false },
    marker: {
      color: look.colour,
      symbol: look.symbol,
      opacity: 1,
      size: filled.map((_, at) => (at === filled.length - 1 ? 8 : lonely(at) ? 5 : 0)),
      line: { width: 0 },
    },
  };
}

/** Axes, margins and colours. */
export function layoutOf(widget, { start, end }, { width, height, right }) {
  const ink = colour("muted");
  const axis = {
    color: ink,
    gridcolor: colour("grid"),
    zerolinecolor: colour("border"),
    tickfont: { size: 11, color: ink },
    fixedrange: true,
    showline: false,
    ticks: "",
  };
  const layout = {
    width,
    height,
    autosize: false,
    margin: { l: MARGIN.left, r: right ? MARGIN.rightAxis : MARGIN.right, t: MARGIN.top, b: MARGIN.bottom, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "Segoe UI, Roboto, Noto Sans, Liberation Sans, Arial, sans-serif", size: 11, color: ink },
    barmode: "stack",
    bargap: 0,
    hovermode: false,
    dragmode: false,
    showlegend: false,
    xaxis: { ...axis, type: "date", range: [start, end], tickformat: "%H:%M", nticks: Math.max(3, Math.round(width / 90)), ticklabelstandoff: 4, gridcolor: "rgba(0,0,0,0)" },
    yaxis: { ...axis, ...upright(widget, "left"), nticks: 5 },
  };
  if (right) layout.yaxis2 = { ...axis, ...upright(widget, "right"), overlaying: "y", side: "right", showgrid: false, tickmode: "auto", nticks: 5 };
  return layout;
}

/** Whether a series leaves its axis; one that does not may draw its marks over the edge. */
function beyond(widget, one) {
  const [low, high] = upright(widget, one.axis ?? "left").range;
  return one.points.some(([, value]) => value < low || value > high);
}

/** Range of an axis: what the dashboard fixes, and room for every value. */
function upright(widget, side) {
  const fixed = widget.axes?.[side] ?? {};
  const values = totals(widget, side);
  const low = fixed.min ?? Math.min(0, ...values);
  const top = fixed.max ?? Math.max(low, ...values);
  const high = fixed.max ?? (top > low ? low + (top - low) * 1.08 : low + 1);
  return { range: [low, high], tickformat: high >= 10_000 ? "~s" : "" };
}

function totals(widget, side) {
  const mine = widget.series.filter((one) => (one.axis ?? "left") === side);
  if (!widget.stacked) return mine.flatMap((one) => one.points.map(([, value]) => value));
  const sums = new Map();
  mine.forEach((one) => one.points.forEach(([ms, value]) => sums.set(ms, (sums.get(ms) ?? 0) + value)));
  return [...sums.values()];
}
