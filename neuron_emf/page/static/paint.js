/*
 * Paint cores on a canvas: one, or those of an instance by minutes.
 *
 * Idle is strong and hatched, busy is calm. Idle for long enough (A, R, U, N) is the strongest; not
 * busy yet for so long (a, r, u, n) is a tint of it; busy gets stronger with its utilization; unknown
 * is gray with a cross. A stroke is allocated, a dot is unallocated, a dash is of unknown allocation,
 * in every tint. A canvas is a picture only: what a keyboard or a voice reads lies over it
 * (hour.js), on the same geometry.
 */

import { clock, duration } from "./figures.js";
import { colour, onColours } from "./theme.js";

const LABELS = 26;
const NOW = 74;
const TOP = 16;
const NARROWEST = 3;
const WIDEST = 14;
const TICK_MINUTES = [5, 10, 15, 30, 60];
const colours = new Map();
onColours(() => colours.clear());

/** Where everything is: pixels of rows and columns, and the first minute that fits. */
export function geometryOf(width, cores, minutes) {
  const room = Math.max(NARROWEST, width - LABELS - NOW);
  const shown = Math.min(minutes, Math.floor(room / NARROWEST));
  const cell = Math.min(WIDEST, Math.max(NARROWEST, Math.floor(room / Math.max(1, shown))));
  const row = cores <= 8 ? 16 : cores <= 32 ? 12 : cores <= 64 ? 10 : 8;
  return { left: LABELS, top: TOP, cell, row, shown, first: minutes - shown, width, height: TOP + cores * row + 1 };
}

/** Paint one instance. */
export function paint(canvas, instance, place) {
  const pen = penOf(canvas, place.width, place.height);
  pen.font = `${Math.min(11, place.row - 1)}px ui-monospace, "DejaVu Sans Mono", monospace`;
  pen.textBaseline = "middle";
  const { minutes } = instance;
  ticks(pen, minutes, place);
  for (let core = 0; core < instance.cores; core += 1) {
    label(pen, instance, core, place);
    for (let at = place.first; at < minutes.length; at += 1) {
      const letter = instance.states[core][at];
      const [x, y] = [place.left + (at - place.first) * place.cell, place.top + core * place.row];
      const width = place.cell - (place.cell > 4 ? 1 : 0);
      // What is not busy is strong here whatever its time: the hour shows for how long.
      paintCore(pen, "arun".includes(letter) ? letter.toUpperCase() : letter, instance.utilization[core][at], x, y, width, place.row - 1);
    }
  }
}

/** Core number at the left; state letter and idle time at the right. */
function label(pen, instance, core, place) {
  if (core % (place.row >= 12 ? 1 : 4)) return;
  const y = place.top + core * place.row + place.row / 2;
  pen.fillStyle = tint("muted");
  pen.textAlign = "right";
  pen.fillText(String(core), place.left - 5, y);
  const x = place.left + place.shown * place.cell + 6;
  const letter = instance.states[core].at(-1);
  const idle = instance.idle_minutes[core];
  pen.textAlign = "left";
  pen.fillStyle = tint("ink");
  pen.fillText(letter, x, y);
  pen.fillStyle = tint("muted");
  if (idle && letter !== "b") pen.fillText(duration(idle).replace(" min", "m").replace(" h", "h"), x + 12, y);
}

function ticks(pen, minutes, place) {
  const step = TICK_MINUTES.find((one) => one * place.cell >= 44) ?? 60;
  pen.fillStyle = tint("muted");
  pen.textAlign = "left";
  for (let at = place.first; at < minutes.length; at += 1) {
    if (Math.round(minutes[at] / 60_000) % step) continue;
    const x = place.left + (at - place.first) * place.cell;
    pen.fillText(clock(minutes[at]), x, 6);
    pen.fillRect(x, 12, 1, 3);
  }
}

/** As CSS writes a colour of the stylesheet, asked once for each theme. */
function tint(name) {
  return `rgb(${parts(name).join()})`;
}

function parts(name) {
  if (!colours.has(name)) colours.set(name, colour(name));
  return colours.get(name);
}

function busy(percent) {
  const share = Math.min(100, Math.max(0, percent ?? 0)) / 100;
  const [low, high] = [parts("busy-low"), parts("busy-high")];
  return `rgb(${low.map((part, at) => Math.round(part + share * (high[at] - part))).join()})`;
}

/** Paint one core at a place; letters as the server sends them, `-` where there is no line. */
export function paintCore(pen, letter, utilization, x, y, width, height) {
  if (letter === "-") {
    pen.fillStyle = tint("grid");
    pen.fillRect(x, y + Math.floor(height / 2), width, 1);
    return;
  }
  const kind = letter.toLowerCase();
  const isIdle = letter !== kind;
  const [ground, ink] = kind === "b" ? [busy(utilization), null]
    : kind === "?" ? [tint("unknown"), tint("unknown-mark")]
      : isIdle ? [tint("idle"), tint("idle-mark")] : [tint("soft"), tint("soft-mark")];
  pen.fillStyle = ground;
  pen.fillRect(x, y, width, height);
  if (ink) mark(pen, kind, ink, x, y, width, height);
}

/** Allocated a stroke, unallocated a dot, of unknown allocation a dash, unknown a cross. */
function mark(pen, kind, ink, x, y, width, height) {
  const [cx, cy] = [x + width / 2, y + height / 2];
  if (kind === "u") {
    const size = width > 5 ? 2 : 1;
    pen.fillStyle = ink;
    pen.fillRect(Math.round(cx - size / 2), Math.round(cy - size / 2), size, size);
    return;
  }
  if (kind === "n") {
    pen.fillStyle = ink;
    pen.fillRect(x + (width > 4 ? 1 : 0), Math.round(cy), width - (width > 4 ? 2 : 0), 1);
    return;
  }
  const reach = Math.min(width, height) / 2 - (width > 4 ? 1.5 : 0.5);
  pen.strokeStyle = ink;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(cx - reach, cy + reach);
  pen.lineTo(cx + reach, cy - reach);
  if (kind === "?") {
    pen.moveTo(cx - reach, cy - reach);
    pen.lineTo(cx + reach, cy + reach);
  }
  pen.stroke();
}

/** A canvas of so many CSS pixels, sharp on every screen. */
export function penOf(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  return pen;
}
