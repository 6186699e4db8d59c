/*
 * Reading more than three hours back: on request, in steps. The page names the number of calls
 * first.
 */

import { html, signal } from "./vendor/ui.js";
import { askOnce, isSnapshot } from "./data.js";
import { Trouble } from "./parts.js";
import { RANGES, rangeMinutes, state } from "./state.js";
import { clock, counted, duration } from "./words.js";

/** @typedef {import("./types.js").Reading} Reading */

/**
 * The range that is being read and what is left of it; null if nothing is read.
 *
 * @type {import("./vendor/ui.js").Signal<{ range: string, left: Reading } | null>}
 */
const running = signal(/** @type {any} */ (null));

/** @type {import("./vendor/ui.js").Signal<import("./data.js").Failure | null>} */
const failure = signal(/** @type {any} */ (null));

/**
 * Read step by step until all of *range* is read, another range is chosen, or a step fails.
 *
 * @param {string} range
 * @param {Reading} first
 * @param {() => void} onEnd
 */
async function readRange(range, first, onEnd) {
  failure.value = null;
  running.value = { range, left: first };
  while (running.value?.range === range && state.peek().range === range) {
    const step = await askOnce("/read.json", { range }, "POST");
    failure.value = step.failure;
    const left = step.failure ? null : step.value.reading;
    running.value = left && running.value?.range === range ? { range, left } : null;
  }
  running.value = null;
  onEnd();
}

/**
 * What is not read yet of a range, with the button that reads it.
 *
 * @param {{ range: string, reading: Reading | null, again: () => void }} props
 */
export function Reading({ range, reading, again }) {
  if (!reading || isSnapshot) return null;
  const words = RANGES[/** @type {keyof typeof RANGES} */ (range)].words;
  const now = running.value;
  if (now?.range === range) return html`<${Progress} range=${range} left=${now.left} />`;
  return html`${failure.value && html`<${Trouble} what="Older rollups" failure=${failure.value} />`}
    <div class="reading">
      <span>Amounts are known from ${clock(reading.from_ms)}. The rest of the ${words} takes about ${counted(reading.calls, "call")} of FilterLogEvents, which are free.</span>
      <button type="button" class="button" onClick=${() => readRange(range, reading, again)}>Read ${duration(reading.minutes)} more</button>
    </div>`;
}

/** @param {{ range: string, left: Reading }} props */
function Progress({ range, left }) {
  const minutes = rangeMinutes(range);
  return html`<div class="reading" role="status">
    <progress max=${minutes} value=${minutes - left.minutes} aria-label="Minutes read"></progress>
    <span>${duration(left.minutes)} left, about ${counted(left.calls, "call")} of FilterLogEvents</span>
    <button type="button" class="button" onClick=${() => { running.value = null; }}>Stop</button>
  </div>`;
}
