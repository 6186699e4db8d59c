/*
 * Series as they are drawn: a slot for each, with a color and a second sign, and parts of a sum.
 *
 * Pure, except that a texture is painted on a canvas of its own.
 */

/** @typedef {(number | null)[]} Values */
/**
 * @typedef {object} Series
 * @property {string} label
 * @property {Values} values
 * @property {number} slot from 0 to SLOTS - 1: its color and its dashes
 * @property {boolean} isHidden
 */

export const SLOTS = 9; // eight series and [others]
export const OTHERS = "[others]";
export const OTHERS_SLOT = 8;
/** The second sign of each slot, beside its color. */
export const DASHES = Object.freeze([[], [7, 3], [2, 3], [7, 2, 2, 2], [11, 3], [11, 2, 2, 2, 2, 2], [4, 5], [1, 3], [3, 1]]);
const TEXTURE_PX = 8;
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
    if (label === OTHERS) return OTHERS_SLOT;
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
 * Return the places of values between two gaps: no line leads to them, so each is drawn as a point.
 * @param {ArrayLike<number | null | undefined>} values
 * @returns {number[]}
 */
export function lonePlaces(values) {
  const isKnown = Array.from(values, (value) => value !== null && value !== undefined);
  return [...isKnown.keys()].filter((at) => isKnown[at] && !isKnown[at - 1] && !isKnown[at + 1]);
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
