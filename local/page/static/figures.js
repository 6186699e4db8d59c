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

/** 45 min, 1 h 6 min. */
export function duration(minutes) {
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest ? ` ${rest} min` : ""}`;
}

/** One thing, two things. */
export function counted(number, one, several = `${one}s`) {
  return `${figure(number)} ${number === 1 ? one : several}`;
}
