/*
 * The newest whole minute: instances by cores, the most idle first. A click reads an instance's hour.
 */

import { element, fill, write } from "./dom.js";
import { MINUTE_MS, clock, counted, duration, figure } from "./figures.js";
import { Hour } from "./hour.js";
import { paintCore, penOf } from "./paint.js";
import { addressOf, addressed, ask, busy } from "./source.js";
import { onColours } from "./theme.js";

const ROWS = 50;
const STATES = [["A", 0, "idle, allocated"], ["U", 0, "idle, unallocated"], ["N", 0, "idle, allocation unknown"], ["a", 0, "not busy yet for so long"], ["b", 90, "busy, stronger with utilization"], ["?", null, "unknown"]];
const HEIGHT = 14;
const WIDEST = 18;

/** The part that stays, with an update. */
export class Cores {
  #found = null;
  #most = ROWS;
  #open = null; // cluster and instance whose hour is shown
  #hour = null;
  #rowOf = new Map(); // by button: a name as it is need not be one as it is shown
  #when = element("p", { class: "note" });
  #samples = STATES.map(([letter, utilization, words]) => ({ letter, utilization, words, canvas: element("canvas", { "aria-hidden": "true" }) }));
  #search = element("input", { type: "search", autocomplete: "off" });
  #list = element("ul", { class: "rows" });
  #more = element("button", { type: "button", class: "more" });
  #count = element("span");

  /** *found* is what the search begins with; *changed* is called when it is another one. */
  constructor(target, found, changed) {
    this.#search.value = found;
    fill(target, this.#when,
      element("ul", { class: "key", "aria-label": "Colours" }, ...this.#samples.map(({ canvas, words }) => element("li", {}, canvas, words))),
      element("p", { class: "find" }, element("label", {}, "Find instance, type or owner ", this.#search), this.#count),
      this.#list, this.#more);
    this.#search.addEventListener("input", () => {
      this.#rows();
      changed();
    });
    this.#more.addEventListener("click", () => {
      this.#most += 2 * ROWS;
      this.#rows();
    });
    onColours(() => {
      this.#paint();
      this.#hour?.repaint();
    });
    this.forget();
  }

  /** Nothing is known. */
  forget(words = "Not known yet") {
    this.#found = null;
    this.#open = this.#hour = null;
    this.#most = ROWS;
    write(this.#when, words);
    write(this.#count, "");
    fill(this.#list);
    this.#more.hidden = true;
  }

  /** What is searched. */
  get words() {
    return this.#search.value.trim();
  }

  /** Show the instances on which *words* stand. */
  find(words) {
    this.#search.value = words;
    this.#rows();
  }

  /** Open the hour of the *instance* that the address names, where it is known. */
  lookAt(instance) {
    const found = this.#found?.instances.find((one) => one.instance === instance);
    if (!found || this.#open === keyOf(found)) return;
    if (!this.#buttonOf(keyOf(found))) this.find(instance);
    const button = this.#buttonOf(keyOf(found));
    button.click();
    button.scrollIntoView({ block: "center" });
  }

  /** Whether this minute is shown already. */
  has(minute) {
    return minute !== null && this.#found?.minute_ms === minute;
  }

  update(found) {
    this.#found = found;
    write(this.#when, found.minute_ms === null ? "No minute has been published." : `The minute to ${clock(found.minute_ms + MINUTE_MS)} UTC, the newest whole one. A press on an instance reads its hour.`);
    this.#rows();
    if (!this.#open) this.lookAt(addressed());
  }

  #shown() {
    const words = this.words.toLowerCase();
    const texts = (one) => [one.instance, one.instance_type, one.cluster, ...one.owners];
    return (this.#found?.instances ?? []).filter((one) => !words || texts(one).some((text) => text?.toLowerCase().includes(words)));
  }

  #rows() {
    const shown = this.#shown();
    const had = this.#rowOf.get(document.activeElement);
    write(this.#count, `${figure(shown.length)} of ${counted(this.#found?.instances.length ?? 0, "instance")}`);
    this.#rowOf.clear();
    fill(this.#list, shown.slice(0, this.#most).map((one) => this.#row(one)));
    this.#more.hidden = shown.length <= this.#most;
    write(this.#more, `Show ${figure(Math.min(2 * ROWS, shown.length - this.#most))} more`);
    if (had) this.#buttonOf(keyOf(had))?.focus({ preventScroll: true });
    this.#paint();
  }

  #row(one) {
    const key = keyOf(one);
    const all = this.#found.cluster ? "" : `, ${one.cluster}`;
    const idle = one.idle_cores ? `${figure(one.idle_cores)} idle, ${duration(one.idle_minutes)}` : "none idle";
    const isOpen = this.#open === key;
    const button = element("button", { type: "button", class: "instance", "aria-expanded": String(isOpen) },
      element("span", { class: "who" }, element("bdi", {}, one.instance), element("span", { class: "kind" }, ` ${one.instance_type ?? "unknown type"}${all}`)),
      element("canvas", { class: "strip", "aria-hidden": "true" }),
      element("span", { class: "how-many" }, idle));
    const item = element("li", {}, button);
    this.#rowOf.set(button, one);
    button.addEventListener("click", () => this.#toggle(item, button, one, key));
    if (isOpen && this.#hour) item.append(this.#hour.root);
    return item;
  }

  async #toggle(item, button, one, key) {
    this.#hour?.root.remove();
    this.#list.querySelectorAll(".instance[aria-expanded=true]").forEach((other) => other.setAttribute("aria-expanded", "false"));
    this.#hour = null;
    const closes = this.#open === key;
    this.#open = closes ? null : key;
    history.replaceState(null, "", addressOf(closes ? "" : one.instance));
    if (closes) return;
    button.setAttribute("aria-expanded", "true");
    const note = element("p", { class: "note", role: "status" }, "");
    item.append(note);
    const done = busy(note, "Reading an hour of lines");
    try {
      const hour = await ask("/instance.json", { cluster: one.cluster, instance: one.instance });
      done();
      note.remove();
      if (this.#open !== key) return;
      this.#hour = new Hour(hour);
      this.#buttonOf(key)?.parentNode.append(this.#hour.root);
    } catch (error) {
      done();
      write(note, error.message);
    }
  }

  #paint() {
    this.#samples.forEach(({ canvas, letter, utilization }) => paintCore(penOf(canvas, 14, 12), letter, utilization, 0, 0, 14, 12));
    for (const [button, one] of this.#rowOf) paintStrip(button, one);
  }

  #buttonOf(key) {
    return [...this.#rowOf].find(([, one]) => keyOf(one) === key)?.[0];
  }
}

function keyOf(one) {
  return JSON.stringify([one.cluster, one.instance]);
}

/** The cores of one instance side by side, with a gap after every eight. */
function paintStrip(button, one) {
  const canvas = button.querySelector("canvas");
  const tracks = getComputedStyle(button).gridTemplateColumns.split(" ").map(Number.parseFloat);
  const room = tracks.length > 2 ? tracks[1] : button.clientWidth - 16;
  const gaps = Math.floor((one.states.length - 1) / 8) * 2;
  const cell = Math.max(2, Math.min(WIDEST, Math.floor((room - gaps) / Math.max(1, one.states.length))));
  const pen = penOf(canvas, Math.max(1, one.states.length * cell + gaps), HEIGHT);
  [...one.states].forEach((letter, core) => {
    paintCore(pen, letter, one.utilization[core], core * cell + Math.floor(core / 8) * 2, 0, cell - (cell > 3 ? 1 : 0), HEIGHT);
  });
}
