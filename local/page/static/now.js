/*
 * The top of the page: what rings, and which graphs have no data.
 */

import { allLines, headline, quiet, ringing } from "./alarms.js";
import { element, fill } from "./dom.js";
import { counted } from "./figures.js";
import { missingOf } from "./widgets.js";

/** What is under #now; it stays, with an update. */
export class Now {
  #headline = element("span");
  #rings = element("ul", { class: "rings" });
  #quiet = element("p", { class: "quiet" });
  #count = element("span");
  #list = element("ul");
  #lacking = element("details", { class: "without" }, element("summary", {}, this.#count), this.#list);
  #key = "";

  constructor(root) {
    this.root = root;
    fill(root, element("h2", {}, element("span", { role: "status" }, this.#headline)), this.#rings, this.#quiet, this.#lacking);
  }

  update(page) {
    const lines = allLines(page.widgets);
    const lacking = page.widgets.map((widget, at) => [widget, at]).filter(([widget]) => missingOf(widget).length);
    const key = JSON.stringify([lines, lacking.map(([widget, at]) => [widget.title, at])]);
    if (key === this.#key) return;
    this.#key = key;
    const words = headline(lines);
    if (this.#headline.textContent !== words) fill(this.#headline, words);
    this.root.classList.toggle("rings", lines.some((line) => line.state === "ALARM"));
    fill(this.#rings, ringing(lines));
    fill(this.#quiet, quiet(lines) ? `The others: ${quiet(lines)}.` : "");
    this.#lacking.hidden = !lacking.length;
    fill(this.#count, `${counted(lacking.length, "graph has", "graphs have")} no data, or not all of it`);
    fill(this.#list, lacking.map(([widget, at]) => element("li", {}, element("a", { href: `#widget-${at}` }, widget.title))));
  }
}
