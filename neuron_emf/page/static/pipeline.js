/*
 * Health of the pipeline: the last run of close, alarms about the pipeline, what this page has read.
 */

import { html } from "./vendor/ui.js";
import { isSnapshot, useAnswer } from "./data.js";
import { Section, Skeleton, Term } from "./parts.js";
import { clockWithSeconds, counted, figure, list, megabytes, zoneName } from "./words.js";

const OF_CLOSE = /** @type {[string, string][]} */ ([
  ["MinutesClosed", "Minutes closed"], ["MinutesWaiting", "Minutes waiting"],
  ["RecordsRefused", "Records refused"], ["SecondsBehind", "Seconds behind"],
]);
const STATES = /** @type {[string, string][]} */ ([["ALARM", "firing"], ["INSUFFICIENT_DATA", "without data"], ["OK", "in order"]]);

/** @param {import("./main.js").SectionProps} props */
export function Pipeline({ now }) {
  const alarms = useAnswer("/alarms.json");
  const page = now.value;
  return html`<${Section} id="pipeline" title="Pipeline" className="pipeline">
    ${page ? html`<dl class="facts">${facts(page, alarms.value).map(([name, words]) => html`<div key=${name}><dt>${name}</dt><dd>${words}</dd></div>`)}</dl>`
      : html`<${Missing} failure=${now.failure} />`}
    ${page && page.differences.length > 0 && html`<h3>Differences from AWS</h3><ul class="soft">${page.differences.map((/** @type {string} */ line) => html`<li key=${line}>${line}</li>`)}</ul>`}
  <//>`;
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
  if (!close) return [[title, "None in the last 15 minutes. See the alarms about the pipeline."]];
  const at = `${clockWithSeconds(close.at_ms)} ${zoneName()}`;
  if (close.is_old) return [[title, `${at}: too old for its numbers. See the alarms about the pipeline.`]];
  return [[title, at], ...OF_CLOSE.filter(([name]) => name in close).map(([name, words]) => /** @type {[any, any]} */ ([words, figure(Number(close[name]))]))];
}
