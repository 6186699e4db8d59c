/*
 * The geometry of the heat map: an instance is a tile of cells, and tiles fill the width.
 *
 * Pure. Few instances are rows with a label; many are small tiles of eight cells a row.
 */

/** @typedef {import("./heat.js").Box} Box */
/**
 * @typedef {object} Shape
 * @property {number} cell pixels from one cell to the next
 * @property {number} tileColumns cells in one row of a tile
 * @property {number} columns tiles in one row
 * @property {number} pitchX pixels from one tile to the next
 * @property {number} gap pixels below a tile
 * @property {number} cellsLeft where the cells of a tile begin
 * @property {number} cellsTop
 * @property {boolean} isRows True if each instance is one row with its label
 */
/**
 * @typedef {Shape & { sizes: readonly number[], tops: number[] }} Layout
 * *sizes*: cores of each instance; *tops*: where each row of tiles begins, and the end of the last.
 */
/** @typedef {{ instance: number, core: number }} Place */

const CORES_PER_TILE_ROW = 8;
/** Pixels of a row's instance ID, and of the words behind it. */
export const ROW_NAME_PX = 150;
const ROW_WORDS_PX = 140;
const NARROW_PX = 560; // below it a row's label is above its cells
const LABEL_LINE_PX = 16;
const ROW_GAP_PX = 5;
const ROW_CELL_PX = [8, 14];
/** Cell sizes by the largest number of instances that they are for. */
const CELL_SIZES_PX = [[40, 12], [120, 9], [400, 7], [Infinity, 5]];
const SMALLEST_LABELED_PX = 12;

/**
 * Return the layout of instances with *sizes* cores. *count* instances are on the whole map, and
 * the largest of them has *most* cores, so that all clusters have cells of one size.
 * @param {{ width: number, sizes: readonly number[], count: number, most: number, isRows: boolean }} map
 * @returns {Layout}
 */
export function layoutOf({ width, sizes, count, most, isRows }) {
  const shape = isRows ? rowsShape(width, most) : tilesShape(width, count, most);
  const tops = [0];
  for (let first = 0; first < sizes.length; first += shape.columns) {
    const largest = Math.max(...sizes.slice(first, first + shape.columns));
    const cells = Math.ceil(largest / shape.tileColumns) * shape.cell;
    const height = isRows ? Math.max(LABEL_LINE_PX, shape.cellsTop + cells) : shape.cellsTop + cells;
    tops.push(tops[tops.length - 1] + height + shape.gap);
  }
  return { ...shape, sizes, tops };
}

/**
 * @param {number} width
 * @param {number} most
 * @returns {Shape}
 */
function rowsShape(width, most) {
  const isNarrow = width < NARROW_PX;
  const cellsLeft = isNarrow ? 0 : ROW_NAME_PX + ROW_WORDS_PX;
  const [least, greatest] = ROW_CELL_PX;
  let tileColumns = Math.max(1, most);
  while (tileColumns > CORES_PER_TILE_ROW && (width - cellsLeft) / tileColumns < least) {
    tileColumns = Math.ceil(tileColumns / 2);
  }
  const cell = Math.max(2, Math.min(greatest, Math.floor((width - cellsLeft) / tileColumns)));
  const cellsTop = isNarrow ? LABEL_LINE_PX : 2;
  return { cell, tileColumns, columns: 1, pitchX: width, gap: ROW_GAP_PX, cellsLeft, cellsTop, isRows: true };
}

/**
 * @param {number} width
 * @param {number} count
 * @param {number} most
 * @returns {Shape}
 */
function tilesShape(width, count, most) {
  const [, cell] = CELL_SIZES_PX.find(([instances]) => count <= instances) ?? CELL_SIZES_PX[0];
  const tileColumns = Math.max(1, Math.min(CORES_PER_TILE_ROW, most));
  const gap = cell + 1;
  const cellsTop = cell >= SMALLEST_LABELED_PX ? LABEL_LINE_PX : 0;
  const pitchX = tileColumns * cell + gap;
  const columns = Math.max(1, Math.floor((width + gap) / pitchX));
  return { cell, tileColumns, columns, pitchX, gap, cellsLeft: 0, cellsTop, isRows: false };
}

/**
 * Return where the row of tiles with the *instance*-th instance begins; after the last instance,
 * where the map ends.
 * @param {Layout} layout
 * @param {number} instance from 0
 */
export function topOf({ tops, columns, sizes }, instance) {
  return tops[instance >= sizes.length ? tops.length - 1 : Math.floor(instance / columns)];
}

/**
 * Return where the tile of the *instance*-th instance is.
 * @param {Layout} layout
 * @param {number} instance from 0
 * @returns {Box}
 */
export function tileBox(layout, instance) {
  const rows = Math.ceil(layout.sizes[instance] / layout.tileColumns);
  return {
    left: (instance % layout.columns) * layout.pitchX,
    top: topOf(layout, instance),
    width: layout.cellsLeft + layout.tileColumns * layout.cell,
    height: layout.cellsTop + rows * layout.cell,
  };
}

/**
 * Return the box of one core.
 * @param {Layout} layout
 * @param {Place} place
 * @returns {Box}
 */
export function coreBox(layout, { instance, core }) {
  const tile = tileBox(layout, instance);
  const size = layout.cell - 1;
  return {
    left: tile.left + layout.cellsLeft + (core % layout.tileColumns) * layout.cell,
    top: tile.top + layout.cellsTop + Math.floor(core / layout.tileColumns) * layout.cell,
    width: size,
    height: size,
  };
}

/**
 * Return the instance and core at a point, or null between tiles. Beside the cells of a row, the
 * core is the nearest one, because the label is a part of the row.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @returns {Place | null}
 */
export function placeAt(layout, x, y) {
  const column = Math.floor(x / layout.pitchX);
  const row = layout.tops.findLastIndex((top) => top <= y);
  const instance = row * layout.columns + column;
  const size = layout.sizes[instance];
  if (x < 0 || y < 0 || column >= layout.columns || !size) return null;
  const tile = tileBox(layout, instance);
  const cell_x = Math.floor((x - tile.left - layout.cellsLeft) / layout.cell);
  const cell_y = Math.floor((y - tile.top - layout.cellsTop) / layout.cell);
  const last = layout.tileColumns - 1;
  if (!layout.isRows && (cell_x < 0 || cell_x > last || cell_y < 0)) return null;
  const core = Math.max(0, cell_y) * layout.tileColumns + Math.min(last, Math.max(0, cell_x));
  if (core < size) return { instance, core };
  return layout.isRows ? { instance, core: size - 1 } : null;
}

/**
 * Return the place that a key leads to: the next cell, or the next tile at a tile's edge.
 * @param {Layout} layout
 * @param {Place} place
 * @param {readonly [number, number]} step columns and rows
 * @returns {Place}
 */
export function placeAfter(layout, place, [columns, rows]) {
  const { sizes, tileColumns } = layout;
  const last = sizes[place.instance] - 1;
  if (columns === -Infinity) return { ...place, core: 0 };
  if (columns === Infinity) return { ...place, core: last };
  const cell_x = (place.core % tileColumns) + columns;
  const cell_y = Math.floor(place.core / tileColumns) + rows;
  let instance = place.instance;
  if (cell_x < 0 || cell_x >= tileColumns || (columns > 0 && place.core === last)) instance += columns;
  else if (cell_y < 0 || cell_y > Math.floor(last / tileColumns)) instance += Math.sign(rows) * layout.columns;
  if (instance < 0 || instance >= sizes.length) return place;
  if (instance === place.instance) return { instance, core: Math.min(last, cell_y * tileColumns + cell_x) };
  const column = (place.core + columns + tileColumns) % tileColumns;
  return { instance, core: entryCore(sizes[instance], tileColumns, column, rows, cell_y) };
}

/**
 * Return the core of the next tile that a step enters: in its last row from below, in its first
 * row from above, in the same row from the side.
 * @param {number} size cores of the tile
 * @param {number} tileColumns
 * @param {number} column
 * @param {number} rows
 * @param {number} cell_y
 */
function entryCore(size, tileColumns, column, rows, cell_y) {
  let row = cell_y;
  if (rows > 0) row = 0;
  if (rows < 0) row = Math.floor((size - 1) / tileColumns);
  return Math.min(size - 1, row * tileColumns + column);
}
