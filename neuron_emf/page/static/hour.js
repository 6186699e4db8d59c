/*
 * The last hour of one instance: its cores by minutes.
 *
 * Over the picture lies a grid with one row of cells, that of the core where
 * the cursor is: arrow keys go from cell to cell, and one cell of it is in the
 * order of Tab.
 */

import { element, printable, write } from "./dom.js";
import { geometryOf, paint } from "./heat.js";
import { cellWords, holdersOf, summaryOf, titleOf } from "./instance.js";

const HINT = "Point at a cell, or go there with Tab and the arrow keys.";

/** One instance. */
export class Hour {
  #instance = null;
  #minutes = [];
  #place = null;
  #core = 0;
  #ms = null; // minute of the cursor; null for the newest
  #cells = new Map(); // by minute, of the row of the cursor
  #name = element("bdi");
  #kind = element("span", { class: "kind" });
  #summary = element("p", { class: "summary" });
  #holders = element("p", { class: "holders" });
  #canvas = element("canvas", { "aria-hidden": "true" });
  #box = element("div", { class: "here", "aria-hidden": "true", hidden: true });
  #row = element("div", { role: "row" });
  #grid = element("div", { class: "grid", role: "grid" }, this.#row);
  #map = element("div", { class: "map" }, this.#canvas, this.#box, this.#grid);
  #readout = element("p", { class: "readout" }, HINT);
  root = element("article", { class: "hour" }, element("h3", {}, this.#name, " ", this.#kind), this.#summary, this.#holders, this.#map, this.#readout);

  constructor() {
    this.#grid.addEventListener("keydown", (event) => this.#press(event));
    this.#grid.addEventListener("focusin", () => this.#show(this.#core, this.#column()));
    this.#grid.addEventListener("focusout", () => this.#show(null));
    this.#map.addEventListener("pointermove", (event) => this.#show(...this.#under(event)));
    this.#map.addEventListener("pointerleave", () => this.#rest());
    this.#map.addEventListener("click", (event) => this.#go(...this.#under(event)));
    new ResizeObserver(() => this.#lay()).observe(this.#map);
  }

  update(instance) {
    const { minutes } = instance;
    this.#instance = instance;
    this.#minutes = minutes;
    this.#core = Math.max(0, Math.min(this.#core, instance.cores - 1));
    write(this.#name, instance.instance);
    write(this.#kind, titleOf(instance));
    write(this.#summary, summaryOf(instance, minutes));
    const held = holdersOf(instance);
    write(this.#holders, held.length ? `${held.join("; ")}.` : "");
    this.#holders.hidden = !held.length;
    this.#grid.setAttribute("aria-label", printable(`${instance.instance}: cores by minutes`));
    this.#lay();
  }

  repaint() {
    if (this.#place) paint(this.#canvas, this.#instance, this.#minutes, this.#place);
  }

  /** Geometry, picture and cells, of what is known now. */
  #lay() {
    const width = this.#map.clientWidth;
    if (!this.#instance || !width) return;
    this.#place = geometryOf(width, this.#instance.cores, this.#minutes.length);
    this.#map.style.height = `${this.#place.height}px`;
    this.#grid.setAttribute("aria-rowcount", this.#instance.cores);
    this.#grid.setAttribute("aria-colcount", this.#minutes.length);
    this.repaint();
    this.#layRow();
  }

  /** The column of the cursor. */
  #column() {
    const found = this.#ms === null ? -1 : this.#minutes.indexOf(this.#ms);
    const first = this.#place?.first ?? 0;
    return found < first ? (this.#ms !== null && this.#ms < this.#minutes[first] ? first : this.#minutes.length - 1) : found;
  }

  /** Cells that go on existing stay the same elements, so focus stays where it is. */
  #layRow() {
    const { left, top, cell, row, first } = this.#place;
    const here = this.#column();
    const had = this.#grid.contains(document.activeElement);
    this.#row.setAttribute("aria-rowindex", this.#core + 1);
    const kept = new Map();
    for (let at = first; at < this.#minutes.length; at += 1) {
      const one = this.#cells.get(this.#minutes[at]) ?? element("div", { role: "gridcell" });
      one.setAttribute("aria-colindex", at + 1);
      one.setAttribute("aria-label", printable(cellWords(this.#instance, this.#core, at, this.#minutes)));
      one.tabIndex = at === here ? 0 : -1;
      one.style.left = `${left + (at - first) * cell}px`;
      one.style.top = `${top + this.#core * row}px`;
      one.style.width = `${cell}px`;
      one.style.height = `${row}px`;
      kept.set(this.#minutes[at], one);
    }
    for (const [ms, one] of this.#cells) if (!kept.has(ms)) one.remove();
    let before = null;
    for (const one of kept.values()) {
      if (one.parentNode !== this.#row) (before ? before.after(one) : this.#row.prepend(one));
      before = one;
    }
    this.#cells = kept;
    if (had) {
      if (!this.#grid.contains(document.activeElement)) kept.get(this.#minutes[here])?.focus({ preventScroll: true });
      this.#show(this.#core, here);
    }
  }

  #press(event) {
    const { cores } = this.#instance;
    const [core, at, last, first] = [this.#core, this.#column(), this.#minutes.length - 1, this.#place.first];
    const whole = event.ctrlKey || event.metaKey;
    const to = {
      ArrowLeft: [core, at - 1],
      ArrowRight: [core, at + 1],
      ArrowUp: [core - 1, at],
      ArrowDown: [core + 1, at],
      PageUp: [core - 8, at],
      PageDown: [core + 8, at],
      Home: [whole ? 0 : core, first],
      End: [whole ? cores - 1 : core, last],
    }[event.key];
    if (!to || event.altKey) return;
    event.preventDefault();
    this.#go(Math.min(cores - 1, Math.max(0, to[0])), Math.min(last, Math.max(first, to[1])));
  }

  /** Move the cursor; another core gets cells of its own, so that a voice reads them. */
  #go(core, at) {
    if (core === null || core === undefined) return;
    if (core !== this.#core) {
      this.#cells.clear();
      this.#row.replaceChildren();
    }
    this.#core = core;
    this.#ms = at === this.#minutes.length - 1 ? null : this.#minutes[at];
    this.#layRow();
    this.#cells.get(this.#minutes[at])?.focus();
  }

  #under(event) {
    if (!this.#place) return [null];
    const { left, top, cell, row, first } = this.#place;
    const bounds = this.#map.getBoundingClientRect();
    const at = first + Math.floor((event.clientX - bounds.left - left) / cell);
    const core = Math.floor((event.clientY - bounds.top - top) / row);
    const inside = core >= 0 && core < this.#instance.cores && at >= first && at < this.#minutes.length;
    return inside ? [core, at] : [null];
  }

  #rest() {
    if (this.#grid.contains(document.activeElement)) this.#show(this.#core, this.#column());
    else this.#show(null);
  }

  #show(core, at) {
    this.#box.hidden = core === null;
    if (core === null) {
      write(this.#readout, HINT);
      return;
    }
    const { left, top, cell, row, first } = this.#place;
    this.#box.style.left = `${left + (at - first) * cell - 1}px`;
    this.#box.style.top = `${top + core * row - 1}px`;
    this.#box.style.width = `${cell + 1}px`;
    this.#box.style.height = `${row + 1}px`;
    write(this.#readout, cellWords(this.#instance, core, at, this.#minutes));
  }
}
