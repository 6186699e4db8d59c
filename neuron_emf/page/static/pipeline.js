/*
 * Health of the pipeline: the last run of close, alarms about the pipeline, what this page has read.
 */

import { html, useState } from "./vendor/ui.js";
import { isOlder, isSnapshot, useAnswer } from "./data.js";
import { Name, Section, Skeleton, Term, Trouble } from "./parts.js";
import { clockWithSeconds, counted, figure, list, megabytes, zoneName } from "./words.js";

const OF_CLOSE = /** @type {[string, string][]} */ ([
  ["MinutesClosed", "Minutes closed"], ["MinutesWaiting", "Minutes waiting"],
  ["RecordsRefused", "Records refused"], ["SecondsBehind", "Seconds behind"],
]);
const STATES = /** @type {[string, string][]} */ ([["ALARM", "firing"], ["INSUFFICIENT_DATA", "without data"], ["OK", "in order"]]);

/** @param {import("./main.js").SectionProps} props */
export function Pipeline({ state, now }) {
  const alarms = useAnswer("/alarms.json");
  const page = now.value;
  return html`<${Section} id="pipeline" title="Pipeline" className="pipeline">
    ${page ? html`<dl class="facts">${facts(page, alarms.value).map(([name, words]) => html`<div key=${name}><dt>${name}</dt><dd>${words}</dd></div>`)}</dl>`
      : html`<${Missing} failure=${now.failure} />`}
    ${page && page.differences.length > 0 && html`<h3>Differences from AWS</h3><ul class="soft">${page.differences.map((/** @type {string} */ line) => html`<li key=${line}>${line}</li>`)}</ul>`}
    ${!isSnapshot && html`<${Queries} range=${state.range} />`}
  <//>`;
}

const SMALLEST_USD = 0.0001;

/**
 * Queries of Logs Insights that the stack saved: none runs before its button is pressed.
 *
 * @param {{ range: string }} props
 */
function Queries({ range }) {
  const [isOpen, setOpen] = useState(false);
  const { value, failure, again } = useAnswer("/queries.json", { range }, { on: isOpen, every_s: 0 });
  const onToggle = (/** @type {any} */ event) => setOpen(event.currentTarget.open);
  return html`<details class="more" onToggle=${onToggle}><summary>Saved queries of CloudWatch Logs Insights</summary>
    ${failure && html`<${Trouble} what="Saved queries" failure=${failure} again=${again} />`}
    ${isOpen && !value && !failure && html`<${Skeleton} />`}
    ${value && !value.queries.length && html`<p class="soft">The stack has no saved queries.</p>`}
    ${value && html`<ul class="queries">${value.queries.map((/** @type {import("./types.js").Query} */ query) => html`<${Query} key=${query.name} query=${query} range=${range} />`)}</ul>`}
  </details>`;
}

/**
 * @param {number} usd
 */
function price(usd) {
  return usd < SMALLEST_USD ? "under 0.0001 USD" : `at most ${usd.toFixed(4)} USD`;
}

/** @param {{ query: import("./types.js").Query, range: string }} props */
function Query({ query, range }) {
  const [isRun, setRun] = useState(false);
  const { value, failure, isLoading, seconds, again } = useAnswer("/query.json", { name: query.name, range }, { on: isRun, every_s: 0, method: "POST" });
  const run = () => (isRun ? again() : setRun(true));
  const words = `${price(query.usd)}, ${megabytes(query.bytes)}`;
  return html`<li><button type="button" class="button" disabled=${isLoading} aria-label=${`Run ${query.name}, ${words}`} onClick=${run}>Run</button>
    <${Name} text=${query.name} /><span class="soft">${words}</span>
    ${isLoading && html`<p class="soft" role="status">The query runs${seconds ? `, ${seconds} s` : ""}</p>`}
    ${failure && html`<${Trouble} what="The query" failure=${failure} />`}
    ${value && html`<p role="status">${counted(value.rows.length, "row")}, ${megabytes(value.bytes)} scanned, ${price(value.usd)}.</p>`}
    ${value?.rows.length > 0 && html`<div class="table-wrap" tabindex="0" role="group" aria-label=${`Rows of ${query.name}`}><table class="table">
      <thead><tr>${value.columns.map((/** @type {string} */ column) => html`<th scope="col" key=${column}>${column}</th>`)}</tr></thead>
      <tbody>${value.rows.map((/** @type {string[]} */ row, /** @type {number} */ index) => html`<tr key=${index}>${row.map((text, at) => html`<td key=${at}><${Name} text=${text} /></td>`)}</tr>`)}</tbody>
    </table></div>`}
  </li>`;
}

/** @param {{ failure: import("./data.js").Failure | null }} props */
function Missing({ failure }) {
  return failure ? html`<p class="soft">Unknown: ${failure.sentence}</p>` : html`<${Skeleton} rows=${3} />`;
}

/**
 * @param {import("./types.js").Now} page
 * @param {import("./types.js").AlarmsAnswer | null} alarms
 * @returns {[any, any][]}
 */
function facts(page, alarms) {
  const rows = closeFacts(page.close);
  for (const [state, words] of alarms ? STATES : []) {
    const titles = alarms?.alarms.filter((alarm) => alarm.is_pipeline && alarm.state === state).map(({ title }) => title) ?? [];
    if (titles.length) rows.push([`Pipeline alarms ${words}`, state === "OK" ? figure(titles.length) : list(titles)]);
  }
  if (!isSnapshot) rows.push(["Read by this page", `${counted(page.traffic.calls, "call")}, ${megabytes(page.traffic.bytes)}`]);
  return rows;
}

/**
 * @param {import("./types.js").Now["close"]} close
 * @returns {[any, any][]}
 */
function closeFacts(close) {
  const title = html`Last run of <${Term} name="close" />`;
  if (!close) return [[title, "It did not run in the last 15 minutes. See the alarms about the pipeline."]];
  const at = `${clockWithSeconds(close.at_ms)} ${zoneName()}`;
  if (isOlder(close.at_ms)) return [[title, `${at}: too old for its numbers. See the alarms about the pipeline.`]];
  return [[title, at], ...OF_CLOSE.filter(([name]) => name in close).map(([name, words]) => /** @type {[any, any]} */ ([words, figure(Number(close[name]))]))];
}
