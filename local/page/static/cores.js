/*
 * The heat map: a panel for each instance, its cores by minutes.
 *
 * Over each picture lies a grid with one row of cells, that of the core where
 * the cursor is: arrow keys go from cell to cell, and one cell of each grid is
 * in the order of Tab.
 */

import { element, fill, printable, write } from "./dom.js";
import { forgetColours, geometryOf, paint, paintSample } from "./heat.js";
import { STATES, cellWords, holdersOf, summaryOf, titleOf } from "./instance.js";
import { shadeText } from "./scale.js";
import { onColours } from "./theme.js";

const HINT = "Point at a cell, or go there with Tab and the arrow keys.";
const SAMPLES = [["b", 80], ["a", 0], ["u", 0], ["?", null], ["-", null]];

/** The section that stays, with an update. */
export class Cores {
  #panels = new Map();
  #title = element("h3", { id: "cores-title" });
  #none = element("p", { class: "none" });
  #list = element("div", { class: "instances" });
  #samples = SAMPLES.map(([letter, utilization]) => ({ letter, utilization, canvas: element("canvas", { width: 14, height: 12, "aria-hidden": "true" }) }));
  root = element("section", { class: "cores", id: "cores", "aria-labelledby": "cores-title" }, this.#title, this.#legend(), this.#none, this.#list);

  constructor() {
    onColours(() => this.repaint());
    this.#paintSamples();
  }

  update(cores, range) {
    const minutes = range ? cores.minutes.filter((ms) => ms >= range.start && ms <= range.end) : cores.minutes;
    const shown = { minutes, from: cores.minutes.length - minutes.length };
    write(this.#title, `Cores of ${cores.cluster}, minute by minute`);
    this.#none.hidden = cores.instances.length > 0;
    write(this.#none, "No line of an instance of this cluster in this time.");
    const panels = cores.instances.map((instance) => {
      const panel = this.#panels.get(instance.instance_id) ?? new Panel();
      this.#panels.set(instance.instance_id, panel);
      return [panel, instance];
    });
    const roots = panels.map(([panel]) => panel.root);
    if (roots.length !== this.#list.children.length || roots.some((root, at) => root !== this.#list.children[at])) {
      fill(this.#list, roots);
    }
    for (const id of this.#panels.keys()) {
      if (!cores.instances.some((one) => one.instance_id === id)) this.#panels.delete(id);
    }
    panels.forEach(([panel, instance]) => panel.update(cut(instance, shown.from), minutes));
  }

  repaint() {
    forgetColours();
    this.#paintSamples();
    this.#panels.forEach((panel) => panel.repaint());
  }

  #legend() {
    const scale = element("span", { class: "scale", "aria-hidden": "true" }, ...Array.from({ length: 21 }, (_, at) => {
      const step = element("span");
      step.style.background = shadeText(at * 5);
      return step;
    }));
    const samples = this.#samples.map(({ letter, canvas }) =>
      element("li", {}, canvas, ` ${letter === "-" ? "" : `${letter} `}${STATES[letter]}`));
    return element(
      "div",
      { class: "key" },
      element("span", {}, "Utilization 0 % ", scale, " 100 %"),
      element("ul", { "aria-label": "States" }, ...samples),
      element("span", {}, "right of each row: its last state, and how long it has not been busy"),
    );
  }

  #paintSamples() {
    this.#samples.forEach(({ canvas, letter, utilization }) => paintSample(canvas, letter, utilization));
  }
}

function cut(instance, from) {
  if (!from) return instance;
  return {
    ...instance,
    states: instance.states.map((letters) => letters.slice(from)),
    utilization: instance.utilization.map((values) => values.slice(from)),
  };
}

/** One instance. */
class Panel {
  #instance = null;
  #minutes = [];
  #place = null;
  #key = "";
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
  root = element("article", { class: "instance" }, element("h4", {}, this.#name, " ", this.#kind), this.#summary, this.#holders, this.#map, this.#readout);

  constructor() {
    this.#grid.addEventListener("keydown", (event) => this.#press(event));
    this.#grid.addEventListener("focusin", () => this.#show(this.#core, this.#column()));
    this.#grid.addEventListener("focusout", () => this.#show(null));
    this.#map.addEventListener("pointermove", (event) => this.#show(...this.#under(event)));
    this.#map.addEventListener("pointerleave", () => this.#rest());
    this.#map.addEventListener("click", (event) => this.#go(...this.#under(event)));
    new ResizeObserver(() => this.#lay()).observe(this.#map);
  }

  update(instance, minutes) {
    const key = JSON.stringify([instance, minutes]);
    if (key === this.#key) return;
    this.#key = key;
    this.#instance = instance;
    this.#minutes = minutes;
    this.#core = Math.max(0, Math.min(this.#core, instance.cores - 1));
    write(this.#name, instance.instance_id);
    write(this.#kind, titleOf(instance));
    write(this.#summary, summaryOf(instance, minutes));
    const held = holdersOf(instance);
    write(this.#holders, held.length ? `${held.join("; ")}.` : "");
    this.#holders.hidden = !held.length;
    this.#grid.setAttribute("aria-label", printable(`${instance.instance_id}: cores by minutes`));
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
