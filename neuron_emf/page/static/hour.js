/*
 * The last hour of one instance: its cores by minutes.
 *
 * Over the picture lies a grid with one row of cells, that of the core where
 * the cursor is: arrow keys go from cell to cell, and one cell of it is in the
 * order of Tab.
 */

import { copyButton, element, fill, write } from "./dom.js";
import { cellWords, holdersOf, summaryOf, titleOf } from "./instance.js";
import { geometryOf, paint } from "./paint.js";

const HINT = "Point at a cell, or go there with Tab and the arrow keys.";

/** One instance. */
export class Hour {
  #instance;
  #place = null;
  #core = 0; // of the cursor
  #at; // its minute's place, the newest at first
  #canvas = element("canvas", { "aria-hidden": "true" });
  #box = element("div", { class: "here", "aria-hidden": "true", hidden: true });
  #row = element("div", { role: "row" });
  #grid;
  #map;
  #readout = element("p", { class: "readout" }, HINT);
  root;

  constructor(instance) {
    const [{ cores, minutes }, held] = [instance, holdersOf(instance)];
    this.#instance = instance;
    this.#at = minutes.length - 1;
    this.#grid = element("div", { class: "grid", role: "grid", "aria-label": `${instance.instance}: cores by minutes`, "aria-rowcount": cores, "aria-colcount": minutes.length }, this.#row);
    this.#map = element("div", { class: "map" }, this.#canvas, this.#box, this.#grid);
    this.root = element("article", { class: "hour" },
      element("h3", {}, element("bdi", {}, instance.instance), " ", element("span", { class: "kind" }, titleOf(instance))),
      element("p", { class: "summary" }, summaryOf(instance)),
      held.length ? element("p", { class: "holders" }, `${held.join("; ")}.`) : null,
      this.#map, this.#readout,
      element("ul", { class: "leads" },
        ...instance.commands.map(({ label, text }) => element("li", {}, `${label}: `, element("code", {}, text), " ", copyButton(text))),
        ...Object.entries(instance.links).map(([words, href]) => element("li", {}, element("a", { href, target: "_blank", rel: "noopener noreferrer" }, words)))));
    this.#grid.addEventListener("keydown", (event) => this.#press(event));
    this.#grid.addEventListener("focusin", () => this.#show(this.#core, this.#at));
    this.#grid.addEventListener("focusout", () => this.#show(null));
    this.#map.addEventListener("pointermove", (event) => this.#show(...this.#under(event)));
    this.#map.addEventListener("pointerleave", () => this.#rest());
    this.#map.addEventListener("click", (event) => this.#go(...this.#under(event)));
    new ResizeObserver(() => this.#lay()).observe(this.#map);
  }

  repaint() {
    if (this.#place) paint(this.#canvas, this.#instance, this.#place);
  }

  /** Geometry, picture and cells. */
  #lay() {
    const width = this.#map.clientWidth;
    if (!width) return;
    this.#place = geometryOf(width, this.#instance.cores, this.#instance.minutes.length);
    this.#at = Math.max(this.#at, this.#place.first);
    this.#map.style.height = `${this.#place.height}px`;
    this.repaint();
    const had = this.#grid.contains(document.activeElement);
    this.#layRow();
    if (had) this.#cell()?.focus({ preventScroll: true });
  }

  /** New cells for the core of the cursor, so that a voice reads them. */
  #layRow() {
    const { left, top, cell, row, first } = this.#place;
    this.#row.setAttribute("aria-rowindex", this.#core + 1);
    fill(this.#row, this.#instance.minutes.slice(first).map((_, column) => {
      const at = first + column;
      const one = element("div", { role: "gridcell", tabindex: at === this.#at ? 0 : -1, "aria-colindex": at + 1, "aria-label": cellWords(this.#instance, this.#core, at) });
      Object.assign(one.style, { left: `${left + column * cell}px`, top: `${top + this.#core * row}px`, width: `${cell}px`, height: `${row}px` });
      return one;
    }));
  }

  /** The cell of the cursor. */
  #cell() {
    return this.#row.children[this.#at - this.#place.first];
  }

  #press(event) {
    const { cores, minutes } = this.#instance;
    const [core, at, last, first] = [this.#core, this.#at, minutes.length - 1, this.#place.first];
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

  /** Move the cursor. */
  #go(core, at) {
    if (core === null) return;
    const isOther = core !== this.#core;
    this.#cell().tabIndex = -1;
    [this.#core, this.#at] = [core, at];
    if (isOther) this.#layRow();
    this.#cell().tabIndex = 0;
    this.#cell().focus();
  }

  #under(event) {
    if (!this.#place) return [null];
    const { left, top, cell, row, first } = this.#place;
    const bounds = this.#map.getBoundingClientRect();
    const at = first + Math.floor((event.clientX - bounds.left - left) / cell);
    const core = Math.floor((event.clientY - bounds.top - top) / row);
    const inside = core >= 0 && core < this.#instance.cores && at >= first && at < this.#instance.minutes.length;
    return inside ? [core, at] : [null];
  }

  #rest() {
    if (this.#grid.contains(document.activeElement)) this.#show(this.#core, this.#at);
    else this.#show(null);
  }

  #show(core, at) {
    this.#box.hidden = core === null;
    if (core === null) {
      write(this.#readout, HINT);
      return;
    }
    const { left, top, cell, row, first } = this.#place;
    Object.assign(this.#box.style, { left: `${left + (at - first) * cell - 1}px`, top: `${top + core * row - 1}px`, width: `${cell + 1}px`, height: `${row + 1}px` });
    write(this.#readout, cellWords(this.#instance, core, at));
  }
}
