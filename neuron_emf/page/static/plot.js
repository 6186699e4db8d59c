/*
 * One plot: uPlot with a crosshair that all plots share, zoom by dragging, and gaps as gaps.
 *
 * A plot always has the same nine slots for series. New data, another cluster or another theme
 * never build it again, so its memory stays flat. It knows nothing about legends, keys or answers.
 */

import { html, useEffect, useLayoutEffect, useRef } from "./vendor/ui.js";
import uPlot from "./vendor/uplot.js";
import { useColors } from "./palette.js";
import { COLOR_NAMES, DASHES, drawnValues, lonePlaces, slotColors, textureOf } from "./series.js";
import { zone } from "./words.js";

/** @typedef {import("./series.js").Series} Series */
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

export const HEIGHT_PX = 168;
const AXIS_WIDTH_PX = 54;
const AXIS_HEIGHT_PX = 26;
const SYNC_KEY = "neuron-emf";
const SHORTEST_DRAG_PX = 6;
const ROOM_ABOVE = 1.08;
const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';
const DAY_S = 86_400;

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
    const filter = (/** @type {uPlot} */ plot, /** @type {number} */ place) => lonePlaces(plot.data[place]);
    const points = { show: false, size: 4, filter, fill: stroke };
    if (!isStacked) return { stroke, width: 1.75, dash: [...DASHES[slot]], points };
    const fill = (/** @type {uPlot} */ plot) => textureOf(plot.ctx, slot, colors.current);
    return { stroke, width: 1, fill, points };
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
