/*
 * Answers of the server that serves this page, or of the snapshot that this page is.
 *
 * One request serves every section that asks for the same path and query. An answer to another
 * query never shows: each query has an entry of its own.
 */

import { computed, effect, signal, useEffect } from "./vendor/ui.js";
import { currentToken } from "./state.js";
import { MINUTE_MS } from "./words.js";

const TOKEN_HEADER = "Neuron-Emf-Token";
const TIMEOUT_MS = 120_000;
const TICK_MS = 1000;
const COARSE_MS = 10_000; // sections that may turn gray look at the clock this often
const MAX_KEPT_ENTRIES = 24; // entries that no section follows, so that Back shows them at once
export const STALE_MINUTES = 10;

/**
 * Why an answer is missing.
 *
 * @typedef {object} Failure
 * @property {string} kind The server's kind, or `unreachable` or `snapshot`.
 * @property {string} sentence What failed, for people.
 * @property {string} action A command or an IAM action; empty without one.
 */

/**
 * @template T
 * @typedef {object} Answer
 * @property {T | null} value The newest answer; it stays when a later request fails.
 * @property {Failure | null} failure Why the newest request failed; null if it did not.
 * @property {boolean} isLoading True while a request runs.
 * @property {number | null} seconds How long the request has run; null in its first second.
 * @property {() => void} again Asks once more.
 */

/** @typedef {{ value: any, failure: Failure | null, started_ms: number | null }} Shown */

/**
 * @typedef {object} Options
 * @property {number} [every_s] Seconds between two requests; 0 asks once.
 * @property {boolean} [on] False if the section does not ask yet, such as before a button is pressed.
 * @property {string} [method] POST runs what costs something.
 */

const embedded = readSnapshot();

/** True if this page is a snapshot: it has no server. */
export const isSnapshot = embedded !== null;

/** When the snapshot was made; null on a live page. @type {number | null} */
export const snapshotMs = embedded?.made_ms ?? null;

/** True while the reader has stopped updates. */
export const paused = signal(false);

const offsetMs = signal(0);
const tick = signal(Date.now());

/** The time to which the shown data reach; null if unknown. @type {import("./vendor/ui.js").Signal<number | null>} */
export const dataToMs = signal(/** @type {number | null} */ (null));

/** The server's present time, each second; in a snapshot the time at which it was made. */
export const serverMs = computed(() => snapshotMs ?? tick.value + offsetMs.value);

const coarseMs = computed(() => Math.floor(serverMs.value / COARSE_MS) * COARSE_MS);

/** True if the shown data end more than ten minutes ago. */
export const isStale = computed(() => isOlder(dataToMs.value));

/** True if there are data and they are not stale: only then may anything be green. */
export const isCurrent = computed(() => dataToMs.value !== null && !isStale.value);

/**
 * Return True if *ms* is more than ten minutes ago; False if it is unknown.
 *
 * @param {number | null} ms
 */
export function isOlder(ms) {
  return ms !== null && coarseMs.value - ms > STALE_MINUTES * MINUTE_MS;
}

/**
 * Return the key of a request: the path, and the query sorted by name without empty values.
 *
 * @param {string} path
 * @param {Record<string, unknown>} query
 */
export function keyOf(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  given.sort(([one], [other]) => (one < other ? -1 : 1));
  const values = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length ? `${path}?${values}` : path;
}

/**
 * Return True if the page can show the answer at *path* for *query*: a snapshot has only some.
 *
 * @param {string} path
 * @param {Record<string, unknown>} query
 */
export function isAvailable(path, query) {
  return embedded === null || keyOf(path, query) in embedded.answers;
}

function readSnapshot() {
  const element = globalThis.document?.getElementById("snapshot");
  return element ? JSON.parse(element.textContent ?? "null") : null;
}

/** One path and query: its newest answer, and the sections that follow it. */
class Entry {
  /**
   * @param {string} key
   * @param {string} method
   */
  constructor(key, method) {
    this.key = key;
    this.method = method;
    /** @type {import("./vendor/ui.js").Signal<Shown>} */
    this.shown = signal({ value: null, failure: null, started_ms: null });
    /** @type {Set<{ every_s: number }>} */
    this.followers = new Set();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.asked_ms = 0;
  }

  /** Ask now, unless a request runs. */
  async ask() {
    const before = this.shown.peek();
    if (before.started_ms !== null) return;
    clearTimeout(this.timer);
    this.asked_ms = Date.now();
    this.shown.value = { ...before, started_ms: this.asked_ms };
    const { value, failure } = await answerAt(this.key, this.method);
    if (typeof value?.now_ms === "number") offsetMs.value = value.now_ms - Date.now();
    const shownValue = failure === null ? value : before.value;
    this.shown.value = { value: shownValue, failure, started_ms: null };
    noteMissingActions();
    this.schedule();
  }

  /** Ask again after the shortest interval of the followers. A wrong token stays wrong. */
  schedule() {
    clearTimeout(this.timer);
    const periods = [...this.followers].map(({ every_s }) => every_s).filter((every_s) => every_s > 0);
    if (isSnapshot || !periods.length || this.shown.peek().failure?.kind === "token") return;
    const wait_ms = Math.min(...periods) * 1000 - (Date.now() - this.asked_ms);
    this.timer = setTimeout(() => this.askIfSeen(), Math.max(0, wait_ms));
  }

  askIfSeen() {
    if (paused.peek() || document.hidden) return; // wakeAll asks later
    this.ask();
  }

  /** @param {number} every_s */
  follow(every_s) {
    const follower = { every_s };
    this.followers.add(follower);
    const { value, failure, started_ms } = this.shown.peek();
    const isDue = every_s > 0 && Date.now() - this.asked_ms >= every_s * 1000;
    if (started_ms === null && ((value === null && failure === null) || isDue)) this.ask();
    else this.schedule();
    return () => {
      this.followers.delete(follower);
      if (!this.followers.size) clearTimeout(this.timer);
      noteMissingActions();
      evict();
    };
  }
}

/** @type {Map<string, Entry>} */
const entries = new Map();

/** The IAM actions that the shown sections lack, by name. @type {import("./vendor/ui.js").Signal<string[]>} */
export const missingActions = signal(/** @type {string[]} */ ([]));

function noteMissingActions() {
  const failures = [...entries.values()].filter((entry) => entry.followers.size).map((entry) => entry.shown.peek().failure);
  const actions = failures.flatMap((failure) => (failure?.kind === "denied" ? [failure.action] : []));
  const next = [...new Set(actions)].sort();
  if (next.join() !== missingActions.peek().join()) missingActions.value = next;
}

/**
 * @param {string} key
 * @param {string} method
 */
function entryOf(key, method) {
  const name = `${method} ${key}`;
  const entry = entries.get(name) ?? new Entry(key, method);
  entries.delete(name);
  entries.set(name, entry); // the newest last
  return entry;
}

/** Forget the oldest entries that no section follows. */
function evict() {
  const unused = [...entries].filter(([, entry]) => !entry.followers.size && entry.shown.peek().started_ms === null);
  for (const [name] of unused.slice(0, Math.max(0, unused.length - MAX_KEPT_ENTRIES))) entries.delete(name);
}

/**
 * @param {string} key
 * @param {string} method
 * @returns {Promise<{ value: any, failure: Failure | null }>}
 */
async function answerAt(key, method) {
  if (embedded !== null) {
    const value = embedded.answers[key] ?? null;
    if (value?.error) return { value: null, failure: { kind: value.kind, sentence: value.error, action: value.action } };
    const sentence = "This part was not saved in the snapshot. Open the live page to see it.";
    return { value, failure: value === null ? { kind: "snapshot", sentence, action: "neuron-emf page" } : null };
  }
  try {
    const response = await fetch(key, {
      method,
      headers: { [TOKEN_HEADER]: currentToken() },
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const document = await response.json();
    if (response.ok) return { value: document, failure: null };
    const { kind = "fault", error = `The page answered HTTP ${response.status}.`, action = "" } = document;
    return { value: null, failure: { kind, sentence: error, action } };
  } catch {
    const sentence = "The command that serves this page does not answer. Is it still running?";
    return { value: null, failure: { kind: "unreachable", sentence, action: "neuron-emf page" } };
  }
}

/**
 * Return the newest answer at *path* for *query*, and ask again as long as the section is there.
 *
 * @param {string} path
 * @param {Record<string, unknown>} [query]
 * @param {Options} [options]
 * @returns {Answer<any>}
 */
export function useAnswer(path, query = {}, { every_s = 10, on = true, method = "GET" } = {}) {
  const key = keyOf(path, query);
  const entry = entryOf(key, method);
  useEffect(() => (on ? entryOf(key, method).follow(every_s) : undefined), [key, method, on, every_s]);
  const { value, failure, started_ms } = entry.shown.value;
  const isLoading = started_ms !== null || (on && value === null && failure === null);
  const seconds = started_ms === null ? 0 : Math.floor((tick.value - started_ms) / 1000);
  return { value, failure, isLoading, seconds: seconds >= 1 ? seconds : null, again: () => entry.ask() };
}

/**
 * Ask once, outside of a section: each call is a new request.
 *
 * @param {string} path
 * @param {Record<string, unknown>} query
 * @param {string} [method]
 */
export function askOnce(path, query, method = "GET") {
  return answerAt(keyOf(path, query), method);
}

/** Ask once more for everything that failed. */
export function askAgain() {
  for (const entry of entries.values()) {
    if (entry.followers.size && entry.shown.peek().failure) entry.ask();
  }
}

/** Send the requests that became due while the page was hidden or paused. */
function wakeAll() {
  for (const entry of entries.values()) {
    if (entry.followers.size) entry.schedule();
  }
}

if (globalThis.document !== undefined && !isSnapshot) {
  setInterval(() => {
    if (!document.hidden) tick.value = Date.now();
  }, TICK_MS);
  document.addEventListener("visibilitychange", () => {
    tick.value = Date.now();
    if (!document.hidden && !paused.peek()) wakeAll();
  });
  effect(() => {
    if (!paused.value) wakeAll();
  });
}
