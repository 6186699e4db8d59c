/*
 * The page's state: one object, written to the fragment of the address beside the token.
 *
 * A browser sends a fragment to no server. `read`, `write` and `select` are pure. `state` is the
 * signal that sections follow, and `set` changes it with a history entry.
 */

import { signal } from "./vendor/ui.js";

/**
 * @typedef {object} State
 * @property {string} cluster Cluster name; empty for all.
 * @property {string} team Team name; empty for all.
 * @property {string} owner Owner name; empty for all.
 * @property {string} instance Instance ID whose panel is open; empty for none.
 * @property {string} group Column by which the breakdown groups: a member of GROUPS.
 * @property {string} range Time range: a key of RANGES.
 * @property {string} sort Column by which the breakdown sorts, `-` before it for descending; empty for the answer's order.
 * @property {string} open The one thing that is open, such as `alarm:NAME:CLUSTER`; empty for none.
 */

/** @typedef {Partial<State>} Change */

export const GROUPS = ["owner", "team", "cluster", "type", "instance"];

/** Minutes of each range, and its words. */
export const RANGES = {
  "15m": { minutes: 15, label: "15 min", words: "last 15 minutes" },
  "1h": { minutes: 60, label: "1 h", words: "last hour" },
  "3h": { minutes: 180, label: "3 h", words: "last 3 hours" },
  "6h": { minutes: 360, label: "6 h", words: "last 6 hours" },
  "12h": { minutes: 720, label: "12 h", words: "last 12 hours" },
  "24h": { minutes: 1_440, label: "24 h", words: "last 24 hours" },
  "7d": { minutes: 10_080, label: "7 d", words: "last 7 days" },
  "30d": { minutes: 43_200, label: "30 d", words: "last 30 days" },
};

/** @type {Readonly<State>} */
export const DEFAULTS = Object.freeze({
  cluster: "", team: "", owner: "", instance: "", group: "owner", range: "1h", sort: "", open: "",
});

/** @type {(keyof State)[]} */
const MEMBERS = ["cluster", "team", "owner", "instance", "group", "range", "sort", "open"];
const FILTERS = ["cluster", "team", "owner", "instance"];
const TOKEN = "token";

/** Members that a new value of the key contradicts, unless the same change names them. */
/** @type {Partial<Record<keyof State, (keyof State)[]>>} */
const CONTRADICTS = {
  cluster: ["owner", "instance", "open"],
  team: ["owner", "instance", "open"],
  owner: ["team", "instance", "open"],
  instance: ["team", "owner", "open"],
  group: ["sort", "open"],
};

/**
 * Return the state that *fragment* describes; a group or range that does not exist is the default.
 *
 * @param {string} fragment With or without `#`.
 * @returns {State}
 */
export function read(fragment) {
  const values = new URLSearchParams(fragment.replace(/^#/, ""));
  const found = { ...DEFAULTS };
  for (const member of MEMBERS) found[member] = values.get(member) ?? DEFAULTS[member];
  if (!GROUPS.includes(found.group)) found.group = DEFAULTS.group;
  if (!Object.hasOwn(RANGES, found.range)) found.range = DEFAULTS.range;
  return found;
}

/**
 * Return the token in *fragment*; empty without one.
 *
 * @param {string} fragment
 */
export function readToken(fragment) {
  return new URLSearchParams(fragment.replace(/^#/, "")).get(TOKEN) ?? "";
}

/**
 * Return the fragment of *state*, without `#`; members with their default are left out.
 *
 * @param {State} state
 * @param {string} token Empty for none.
 */
export function write(state, token) {
  const values = new URLSearchParams();
  for (const member of MEMBERS) {
    if (state[member] !== DEFAULTS[member]) values.set(member, state[member]);
  }
  if (token) values.set(TOKEN, token);
  return values.toString();
}

/**
 * Return *state* after *change*: what the change contradicts and does not name is cleared.
 *
 * A value that stays as it is contradicts nothing, and neither does a filter that is cleared.
 *
 * @param {State} state
 * @param {Change} change
 * @returns {State}
 */
export function select(state, change) {
  const next = { ...state, ...change };
  for (const member of MEMBERS) {
    const value = change[member];
    if (value === undefined || value === state[member]) continue;
    const isCleared = value === "" && FILTERS.includes(member);
    const contradicted = isCleared ? ["open"] : (CONTRADICTS[member] ?? []);
    for (const other of /** @type {(keyof State)[]} */ (contradicted)) {
      if (change[other] === undefined) next[other] = DEFAULTS[other];
    }
  }
  return next;
}

/**
 * Return the minutes of *range*.
 *
 * @param {string} range
 */
export function rangeMinutes(range) {
  return RANGES[/** @type {keyof typeof RANGES} */ (range)].minutes;
}

/**
 * Return True if only the ledger has data for the whole of *range*.
 *
 * @param {string} range
 */
export function isLedgerRange(range) {
  return rangeMinutes(range) > RANGES["24h"].minutes;
}

const inBrowser = typeof location !== "undefined";
const token = inBrowser ? readToken(location.hash) : "";

/** The state that is shown. */
export const state = signal(inBrowser ? read(location.hash) : DEFAULTS);

/** The token that data requests send; empty in a snapshot. */
export function currentToken() {
  return token;
}

/**
 * Return the address of the page after *change*, for a link that opens in another tab.
 *
 * @param {Change} change
 */
export function addressOf(change) {
  return `#${write(select(state.value, change), token)}`;
}

/**
 * Change the state and add a history entry, if *change* changes anything.
 *
 * @param {Change} change
 */
export function set(change) {
  const next = select(state.value, change);
  const fragment = write(next, token);
  if (fragment === write(state.value, token)) return;
  history.pushState(null, "", `#${fragment}`);
  state.value = next;
}

/**
 * Replace the state without a history entry: a value that does not exist must not come back by Back.
 *
 * @param {Change} change
 */
export function correct(change) {
  state.value = select(state.value, change);
  history.replaceState(null, "", `#${write(state.value, token)}`);
}

if (inBrowser) {
  const follow = () => {
    state.value = read(location.hash);
    if (readToken(location.hash) !== token) history.replaceState(null, "", `#${write(state.value, token)}`);
  };
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
}
