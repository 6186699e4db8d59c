/*
 * Paint cores by minutes on a canvas: colour is utilization, a mark is the state.
 *
 * The canvas is a picture only. What a keyboard or a voice reads lies over it
 * (cores.js), on the same geometry.
 */

import { clock, duration } from "./figures.js";
import { letterOf, newestOf } from "./instance.js";
import { inkOn, shade } from "./scale.js";
import { colour } from "./theme.js";

const LABELS = 26;
const NOW = 74;
const TOP = 16;
const NARROWEST = 3;
const WIDEST = 14;
const TICK_MINUTES = [5, 10, 15, 30, 60];

/** Where everything is: pixels of rows and columns, and the first minute that fits. */
export function geometryOf(width, cores, minutes) {
  const room = Math.max(NARROWEST, width - LABELS - NOW);
  const shown = Math.min(minutes, Math.floor(room / NARROWEST));
  const cell = Math.min(WIDEST, Math.max(NARROWEST, Math.floor(room / Math.max(1, shown))));
  const row = cores <= 8 ? 16 : cores <= 32 ? 12 : cores <= 64 ? 10 : 8;
  return { left: LABELS, top: TOP, cell, row, shown, first: minutes - shown, width, height: TOP + cores * row + 1 };
}

/** Paint one instance. */
export function paint(canvas, instance, minutes, place) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(place.width * ratio);
  canvas.height = Math.round(place.height * ratio);
  canvas.style.width = `${place.width}px`;
  canvas.style.height = `${place.height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = `${Math.min(11, place.row - 1)}px ui-monospace, "DejaVu Sans Mono", monospace`;
  pen.textBaseline = "middle";
  ticks(pen, minutes, place);
  const newest = newestOf(instance, minutes);
  for (let core = 0; core < instance.cores; core += 1) {
    label(pen, instance, core, newest, place);
    for (let at = place.first; at < minutes.length; at += 1) {
      cell(pen, place.left + (at - place.first) * place.cell, place.top + core * place.row, place, {
        letter: letterOf(instance, core, at),
        utilization: instance.utilization[core]?.[at] ?? null,
      });
    }
  }
}

/** A cell alone, as the legend shows it. */
export function paintSample(canvas, letter, utilization) {
  const ratio = window.devicePixelRatio || 1;
  const place = { cell: 15, row: 13 };
  canvas.width = 14 * ratio;
  canvas.height = 12 * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  cell(pen, 0, 0, place, { letter, utilization });
}

function cell(pen, x, y, place, { letter, utilization }) {
  const width = place.cell - (place.cell > 4 ? 1 : 0);
  const height = place.row - 1;
  if (letter === "-") {
    pen.fillStyle = tint("grid");
    pen.fillRect(x, y + Math.floor(height / 2), width, 1);
    return;
  }
  const known = utilization !== null && letter !== "?";
  const tone = known ? shade(utilization) : null;
  pen.fillStyle = tone ? `rgb(${tone.join()})` : tint("unknown");
  pen.fillRect(x, y, width, height);
  mark(pen, letter, x, y, width, height, tone ? inkOn(tone) : tint("unknown-ink"));
}

/** Attached idle a stroke, unattached a dot, unknown a cross, busy nothing. */
function mark(pen, letter, x, y, width, height, ink) {
  pen.strokeStyle = ink;
  pen.fillStyle = ink;
  pen.lineWidth = 1;
  const reach = Math.min(width, height) / 2 - (width > 4 ? 1.5 : 0.5);
  const [cx, cy] = [x + width / 2, y + height / 2];
  if (letter === "u") {
    const size = width > 5 ? 2 : 1;
    pen.fillRect(Math.round(cx - size / 2), Math.round(cy - size / 2), size, size);
    return;
  }
  if (letter !== "a" && letter !== "?") return;
  pen.beginPath();
  pen.moveTo(cx - reach, cy + reach);
  pen.lineTo(cx + reach, cy - reach);
  if (letter === "?") {
    pen.moveTo(cx - reach, cy - reach);
    pen.lineTo(cx + reach, cy + reach);
  }
  pen.stroke();
}

/** Core number at the left; state letter and idle time at the right. */
function label(pen, instance, core, newest, place) {
  const y = place.top + core * place.row + place.row / 2;
  const every = place.row >= 12 ? 1 : 4;
  pen.fillStyle = tint("muted");
  pen.textAlign = "right";
  if (core % every === 0) pen.fillText(String(core), place.left - 5, y);
  if (newest < 0 || core % every !== 0) return;
  const x = place.left + place.shown * place.cell + 6;
  const letter = letterOf(instance, core, newest);
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

const colours = new Map();

/** As `colour`, asked once for each painting of the page. */
function tint(name) {
  if (!colours.has(name)) colours.set(name, colour(name));
  return colours.get(name);
}

/** The colours have changed. */
export function forgetColours() {
  colours.clear();
}
