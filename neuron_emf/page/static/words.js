/*
 * Numbers, money, durations and times as people read them.
 *
 * null and undefined are unknown and never 0. Times follow the switch between UTC and local time.
 */

import { signal } from "./vendor/ui.js";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const UNKNOWN = "unknown";

const COARSE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const FINE = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const CENTS = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const ZONE_KEY = "neuron-emf-zone";

// Characters that control, reorder or hide the text next to them.
// eslint-disable-next-line no-control-regex
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** @typedef {number | null | undefined} Known */

/** The zone of times, `utc` or `local`; kept by this browser. */
export const zone = signal(rememberedZone());

function rememberedZone() {
  try {
    return globalThis.localStorage?.getItem(ZONE_KEY) === "local" ? "local" : "utc";
  } catch {
    return "utc"; // the browser forbids storage
  }
}

/**
 * Show all times in *chosen* and remember it in this browser.
 *
 * @param {"utc" | "local"} chosen
 */
export function chooseZone(chosen) {
  zone.value = chosen;
  try {
    localStorage.setItem(ZONE_KEY, chosen);
  } catch {
    // the browser forbids storage: the choice lasts as long as the page
  }
}

/**
 * Return *text* with control, bidirectional and invisible characters as \u{...}.
 *
 * @param {unknown} text
 */
export function printable(text) {
  return String(text).replace(HARMFUL, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * Return 52,310 or 39.92 or 0.0412.
 *
 * @param {Known} value
 */
export function figure(value) {
  if (value === null || value === undefined) return UNKNOWN;
  const size = Math.abs(value);
  if (size >= 1000) return COARSE.format(value);
  return (size !== 0 && size < 1 ? FINE : PLAIN).format(value);
}

/**
 * Return 1,234.50; `under 0.01` if it would round to zero.
 *
 * @param {Known} value USD.
 */
export function amount(value) {
  if (value === null || value === undefined) return UNKNOWN;
  return value > 0 && value < 0.005 ? "under 0.01" : CENTS.format(value);
}

/**
 * Return a whole percent, half up, with `<1 %` and `>99 %` where 0 or 100 would not be exact.
 *
 * @param {Known} value Percent.
 */
export function percent(value) {
  if (value === null || value === undefined) return UNKNOWN;
  const nearest = Math.floor(value + 0.5);
  if (nearest === 0 && value) return "<1 %";
  return value < 100 && nearest >= 100 ? ">99 %" : `${nearest} %`;
}

/**
 * Return the share of *part* in *whole* as a whole percent; unknown if the whole is 0.
 *
 * @param {Known} part
 * @param {Known} whole
 */
export function share(part, whole) {
  if (part === null || part === undefined || !whole) return UNKNOWN;
  return percent((part / whole) * 100);
}

/**
 * Return 45 min, 3 h, 3 h 5 min or 2 d 4 h.
 *
 * @param {Known} minutes
 */
export function duration(minutes) {
  if (minutes === null || minutes === undefined) return UNKNOWN;
  const isShort = minutes < 1440;
  const size = isShort ? 60 : 1440;
  const rest = Math.floor((minutes % size) / (isShort ? 1 : 60));
  const parts = [
    [Math.floor(minutes / size), isShort ? "h" : "d"],
    [rest, isShort ? "min" : "h"],
  ].filter(([number]) => number);
  return parts.map(([number, unit]) => `${number} ${unit}`).join(" ") || "0 min";
}

/**
 * Return the ISO text of *ms* in the chosen zone, without a zone at its end.
 *
 * @param {number} ms
 */
function isoIn(ms) {
  const shift = zone.value === "local" ? new Date(ms).getTimezoneOffset() * MINUTE_MS : 0;
  return new Date(ms - shift).toISOString().slice(0, 19);
}

/** Return `UTC`, or the name of the local zone such as `GMT+9`. */
export function zoneName() {
  if (zone.value === "utc") return "UTC";
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "short" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "local time";
}

/**
 * Return hours and minutes, 08:59.
 *
 * @param {Known} ms
 */
export function clock(ms) {
  return ms === null || ms === undefined ? UNKNOWN : isoIn(ms).slice(11, 16);
}

/**
 * Return hours, minutes and seconds, 08:59:30.
 *
 * @param {Known} ms
 */
export function clockWithSeconds(ms) {
  return ms === null || ms === undefined ? UNKNOWN : isoIn(ms).slice(11, 19);
}

/**
 * Return the whole time, 2026-11-28 08:59 UTC.
 *
 * @param {Known} ms
 */
export function moment(ms) {
  if (ms === null || ms === undefined) return UNKNOWN;
  return `${isoIn(ms).slice(0, 16).replace("T", " ")} ${zoneName()}`;
}

/**
 * Return 08:59, or 11-27 08:59 if *ms* is a day or more before *nowMs*.
 *
 * @param {Known} ms
 * @param {number} nowMs
 */
export function since(ms, nowMs) {
  if (ms === null || ms === undefined) return UNKNOWN;
  return nowMs - ms < DAY_MS ? clock(ms) : isoIn(ms).slice(5, 16).replace("T", " ");
}

/**
 * Return how many hours an answer about a range has, and how many the range has.
 *
 * @param {Pick<import("./types.js").RangeHead, "start_ms" | "end_ms" | "missing">} head
 */
export function hoursOf({ start_ms, end_ms, missing }) {
  const all = (end_ms - start_ms) / HOUR_MS;
  const unknown_ms = missing.reduce((sum, [from_ms, to_ms]) => sum + to_ms - from_ms, 0);
  return { known: all - unknown_ms / HOUR_MS, all };
}

/**
 * Return one core, two cores.
 *
 * @param {Known} number
 * @param {string} one
 */
export function counted(number, one, several = `${one}s`) {
  return `${figure(number)} ${number === 1 ? one : several}`;
}

/**
 * Return bytes as CloudWatch bills them.
 *
 * @param {Known} bytes
 */
export function megabytes(bytes) {
  return bytes === null || bytes === undefined ? UNKNOWN : `${figure(bytes / 1e6)} MB`;
}

/**
 * Return `a, b and c`.
 *
 * @param {string[]} words
 */
export function list(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
