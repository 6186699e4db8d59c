/*
 * One plot: uPlot with a crosshair that all plots share, zoom by dragging, and gaps as gaps.
 *
 * A plot always has the same nine slots for series. New data, another cluster or another theme
 * never build it again, so its memory stays flat. It knows nothing about legends, keys or answers.
 */

import { html, useEffect, useLayoutEffect, useRef } from "./vendor/ui.js";
import uPlot from "./vendor/uplot.js";
import { useColors } from "./palette.js";
import { zone } from "./words.js";

/** @typedef {(number | null)[]} Values */
/**
 * @typedef {object} Series
 * @property {string} label
 * @property {Values} values
 * @property {number} slot from 0 to SLOTS - 1: its color and its dashes
 * @property {boolean} isHidden
 */
/**
 * @typedef {object} Span
 * @property {number} from_ms
 * @property {number} to_ms
 */
/**
 * @typedef {object} PlotProps
 * @property {readonly number[]} x milliseconds, ascending
 * @property {readonly Series[]} series
 * @property {boolean} isStacked True if the series are parts of one sum
 * @property {Span} span what the axis of time shows
 * @property {number | null} top the highest value of the axis; null if the series decide
 * @property {readonly Span[]} missing times that are shaded, because their data are missing
 * @property {(value: number) => string} words a value on the axis
 * @property {(index: number | null) => void} onCursor
 * @property {(span: Span | null) => void} onZoom null shows the whole range
 * @property {(plot: Handle | null) => void} onReady
 */
/** @typedef {{ pointAt: (index: number | null) => void }} Handle */

export const SLOTS = 9; // eight series and [others]
export const OTHERS_SLOT = 8;
/** The second sign of each slot, beside its color. */
export const DASHES = Object.freeze([[], [7, 3], [2, 3], [7, 2, 2, 2], [11, 3], [11, 2, 2, 2, 2, 2], [4, 5], [1, 3], [3, 1]]);
export const HEIGHT_PX = 168;
const AXIS_WIDTH_PX = 54;
const AXIS_HEIGHT_PX = 26;
const SYNC_KEY = "neuron-emf";
const TEXTURE_PX = 8;
const SHORTEST_DRAG_PX = 6;
const ROOM_ABOVE = 1.08;
const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';
const DAY_S = 86_400;
const STATE_COLORS = Object.freeze(["busy", "allocated-idle", "unallocated", "unallocated", "unknown"]);
const LINE_COLORS = Object.freeze([1, 2, 3, 4, 5, 6, 7, 8].map((number) => `series-${number}`));
export const COLOR_NAMES = Object.freeze([
  ...LINE_COLORS, "series-others", ...STATE_COLORS, "surface", "line", "soft", "text",
]);

/**
 * Return the slot of each label. A label keeps the slot that *preferred* has for it, if no label
 * before it has that slot; *preferred* learns new labels.
 * @param {readonly string[]} labels
 * @param {Map<string, number>} preferred
 */
export function slotsOf(labels, preferred) {
  /** @type {Set<number>} */
  const taken = new Set();
  return labels.map((label) => {
    if (label === "[others]") return OTHERS_SLOT;
    if (!preferred.has(label)) preferred.set(label, preferred.size % OTHERS_SLOT);
    let slot = preferred.get(label) ?? 0;
    while (taken.has(slot) && taken.size < OTHERS_SLOT) slot = (slot + 1) % OTHERS_SLOT;
    taken.add(slot);
    return slot;
  });
}

/**
 * Return the values of each slot as they are drawn. Parts of a sum lie on the parts before them;
 * where a part is missing, neither it nor a part above it is drawn, because their sum is unknown.
 * @param {readonly Series[]} series
 * @param {number} length
 * @param {boolean} isStacked
 * @returns {Values[]}
 */
export function drawnValues(series, length, isStacked) {
  const drawn = Array.from({ length: SLOTS }, () => /** @type {Values} */ (new Array(length).fill(null)));
  /** @type {Values} */
  let below = new Array(length).fill(0);
  for (const { values, slot, isHidden } of series) {
    if (isHidden) continue;
    if (!isStacked) {
      drawn[slot] = values;
      continue;
    }
    below = below.map((sum, at) => (sum === null || values[at] === null ? null : sum + /** @type {number} */ (values[at])));
    drawn[slot] = below;
  }
  // The highest sum is drawn first, so that the lower parts are over it.
  return isStacked ? drawn.reverse() : drawn;
}

/**
 * Return the color names of the slots, in the order in which uPlot draws them.
 * @param {boolean} isStacked
 */
export function slotColors(isStacked) {
  if (!isStacked) return [...LINE_COLORS, "series-others"];
  return Array.from({ length: SLOTS }, (_, slot) => STATE_COLORS[slot] ?? "unknown");
}

/**
 * Return the fill of a stacked slot: its color with a texture of its own.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} slot
 * @param {Record<string, string>} colors
 */
export function textureOf(pen, slot, colors) {
  const color = colors[STATE_COLORS[slot] ?? "unknown"];
  if (slot === 0) return color;
  const tile = document.createElement("canvas");
  tile.width = TEXTURE_PX;
  tile.height = TEXTURE_PX;
  const tilePen = tile.getContext("2d");
  if (!tilePen) return color;
  tilePen.fillStyle = color;
  tilePen.fillRect(0, 0, TEXTURE_PX, TEXTURE_PX);
  tilePen.strokeStyle = colors.surface;
  tilePen.fillStyle = colors.surface;
  tilePen.lineWidth = 1;
  tilePen.beginPath();
  if (slot === 1) lineIn(tilePen, [[0, 8], [8, 0]]);
  if (slot === 2) tilePen.fillRect(3, 3, 2, 2);
  if (slot === 3) lineIn(tilePen, [[0, 2.5], [8, 2.5]]);
  if (slot === 3) lineIn(tilePen, [[0, 6.5], [8, 6.5]]);
  if (slot === 4) lineIn(tilePen, [[2, 2], [6, 6]]);
  if (slot === 4) lineIn(tilePen, [[6, 2], [2, 6]]);
  tilePen.stroke();
  return pen.createPattern(tile, "repeat") ?? color;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {readonly (readonly [number, number])[]} points
 */
function lineIn(pen, [[from_x, from_y], [to_x, to_y]]) {
  pen.moveTo(from_x, from_y);
  pen.lineTo(to_x, to_y);
}

/**
 * Return the words of *seconds* on an axis whose ticks are *step* seconds apart.
 * @param {number} seconds
 * @param {number} step
 */
function tickWords(seconds, step) {
  const date = zonedDate(seconds);
  const day = `${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
  const time = `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
  return step >= DAY_S || time === "00:00" ? day : time;
}

/**
 * Return a date whose local members are those of the chosen zone, as uPlot reads them.
 * @param {number} seconds
 */
function zonedDate(seconds) {
  const date = new Date(seconds * 1000);
  return zone.peek() === "local" ? date : uPlot.tzDate(date, "Etc/UTC");
}

/** @typedef {{ current: PlotProps }} Props the newest properties of the component */
/** @typedef {{ current: Record<string, string> }} Palette */

/**
 * @param {Props} props
 * @param {Palette} colors
 * @param {number} width
 * @param {boolean} isStacked
 * @returns {uPlot.Options}
 */
function optionsOf(props, colors, width, isStacked) {
  return {
    width,
    height: HEIGHT_PX,
    padding: [8, 18, 0, 0],
    tzDate: zonedDate,
    legend: { show: false },
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, topOf(props.current.top, high)] } },
    series: [{}, ...slotOptions(colors, isStacked)],
    axes: [timeAxis(colors), valueAxis(colors, props)],
    cursor: {
      y: false,
      points: { show: !isStacked, size: 7 },
      drag: { x: true, y: false, setScale: false, dist: SHORTEST_DRAG_PX },
      sync: { key: SYNC_KEY, scales: ["x", null], setSeries: false, filters: { pub: isCursorMove, sub: isCursorMove } },
      bind: { dblclick: () => () => resetZoom(props) },
    },
    hooks: {
      setCursor: [(plot) => props.current.onCursor(plot.cursor.idx ?? null)],
      setSelect: [(plot) => noteSelection(plot, props.current)],
      drawAxes: [(plot) => shadeMissing(plot, props.current.missing, colors.current)],
    },
  };
}

/**
 * @param {Palette} colors
 * @param {boolean} isStacked
 * @returns {uPlot.Series[]}
 */
function slotOptions(colors, isStacked) {
  const options = slotColors(isStacked).map((name, slot) => {
    const stroke = () => colors.current[name];
    if (!isStacked) return { stroke, width: 1.75, dash: [...DASHES[slot]], points: { size: 4 } };
    const fill = (/** @type {uPlot} */ plot) => textureOf(plot.ctx, slot, colors.current);
    return { stroke, width: 1, fill, points: { show: false } };
  });
  return isStacked ? options.reverse() : options;
}

/**
 * @param {Palette} colors
 * @returns {uPlot.Axis}
 */
function plainAxis(colors) {
  return {
    stroke: () => colors.current.soft,
    font: FONT,
    grid: { stroke: () => colors.current.line, width: 1 },
    ticks: { stroke: () => colors.current.line, width: 1, size: 4 },
  };
}

/**
 * @param {Palette} colors
 * @returns {uPlot.Axis}
 */
function timeAxis(colors) {
  return {
    ...plainAxis(colors),
    size: AXIS_HEIGHT_PX,
    space: 56,
    values: (_plot, splits, _axis, _space, step) => splits.map((split) => tickWords(split, step)),
  };
}

/**
 * @param {Palette} colors
 * @param {Props} props
 * @returns {uPlot.Axis}
 */
function valueAxis(colors, props) {
  return {
    ...plainAxis(colors),
    size: AXIS_WIDTH_PX,
    space: 32,
    values: (_plot, splits) => splits.map((split) => props.current.words(split)),
  };
}

/** @param {Props} props */
function resetZoom(props) {
  props.current.onZoom(null);
  return null;
}

/**
 * @param {number | null} top
 * @param {number | null} high the greatest value that is drawn
 */
function topOf(top, high) {
  if (top !== null) return Math.max(top, high ?? 0);
  return high !== null && high > 0 ? high * ROOM_ABOVE : 1;
}

/** @param {string} type of an event that plots share */
function isCursorMove(type) {
  return type === "mousemove" || type === "mouseleave";
}

/**
 * @param {uPlot} plot
 * @param {PlotProps} props
 */
function noteSelection(plot, props) {
  const { left, width } = plot.select;
  if (width < SHORTEST_DRAG_PX) return;
  const from_ms = plot.posToVal(left, "x") * 1000;
  const to_ms = plot.posToVal(left + width, "x") * 1000;
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  props.onZoom({ from_ms, to_ms });
}

/**
 * Shade the times without data, behind the series.
 * @param {uPlot} plot
 * @param {readonly Span[]} missing
 * @param {Record<string, string>} colors
 */
function shadeMissing(plot, missing, colors) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = colors.line;
  ctx.globalAlpha = 0.55;
  for (const { from_ms, to_ms } of missing) {
    const left = Math.max(bbox.left, plot.valToPos(from_ms / 1000, "x", true));
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(to_ms / 1000, "x", true));
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

/** @param {PlotProps} props */
export function Plot(props) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plot = useRef(/** @type {uPlot | null} */ (null));
  const latest = useRef(props);
  latest.current = props;
  const palette = useColors(COLOR_NAMES);
  const colors = useRef(palette);
  colors.current = palette;
  const { x, series, isStacked, span, missing, onReady } = props;
  const shownZone = zone.value;

  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    const options = optionsOf(latest, colors, Math.max(1, target.clientWidth), isStacked);
    const made = new uPlot(options, [[]], target);
    plot.current = made;
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width > 0 && width !== made.width) made.setSize({ width, height: HEIGHT_PX });
    });
    observer.observe(target);
    onReady({ pointAt: (index) => pointAt(made, index) });
    return () => {
      observer.disconnect();
      onReady(null);
      made.destroy();
      plot.current = null;
    };
  }, [isStacked]);

  useLayoutEffect(() => {
    const made = plot.current;
    if (!made) return;
    const seconds = x.map((at_ms) => at_ms / 1000);
    made.batch(() => {
      made.setData([seconds, ...drawnValues(series, x.length, isStacked)], false);
      made.setScale("x", { min: span.from_ms / 1000, max: span.to_ms / 1000 });
    });
  }, [x, series, isStacked, span.from_ms, span.to_ms, missing]);

  useEffect(() => plot.current?.redraw(false, true), [palette, shownZone]);
  return html`<div class="plot" ref=${element} aria-hidden="true"></div>`;
}

/**
 * Move the cursor of all plots to the *index*-th moment; null takes it away.
 * @param {uPlot} plot
 * @param {number | null} index
 */
function pointAt(plot, index) {
  const left = index === null ? -10 : plot.valToPos(plot.data[0][index], "x");
  const top = index === null ? -10 : 1;
  plot.setCursor({ left, top });
  // uPlot moves the cursors of the other plots only with the pointer.
  const { width, height } = plot.over.getBoundingClientRect();
  const { sync } = plot.cursor;
  if (sync?.values) sync.values[0] = index === null ? -1 : plot.data[0][index];
  uPlot.sync(SYNC_KEY).pub("mousemove", plot, left, top, width, height, index ?? -1);
}
