/*
 * Paint the cores of one instance by minutes on a canvas.
 *
 * The canvas is a picture only. What a keyboard or a voice reads lies over it
 * (hour.js), on the same geometry.
 */

import { clock, duration } from "./figures.js";
import { letterOf, newestOf } from "./instance.js";
import { paintCore, penOf, tint } from "./shade.js";

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
  const pen = penOf(canvas, place.width, place.height);
  pen.font = `${Math.min(11, place.row - 1)}px ui-monospace, "DejaVu Sans Mono", monospace`;
  pen.textBaseline = "middle";
  ticks(pen, minutes, place);
  const newest = newestOf(instance, minutes);
  for (let core = 0; core < instance.cores; core += 1) {
    label(pen, instance, core, newest, place);
    for (let at = place.first; at < minutes.length; at += 1) {
      const letter = letterOf(instance, core, at);
      const [x, y] = [place.left + (at - place.first) * place.cell, place.top + core * place.row];
      const width = place.cell - (place.cell > 4 ? 1 : 0);
      // What is not busy is strong here whatever its time: the hour shows for how long.
      paintCore(pen, letter === "a" || letter === "u" ? letter.toUpperCase() : letter, instance.utilization[core]?.[at] ?? null, x, y, width, place.row - 1);
    }
  }
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
