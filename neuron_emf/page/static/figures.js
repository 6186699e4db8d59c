/*
 * Numbers and times as people read them. All times are UTC, as in CloudWatch.
 */

export const MINUTE_MS = 60_000;
const COARSE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const FINE = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** 52,310 and 39.92 and 0.0412. */
export function figure(value) {
  const size = Math.abs(value);
  if (size >= 1000) return COARSE.format(value);
  return (size !== 0 && size < 1 ? FINE : PLAIN).format(value);
}

/** Hours and minutes. */
export function clock(ms) {
  return new Date(ms).toISOString().slice(11, 16);
}

/** Hours, minutes and seconds. */
export function clockWithSeconds(ms) {
  return new Date(ms).toISOString().slice(11, 19);
}

/** 45 min, 3 h, 3 h 5 min, 2 d 4 h: as neuron_words/now_words.py writes it. */
export function duration(minutes) {
  const [large, size, small] = minutes < 1440 ? ["h", 60, "min"] : ["d", 1440, "h"];
  const rest = Math.floor((minutes % size) / (small === "h" ? 60 : 1));
  const parts = [[Math.floor(minutes / size), large], [rest, small]].filter(([number]) => number);
  return parts.map(([number, unit]) => `${number} ${unit}`).join(" ") || "0 min";
}

/** Bytes as CloudWatch bills them. */
export function megabytes(bytes) {
  return `${figure(bytes / 1e6)} MB`;
}

/** One thing, two things. */
export function counted(number, one, several = `${one}s`) {
  return `${figure(number)} ${number === 1 ? one : several}`;
}
