/*
 * Metric widgets: Plotly draws, and the legend below reads the values.
 *
 * The drawing is static. Pointer and arrow keys move a line over it, and the
 * legend shows the values there; without one, the last. So nothing that comes
 * from a name is ever given to Plotly, which reads markup in its texts.
 */

import { element, fill, printable, write } from "./dom.js";
import { MINUTE_MS, clock, counted, figure } from "./figures.js";
import { layoutOf, MARGIN, tracesOf } from "./drawing.js";
import { kindsOf, swatch } from "./strokes.js";
import { seriesTable } from "./tables.js";

const OPTIONS = { staticPlot: true, displayModeBar: false, showTips: false };
const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

/** A widget's body that stays, with an update. */
export class Chart {
  #widget = null;
  #span = null;
  #kinds = [];
  #times = [];
  #cursor = null; // milliseconds, or null for the last values
  #visible = false;
  #drawn = "";
  #named = "";
  #plot = element("div", { class: "drawing", "aria-hidden": "true" });
  #line = element("div", { class: "cursor", "aria-hidden": "true", hidden: true });
  #stage = element("div", { class: "stage", tabindex: 0, role: "group", "aria-roledescription": "chart" }, this.#plot, this.#line);
  #when = element("p", { class: "when" });
  #legend = element("ul", { class: "legend" });
  #table = element("table");
  #scrolled = element("div", { class: "scrolled", tabindex: 0, role: "group" }, this.#table);
  #behind = element("details", { class: "behind" }, element("summary", {}, "Table"), this.#scrolled);
  body = element("div", { class: "chart" }, this.#stage, this.#when, this.#legend, this.#behind);

  constructor(say) {
    this.#stage.addEventListener("keydown", (event) => this.#key(event, say));
    this.#stage.addEventListener("pointermove", (event) => this.#point(event));
    this.#stage.addEventListener("pointerleave", () => this.#move(null));
    this.#stage.addEventListener("blur", () => this.#move(null));
    this.#behind.addEventListener("toggle", () => this.#fillTable());
    new ResizeObserver(() => this.#draw()).observe(this.#stage);
    new IntersectionObserver(
      ([entry]) => {
        this.#visible = entry.isIntersecting;
        this.#draw();
      },
      { rootMargin: "400px" },
    ).observe(this.#stage);
  }

  update(widget, { start, end, clusters }) {
    this.#widget = widget;
    this.#span = { start, end };
    this.#kinds = kindsOf(widget.series, clusters);
    const inside = widget.series.flatMap((one) => one.points.map(([ms]) => ms)).filter((ms) => ms >= start && ms <= end);
    this.#times = [...new Set(inside)].sort((a, b) => a - b);
    const alone = widget.series.every((one) => !one.points.length);
    for (const one of [this.#stage, this.#when, this.#legend, this.#behind]) one.hidden = alone;
    this.#stage.setAttribute("aria-label", printable(
      `${widget.title}: ${counted(widget.series.length, "series", "series")}, ${clock(start)} to ${clock(end)} UTC. Arrow keys read the values.`,
    ));
    this.#scrolled.setAttribute("aria-label", printable(`${widget.title}, table`));
    if (this.#cursor !== null && !this.#times.includes(this.#cursor)) this.#cursor = null;
    this.#makeLegend();
    this.#fillTable();
    this.#draw();
  }

  /** The colours have changed. */
  repaint() {
    this.#drawn = "";
    this.#draw();
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#stage;
    if (!this.#widget || !this.#visible || !width || !height || this.#stage.hidden) return;
    const key = JSON.stringify([this.#widget.series, this.#widget.axes, this.#span, width, height]);
    if (key !== this.#drawn) {
      this.#drawn = key;
      const right = this.#hasRight();
      Plotly.react(
        this.#plot,
        tracesOf(this.#widget, this.#kinds, this.#span),
        layoutOf(this.#widget, this.#span, { width, height, right }),
        OPTIONS,
      );
    }
    this.#place();
  }

  #hasRight() {
    return this.#widget.series.some((one) => one.axis === "right" && one.points.length);
  }

  #makeLegend() {
    const { series, stacked } = this.#widget;
    const right = this.#hasRight();
    const key = JSON.stringify([series.map((one) => [one.label, one.axis, !one.points.length]), this.#kinds, right]);
    if (key !== this.#named) {
      this.#named = key;
      fill(this.#legend, series.map((one, at) => element(
        "li",
        {},
        swatch(this.#kinds[at], stacked),
        element("bdi", { class: "label" }, one.label),
        right && one.axis === "right" ? element("small", {}, " right axis") : null,
        one.points.length ? element("span", { class: "value" }) : element("span", { class: "value missing" }, "no data"),
      )));
    }
    this.#read();
  }

  /** The values at the cursor, or the last of each series. */
  #values() {
    return this.#widget.series.map((one) => {
      if (this.#cursor === null) return one.points.filter(([ms]) => ms <= this.#span.end).at(-1);
      return one.points.findLast(([ms]) => ms <= this.#cursor && this.#cursor < ms + one.period_s * 1000);
    });
  }

  #read() {
    const newest = this.#times.at(-1);
    const values = this.#values();
    values.forEach((point, at) => {
      const target = this.#legend.children[at]?.querySelector(".value:not(.missing)");
      if (!target) return;
      const old = this.#cursor === null && point && newest - point[0] > 2 * MINUTE_MS;
      write(target, point ? figure(point[1]) + (old ? ` at ${clock(point[0])}` : "") : "no data");
    });
    if (newest !== undefined) {
      write(this.#when, this.#cursor === null ? `last, ${clock(newest)} UTC` : `${clock(this.#cursor)} UTC`);
    }
    return values;
  }

  #fillTable() {
    if (this.#behind.open && this.#widget) fill(this.#table, ...seriesTable(this.#widget, this.#span));
  }

  #move(ms) {
    if (this.#cursor === ms || !this.#widget) return;
    this.#cursor = ms;
    this.#place();
    this.#read();
  }

  /** Put the line over the drawing. */
  #place() {
    this.#line.hidden = this.#cursor === null;
    if (this.#cursor === null) return;
    const { left, width } = this.#area();
    const { start, end } = this.#span;
    this.#line.style.left = `${left + ((this.#cursor - start) / (end - start)) * width}px`;
  }

  #area() {
    const right = this.#hasRight() ? MARGIN.rightAxis : MARGIN.right;
    return { left: MARGIN.left, width: this.#stage.clientWidth - MARGIN.left - right };
  }

  #point(event) {
    const { left, width } = this.#area();
    const share = (event.clientX - this.#stage.getBoundingClientRect().left - left) / width;
    const wanted = this.#span.start + share * (this.#span.end - this.#span.start);
    this.#move(this.#times.length ? this.#times.reduce((a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a)) : null);
  }

  #key(event, say) {
    if (event.target !== this.#stage || !this.#times.length) return;
    const last = this.#times.length - 1;
    const at = this.#cursor === null ? last + 1 : this.#times.indexOf(this.#cursor);
    if (event.key === "Escape") this.#move(null);
    else if (event.key === "Home") this.#move(this.#times[0]);
    else if (event.key === "End") this.#move(this.#times[last]);
    else if (event.key in STEPS) this.#move(this.#times[Math.min(last, Math.max(0, at + STEPS[event.key]))]);
    else return;
    event.preventDefault();
    const values = this.#values();
    const spoken = this.#widget.series.map((one, index) => `${one.label} ${values[index] ? figure(values[index][1]) : "no data"}`);
    say(`${this.#when.textContent}: ${spoken.join(", ")}`);
  }
}
