/*
 * The dashboard as sections: one for each text widget over its whole width, in the order of the grid.
 *
 * The heat map stands at the head of the section of the chosen cluster.
 */

import { element, fill, write } from "./dom.js";
import { headingOf, paragraphsOf } from "./texts.js";
import { Widget } from "./widgets.js";

const WHOLE = 24;

/** What is under #sections; it stays, with an update. */
export class Sections {
  #root;
  #cores;
  #say;
  #widgets = [];
  #made = "";
  #heads = [];

  constructor(root, cores, say) {
    this.#root = root;
    this.#cores = cores;
    this.#say = say;
  }

  update(page, context) {
    const shape = JSON.stringify(page.widgets.map(({ type, x, y, width, height }) => [type, x, y, width, height]));
    if (shape !== this.#made) {
      this.#make(page.widgets);
      this.#made = shape;
    }
    page.widgets.forEach((widget, at) => this.#widgets[at]?.update(widget, context));
    for (const { index, title, text } of this.#heads) {
      const { markdown } = page.widgets[index];
      write(title, headingOf(markdown) ?? "");
      title.hidden = !headingOf(markdown);
      if (text.dataset.markdown !== markdown) {
        text.dataset.markdown = markdown;
        fill(text, paragraphsOf(markdown));
      }
    }
    this.#seat(page);
  }

  /** Addresses and words of the headings, in their order. */
  jumps() {
    return this.#heads
      .filter(({ title }) => title.tagName === "H2" && !title.hidden)
      .map(({ title }) => [title.id, title.textContent]);
  }

  repaint() {
    this.#widgets.forEach((widget) => widget?.repaint());
  }

  /** Put the heat map where the chosen cluster's part begins, else at the end. */
  #seat(page) {
    const named = (one) => one.index && page.cluster && (headingOf(page.widgets[one.index].markdown) ?? "").endsWith(` ${page.cluster}`);
    const head = this.#heads.find(named);
    const before = head ? head.text.nextSibling : null;
    const parent = head ? head.text.parentNode : this.#root;
    if (this.#cores.parentNode === parent && (before === this.#cores || !head)) return;
    parent.insertBefore(this.#cores, before);
  }

  #make(widgets) {
    this.#heads = [];
    this.#widgets = widgets.map((widget, at) => (widget.type === "text" ? null : new Widget(widget.type, `widget-${at}`, this.#say)));
    const order = widgets.map((_, at) => at).sort((a, b) => widgets[a].y - widgets[b].y || widgets[a].x - widgets[b].x);
    const sections = [];
    let grid = null;
    let top = 0;
    for (const at of order) {
      const widget = widgets[at];
      if (!grid || (widget.type === "text" && widget.width === WHOLE)) {
        const title = element("h2", { id: `section-${sections.length}` });
        const text = element("div", { class: "text" });
        grid = element("div", { class: "widgets" });
        sections.push(element("section", { "aria-labelledby": title.id }, title, text, grid));
        top = widget.y + (widget.type === "text" ? widget.height : 0);
        if (widget.type === "text") {
          this.#heads.push({ index: at, title, text });
          continue;
        }
      }
      if (widget.type === "text") {
        const title = element("h3");
        const text = element("div");
        this.#heads.push({ index: at, title, text });
        const inner = element("article", { class: "widget text" }, title, text);
        place(inner, widget, top);
        grid.append(inner);
        continue;
      }
      place(this.#widgets[at].root, widget, top);
      grid.append(this.#widgets[at].root);
    }
    fill(this.#root, sections);
  }
}

function place(root, widget, top) {
  root.style.setProperty("--row", widget.y - top + 1);
  root.style.setProperty("--column", widget.x + 1);
  root.style.setProperty("--columns", widget.width);
  root.style.setProperty("--rows", widget.height);
}
