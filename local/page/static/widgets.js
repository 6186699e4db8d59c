/*
 * The frame of a widget: its title, what is missing, and a body by its type.
 */

import { alarmBody } from "./alarms.js";
import { Chart } from "./charts.js";
import { drawn, element, fill, write } from "./dom.js";
import { logBody } from "./tables.js";

const BODIES = { metric: (say) => new Chart(say), alarm: alarmBody, log: logBody };

/** A widget that stays, with an update. */
export class Widget {
  #part;
  #title = element("h3");
  #missing = element("div", { class: "absent", hidden: true });
  #key = "";
  root;

  constructor(type, id, say) {
    this.type = type;
    this.#part = BODIES[type]?.(say) ?? unknownBody(type);
    this.root = element("article", { class: `widget ${type}`, id }, this.#title, this.#missing, this.#part.body);
  }

  update(widget, context) {
    const key = JSON.stringify([widget, context]);
    if (key === this.#key) return;
    this.#key = key;
    for (const [name, value] of [["column", widget.x + 1], ["columns", widget.width], ["rows", widget.height]]) {
      this.root.style.setProperty(`--${name}`, value);
    }
    write(this.#title, widget.title);
    const sentences = missingOf(widget);
    this.#missing.hidden = !sentences.length;
    this.root.classList.toggle("lacking", sentences.length > 0);
    if (sentences.length) fill(this.#missing, warning(widget), ...together(sentences));
    this.#part.update(widget, context);
  }

  repaint() {
    this.#part.repaint?.();
  }
}

/** Why a widget, or a series of it, has no data; each sentence once. */
export function missingOf(widget) {
  const own = widget.missing ?? [];
  const series = (widget.series ?? []).map((one) => one.missing).filter(Boolean);
  return [...new Set([...own, ...series])];
}

/** Sentences that end alike, as one with a list. */
function together(sentences) {
  const groups = new Map();
  for (const sentence of sentences) {
    const [, subject, end] = /^(.*?) has (no data.*)$/.exec(sentence) ?? [null, null, sentence];
    groups.set(end, [...(groups.get(end) ?? []), subject].filter(Boolean));
  }
  return [...groups].flatMap(([end, subjects]) => {
    if (subjects.length < 2) return [element("p", {}, subjects.length ? `${subjects[0]} has ${end}` : end)];
    return [element("p", {}, `These have ${end}`), element("ul", {}, ...subjects.map((one) => element("li", {}, one)))];
  });
}

function warning(widget) {
  const part = (widget.series ?? []).some((one) => one.points.length);
  const shape = drawn("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    drawn("path", { d: "M5 1h6l4 4v6l-4 4H5l-4-4V5Z" }), drawn("path", { class: "mark", d: "M8 4v5M8 10.6v1.6" }));
  return element("p", { class: "word" }, shape, part ? " Not all data" : " No data");
}

function unknownBody(type) {
  return { body: element("p", { class: "none" }, `This page draws no widget of type ${type}.`), update() {} };
}
