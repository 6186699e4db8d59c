/*
 * Saved queries: what a run costs stands beside its button, and nothing runs without it.
 */

import { element, fill, write } from "./dom.js";
import { counted, megabytes } from "./figures.js";
import { ask, busy } from "./source.js";

const SMALLEST_USD = 0.0001;

/** The queries with their prices for the last *minutes*. */
export function showQueries(target, { queries }, minutes) {
  const items = queries.map((one) => {
    const price = `${one.usd < SMALLEST_USD ? "under 0.0001" : `at most ${one.usd.toFixed(4)}`} USD, ${megabytes(one.bytes)}`;
    const button = element("button", { type: "button" }, "Run");
    button.setAttribute("aria-label", `Run ${one.name}, ${price}`);
    const answer = element("div", { class: "answer" });
    button.addEventListener("click", () => run(one.name, minutes, button, answer));
    return element("li", {}, button, element("span", {}, one.name), element("span", { class: "note" }, price), answer);
  });
  fill(target, items.length ? element("ul", { class: "queries" }, ...items) : element("p", { class: "unknown" }, "The stack has no saved queries."));
}

async function run(name, minutes, button, answer) {
  button.disabled = true;
  const note = element("p", { class: "note", role: "status" });
  fill(answer, note);
  const done = busy(note, "The query runs");
  try {
    const found = await ask("/query.json", { name, minutes }, "POST");
    done();
    write(note, `${counted(found.rows.length, "row")}, ${megabytes(found.bytes)} scanned, ${found.usd < SMALLEST_USD ? "under 0.0001" : found.usd.toFixed(4)} USD.`);
    if (found.rows.length) answer.append(table(found));
  } catch (error) {
    done();
    write(note, error.message);
  }
  button.disabled = false;
}

function table({ name, columns, rows }) {
  const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col" }, column)));
  const body = rows.map((row) => element("tr", {}, ...row.map((text) => element("td", {}, text))));
  return element("div", { class: "scrolled", tabindex: 0, role: "group", "aria-label": `Rows of ${name}` },
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}
