/*
 * Cells of heat maps: the sign of each core state, a canvas that is drawn while it is on screen,
 * and the frame and words at the cursor.
 *
 * Every state has a sign in addition to its color. A core that is idle for long enough has the full color;
 * one that is not busy yet for so long has a tint. A busy core has a bar as high as its utilization.
 */

import { html, useLayoutEffect, useRef, useState } from "./vendor/ui.js";
import { useColors } from "./palette.js";

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */
/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {Record<string, string>} Colors */
/** @typedef {(pen: Pen, colors: Colors) => void} Paint */

/**
 * Letters of core states as answers write them; the words are those of the legend.
 * @type {Readonly<Record<string, string>>}
 */
export const STATES = Object.freeze({
  A: "idle, allocated",
  R: "idle, reserved",
  U: "idle, unallocated",
  N: "idle, allocation unknown",
  a: "not busy, not yet idle, allocated",
  r: "not busy, not yet idle, reserved",
  u: "not busy, not yet idle, unallocated",
  n: "not busy, not yet idle, allocation unknown",
  b: "busy",
  "?": "unknown",
  "-": "no line",
});

const COLOR_NAMES = Object.freeze([
  "busy", "low", "allocated-idle", "reserved", "unallocated", "unknown",
  "surface", "line", "text", "soft", "accent",
]);
/** @type {Record<string, string>} */
const COLOR_OF_LETTER = { a: "allocated-idle", r: "reserved", u: "unallocated", n: "unallocated", "?": "unknown" };
const TINT = 0.38;
const NEAR_PX = 300;
const SMALL_PX = 7; // below it a cell has no room for a stroke and a margin

/**
 * Paint one core in *box*.
 * @param {Pen} pen
 * @param {Colors} colors
 * @param {string} letter a key of STATES
 * @param {number | null | undefined} percent utilization
 * @param {Box} box
 */
export function paintCore(pen, colors, letter, percent, box) {
  if (letter === "-") {
    pen.fillStyle = colors.line;
    pen.fillRect(box.left, box.top + Math.floor(box.height / 2), box.width, 1);
    return;
  }
  if (letter === "b") {
    paintBusy(pen, colors, percent ?? 0, box);
    return;
  }
  const state = letter.toLowerCase();
  const isTint = letter === state && state !== "?";
  pen.globalAlpha = isTint ? TINT : 1;
  pen.fillStyle = colors[COLOR_OF_LETTER[state] ?? "unknown"];
  pen.fillRect(box.left, box.top, box.width, box.height);
  pen.globalAlpha = 1;
  paintSign(pen, isTint ? colors.text : colors.surface, state, box);
}

/**
 * Paint a busy core: a bar of its utilization, at least one pixel, so that 3 % is visible.
 * @param {Pen} pen
 * @param {Colors} colors
 * @param {number} percent
 * @param {Box} box
 */
function paintBusy(pen, colors, percent, { left, top, width, height }) {
  const bar = Math.max(1, Math.round((height * Math.min(100, percent)) / 100));
  pen.fillStyle = colors.low;
  pen.fillRect(left, top, width, height);
  pen.fillStyle = colors.busy;
  pen.fillRect(left, top + height - bar, width, bar);
}

/**
 * Paint the sign of a core that is not busy: a stroke is allocated, a hole is reserved, a dot is
 * unallocated, a dash is of unknown allocation, a cross is unknown.
 * @param {Pen} pen
 * @param {string} ink
 * @param {string} state
 * @param {Box} box
 */
function paintSign(pen, ink, state, { left, top, width, height }) {
  const isSmall = Math.min(width, height) < SMALL_PX;
  const middle_x = left + width / 2;
  const middle_y = top + height / 2;
  pen.fillStyle = ink;
  if (state === "u") {
    const dot = isSmall ? 1 : 3;
    pen.fillRect(Math.floor(middle_x - dot / 2), Math.floor(middle_y - dot / 2), dot, dot);
    return;
  }
  if (state === "n") {
    const margin = isSmall ? 0 : 2;
    pen.fillRect(left + margin, Math.floor(middle_y), width - 2 * margin, 1);
    return;
  }
  if (state === "r") {
    const frame = isSmall ? 1 : 2;
    pen.fillRect(left + frame, top + frame, width - 2 * frame, height - 2 * frame);
    return;
  }
  if (isSmall && state === "a") return; // the full color alone stands for allocated
  const reach = Math.min(width, height) / 2 - (isSmall ? 0.5 : 2);
  pen.strokeStyle = ink;
  pen.lineWidth = 1.25;
  pen.beginPath();
  pen.moveTo(middle_x - reach, middle_y + reach);
  pen.lineTo(middle_x + reach, middle_y - reach);
  if (state === "?") {
    pen.moveTo(middle_x - reach, middle_y - reach);
    pen.lineTo(middle_x + reach, middle_y + reach);
  }
  pen.stroke();
}

/**
 * A picture of *width* by *height* pixels, sharp on every screen. It is painted while it is near
 * the screen; assistive technology does not see it.
 * @param {{ width: number, height: number, paint: Paint, names?: readonly string[], className?: string }} props *names*: names of the picture's colors
 */
export function Canvas({ width, height, paint, names = COLOR_NAMES, className = "" }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const colors = useColors(names);
  const [isNear, setNear] = useState(false);
  useLayoutEffect(() => {
    if (!canvas.current) return undefined;
    const { top, bottom } = canvas.current.getBoundingClientRect();
    setNear(bottom > -NEAR_PX && top < window.innerHeight + NEAR_PX); // the observer answers a frame later
    const observer = new IntersectionObserver(
      (entries) => setNear(entries[entries.length - 1].isIntersecting), // the newest is the last
      { rootMargin: `${NEAR_PX}px` },
    );
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || !isNear) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const pen = element.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    paint(pen, colors);
  }, [width, height, paint, colors, isNear]);
  const style = { width: `${width}px`, height: `${height}px` };
  return html`<canvas ref=${canvas} class=${className} style=${style} aria-hidden="true"></canvas>`;
}

/**
 * Return a ref and the width of its element in whole pixels, 0 before it is laid out.
 * @returns {[{ current: HTMLElement | null }, number]}
 */
export function useWidth() {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

const TIP_WIDTH_PX = 240;

/**
 * The frame around the cell at the cursor, and its words next to it.
 * @param {{ box: Box, lines: readonly string[], room: number, follows: boolean }} props *room*: width
 *   of the map; *follows*: True if the screen scrolls to the cell
 */
export function CellTip({ box, lines, room, follows }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (follows) frame.current?.scrollIntoView({ block: "nearest" });
  }, [follows, box.left, box.top]);
  const left = Math.max(0, Math.min(box.left, room - TIP_WIDTH_PX));
  const frameStyle = {
    left: `${box.left - 1}px`,
    top: `${box.top - 1}px`,
    width: `${box.width + 2}px`,
    height: `${box.height + 2}px`,
  };
  return html`
    <div class="cell-frame" ref=${frame} style=${frameStyle} aria-hidden="true"></div>
    <div class="cell-tip" style=${{ left: `${left}px`, top: `${box.top + box.height + 6}px` }} aria-hidden="true">
      ${lines.map((line) => html`<div>${line}</div>`)}
    </div>
  `;
}

/** @type {Record<string, [number, number]>} columns and rows that a key moves the cursor by */
const STEPS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -8],
  PageDown: [0, 8],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};

/**
 * Return by how many columns and rows *event* moves a cursor, or null if it moves none.
 * @param {KeyboardEvent} event
 */
export function stepOf(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return null;
  return STEPS[event.key] ?? null;
}
