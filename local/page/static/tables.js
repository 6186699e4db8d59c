/*
 * Tables: of log widgets, and of the numbers behind a chart.
 */

import { element, fill, printable } from "./dom.js";
import { clock, figure } from "./figures.js";

const NUMBER = /^-?\d+(\.\d+)?$/;
const WORD = /^\S{1,24}$/;
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/** A log widget's body that stays, with an update. */
export function logBody() {
  const table = element("table");
  const none = element("p", { class: "none" }, "No line matches.");
  const scrolled = element("div", { class: "scrolled", tabindex: 0, role: "group" }, table);
  const query = element("code");
  const asked = element("details", { class: "query" }, element("summary", {}, "Query"), query);
  return {
    body: element("div", { class: "log" }, none, scrolled, asked),
    update(widget) {
      scrolled.setAttribute("aria-label", printable(`${widget.title}, table`));
      none.hidden = widget.rows.length > 0 || (widget.missing ?? []).length > 0;
      scrolled.hidden = widget.rows.length === 0;
      fill(query, widget.query);
      fill(table, head(widget.columns, numeric(widget)), rows(widget));
    },
  };
}

/** The numbers of a chart, newest first. */
export function seriesTable(widget, { start, end }) {
  const columns = widget.series.map((one) => new Map(one.points));
  const times = [...new Set(widget.series.flatMap((one) => one.points.map(([ms]) => ms)))]
    .filter((ms) => ms >= start && ms <= end)
    .sort((a, b) => b - a);
  const heads = widget.series.map((one) =>
    element("th", { scope: "col", class: "number" }, one.label, element("small", {}, ` ${one.statistic}`)),
  );
  return [
    element("caption", { class: "heard" }, widget.title),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "UTC"), ...heads)),
    element(
      "tbody",
      {},
      ...times.map((ms) =>
        element("tr", {}, element("th", { scope: "row" }, clock(ms)), ...columns.map((one) => value(one.get(ms)))),
      ),
    ),
  ];
}

function value(number) {
  if (number === undefined) return element("td", { class: "number gap" }, "no data");
  return element("td", { class: "number" }, element("data", { value: number }, figure(number)));
}

function numeric(widget) {
  return widget.columns.map(
    (_, column) => widget.rows.length > 0 && widget.rows.every((row) => row[column] === "" || NUMBER.test(row[column])),
  );
}

/** A heading may break where a word of a metric's name begins. */
function broken(name) {
  return printable(name)
    .split(/(?<=[a-z])(?=[A-Z])/)
    .flatMap((part, at) => (at ? [element("wbr"), part] : [part]));
}

function head(columns, numbers) {
  const cells = columns.map((name, at) =>
    element("th", { scope: "col", class: numbers[at] ? "number" : null }, ...broken(name)),
  );
  return element("thead", {}, element("tr", {}, ...cells));
}

function rows(widget) {
  const numbers = numeric(widget);
  const made = widget.rows.map((row) =>
    element("tr", {}, ...row.map((text, at) => element("td", { class: numbers[at] ? "number" : MOMENT.test(text) ? "moment" : WORD.test(text) ? "whole" : null }, text))),
  );
  return element("tbody", {}, ...made);
}
