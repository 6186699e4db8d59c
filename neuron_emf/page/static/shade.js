/*
 * The colour and texture of a core: idle is strong and hatched, busy is calm.
 *
 * Idle for long enough (A, U) is the strongest; not busy yet for so long (a, u) is a tint of
 * it; busy gets stronger with its utilization; unknown is grey with a cross.
 * Who holds an idle core: a stroke is held, a dot is unheld, the same in every tint.
 */

import { colour, onColours } from "./theme.js";

const colours = new Map();
onColours(() => colours.clear());

/** As CSS writes a colour of the stylesheet, asked once for each theme. */
export function tint(name) {
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

/** Held a stroke, unheld a dot, unknown a cross. */
function mark(pen, kind, ink, x, y, width, height) {
  const [cx, cy] = [x + width / 2, y + height / 2];
  if (kind === "u") {
    const size = width > 5 ? 2 : 1;
    pen.fillStyle = ink;
    pen.fillRect(Math.round(cx - size / 2), Math.round(cy - size / 2), size, size);
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
