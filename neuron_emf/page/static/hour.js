/*
 * The last hour of one instance: its cores by minutes.
 *
 * The hour ends now and not with the newest line, so that an instance that stopped does not look
 * current: minutes without a line have the sign of no line.
 */

import { html, useCallback, useMemo, useState } from "./vendor/ui.js";
import { serverMs } from "./data.js";
import { Canvas, CellTip, paintCore, stepOf, useWidth } from "./heat.js";
import { MINUTE_MS, clock, duration, figure, printable } from "./words.js";

/** @typedef {import("./types.js").InstanceAnswer} InstanceAnswer */
/** @typedef {import("./types.js").Holder} Holder */
/** @typedef {import("./heat.js").Pen} Pen */
/** @typedef {import("./heat.js").Colors} Colors */

/**
 * @typedef {object} HourGrid
 * @property {number[]} minutes milliseconds of each column
 * @property {string[]} states one letter for each minute, by core
 * @property {(number | null)[][]} utilization by core and minute
 * @property {number | null} newest column of the newest line; null without one
 */
/** @typedef {{ core: number, at: number }} Cell */
/** @typedef {{ left: number, top: number, cell: number, row: number, width: number, height: number }} HourLayout */

const HOUR_MINUTES = 60;
const LATE_MINUTES = 4; // a minute younger than that may still come
const LABELS_PX = 26;
const TOP_PX = 16;
const TICK_PX = 44;
const TICK_WORDS_PX = 30;
const TICK_MINUTES = [5, 10, 15, 30];
const FONT = '10px system-ui, -apple-system, "Segoe UI", sans-serif';
const NO_LINE = "-";
const MAX_CORES = 2048;

/** @type {Record<string, string>} */
export const HOUR_STATES = {
  b: "busy",
  a: "allocated, not busy",
  r: "reserved, not opened",
  u: "unallocated",
  n: "allocation unknown",
  "?": "unknown",
  "-": "no line",
};

/**
 * Return the 60 minutes that end now, with what *answer* has of them.
 * @param {Pick<InstanceAnswer, "minutes" | "states" | "utilization">} answer
 * @param {number} now_ms
 * @returns {HourGrid}
 */
export function hourOf(answer, now_ms) {
  const newestLine_ms = answer.minutes.at(-1) ?? null;
  const due_ms = Math.floor(now_ms / MINUTE_MS) * MINUTE_MS - LATE_MINUTES * MINUTE_MS;
  const last_ms = Math.max(due_ms, newestLine_ms ?? 0);
  const minutes = Array.from({ length: HOUR_MINUTES }, (_, at) => last_ms - (HOUR_MINUTES - 1 - at) * MINUTE_MS);
  const columnOf = new Map(answer.minutes.map((minute_ms, column) => [minute_ms, column]));
  const columns = minutes.map((minute_ms) => columnOf.get(minute_ms) ?? null);
  const cores = Array.from({ length: coreCount(answer) }, (_, core) => core);
  const newest = newestLine_ms === null ? -1 : minutes.indexOf(newestLine_ms);
  return {
    minutes,
    states: cores.map((core) => columns.map((column) => (column === null ? NO_LINE : (answer.states[column][core] ?? NO_LINE))).join("")),
    utilization: cores.map((core) => columns.map((column) => (column === null ? null : (answer.utilization[column][core] ?? null)))),
    newest: newest < 0 ? null : newest,
  };
}

/**
 * Return the number of cores of an instance in its hour.
 * @param {Pick<InstanceAnswer, "states">} answer
 */
export function coreCount({ states }) {
  return Math.max(0, ...states.map((letters) => letters.length));
}

/**
 * Return the core numbers of `0-7,12`.
 * @param {string | undefined} text
 */
export function coresOf(text) {
  return (text ?? "").split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    const isRange = part !== "" && Number.isInteger(first) && Number.isInteger(last) && last - first < MAX_CORES;
    return isRange ? Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset) : [];
  });
}

/**
 * Return who holds or reserves cores, in words.
 * @param {Holder} holder
 */
export function holderName(holder) {
  const facts = [
    holder.Pid === undefined || holder.Pid === null ? "" : `pid ${holder.Pid}`,
    holder.Tag === undefined || holder.Tag === null ? "" : `tag ${holder.Tag}`,
  ];
  const words = facts.filter(Boolean).join(", ");
  if (!holder.Name) return words || "an unnamed process";
  return words ? `${holder.Name} (${words})` : holder.Name;
}

/**
 * Return the words for one cell.
 * @param {HourGrid} grid
 * @param {InstanceAnswer} answer
 * @param {Cell} cell
 */
export function cellLines(grid, answer, { core, at }) {
  const letter = grid.states[core][at];
  const percent = grid.utilization[core][at];
  const activity = percent === null ? "" : `, ${figure(percent)} % utilization`;
  const lines = [`Core ${core}, ${clock(grid.minutes[at])}`, `${HOUR_STATES[letter] ?? letter}${activity}`];
  if (at !== grid.newest) return lines;
  const idle = answer.idle_minutes[core];
  if (idle) lines.push(`not busy for ${duration(idle)}`);
  const holder = answer.holders.find((row) => coresOf(row.Cores).includes(core) && letter === (row.IsReserved ? "r" : "a"));
  if (holder) lines.push(`${holder.IsReserved ? "assigned to" : "held by"} ${printable(holderName(holder))}`);
  return lines;
}

/**
 * @param {number} width
 * @param {number} cores
 * @returns {HourLayout}
 */
function layoutOf(width, cores) {
  const cell = Math.max(3, Math.min(14, Math.floor((width - LABELS_PX) / HOUR_MINUTES)));
  let row = 8;
  if (cores <= 32) row = 12;
  if (cores <= 8) row = 16;
  return { left: LABELS_PX, top: TOP_PX, cell, row, width: LABELS_PX + HOUR_MINUTES * cell, height: TOP_PX + cores * row };
}

/**
 * @param {HourLayout} layout
 * @param {Cell} cell
 */
function boxOf({ left, top, cell, row }, { core, at }) {
  return { left: left + at * cell, top: top + core * row, width: cell - (cell > 4 ? 1 : 0), height: row - 1 };
}

/** @param {{ answer: InstanceAnswer }} props */
export function Hour({ answer }) {
  const [element, width] = useWidth();
  const minute = Math.floor(serverMs.value / MINUTE_MS);
  const grid = useMemo(() => hourOf(answer, minute * MINUTE_MS), [answer, minute]);
  const cores = grid.states.length;
  const layout = useMemo(() => layoutOf(width, cores), [width, cores]);
  const [cursor, setCursor] = useState(/** @type {Cell | null} */ (null));
  const [isByKey, setByKey] = useState(false);
  const current = cursor && cursor.core < cores ? cursor : null;
  const lines = current ? cellLines(grid, answer, current) : [];
  const paint = useCallback(
    (/** @type {Pen} */ pen, /** @type {Colors} */ colors) => paintHour(pen, colors, grid, layout),
    [grid, layout],
  );
  /** @param {Cell | null} next @param {boolean} byKey */
  const go = (next, byKey) => {
    setByKey(byKey);
    setCursor(next);
  };
  const rest = { core: 0, at: grid.newest ?? HOUR_MINUTES - 1 };
  /** @param {PointerEvent & { currentTarget: HTMLElement }} event */
  const point = (event) => {
    const bounds = event.currentTarget.getBoundingClientRect();
    const at = Math.floor((event.clientX - bounds.left - layout.left) / layout.cell);
    const core = Math.floor((event.clientY - bounds.top - layout.top) / layout.row);
    const isInside = core >= 0 && core < cores && at >= 0 && at < HOUR_MINUTES;
    go(isInside ? { core, at } : null, false);
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const step = stepOf(event);
    if (step) {
      event.preventDefault();
      go(current ? cellAfter(current, step, cores) : rest, true);
    } else if (event.key === "Escape" && current) {
      event.stopPropagation();
      go(null, true);
    }
  };
  return html`
    <div class="hour" ref=${element}>
      <div class="hour-map" tabindex="0" role="application" aria-roledescription="heat map"
        aria-label=${`Last hour of ${printable(answer.instance)}, cores by minutes. Use the arrow keys.`}
        onKeyDown=${press} onFocus=${() => current || go(rest, true)} onBlur=${() => go(null, false)}
        onPointerMove=${point} onPointerDown=${point} onPointerLeave=${() => isByKey || go(null, false)}>
        ${width > 0 && html`<${Canvas} width=${layout.width} height=${layout.height} paint=${paint} />`}
        ${current && html`<${CellTip} box=${boxOf(layout, current)} lines=${lines} room=${width} follows=${isByKey} />`}
      </div>
      <p class="visually-hidden" aria-live="polite">${isByKey ? lines.join(", ") : ""}</p>
    </div>
  `;
}

/**
 * @param {Cell} cell
 * @param {readonly [number, number]} step columns and rows
 * @param {number} cores
 * @returns {Cell}
 */
function cellAfter({ core, at }, [columns, rows], cores) {
  return {
    core: Math.min(cores - 1, Math.max(0, core + rows)),
    at: Math.min(HOUR_MINUTES - 1, Math.max(0, at + columns)),
  };
}

/**
 * @param {Pen} pen
 * @param {Colors} colors
 * @param {HourGrid} grid
 * @param {HourLayout} layout
 */
function paintHour(pen, colors, grid, layout) {
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.fillStyle = colors.soft;
  pen.textAlign = "left";
  const step = TICK_MINUTES.find((minutes) => minutes * layout.cell >= TICK_PX) ?? HOUR_MINUTES;
  grid.minutes.forEach((minute_ms, at) => {
    const room = (HOUR_MINUTES - at) * layout.cell;
    if (Math.round(minute_ms / MINUTE_MS) % step || room < TICK_WORDS_PX) return;
    pen.fillText(clock(minute_ms), layout.left + at * layout.cell, layout.top / 2 - 1);
  });
  pen.textAlign = "right";
  grid.states.forEach((letters, core) => {
    if (core % (layout.row >= 12 ? 1 : 4) === 0) {
      pen.fillStyle = colors.soft;
      pen.fillText(String(core), layout.left - 6, layout.top + core * layout.row + layout.row / 2);
    }
    [...letters].forEach((letter, at) => {
      // A core that is not busy has the full color: the hour itself shows for how long.
      const sign = "arun".includes(letter) ? letter.toUpperCase() : letter;
      paintCore(pen, colors, sign, grid.utilization[core][at], boxOf(layout, { core, at }));
    });
  });
}
