/*
 * What one instance's cores did, in words: for the cells of its hour and the lines above them.
 */

import { clock, counted, duration, figure } from "./figures.js";

const STATES = { b: "busy", a: "allocated, not busy", r: "reserved, not opened", u: "unallocated", n: "allocation unknown", "?": "unknown", "-": "no line" };
const ORDER = ["b", "a", "r", "u", "n", "?"];

/** Core numbers of "0-7,12". */
function coresOf(text) {
  return String(text ?? "").split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Number.isInteger(first) && Number.isInteger(last) && last - first < 2048
      ? Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at)
      : [];
  });
}

/** How many cores are what, now, and how long the longest has been idle. */
export function summaryOf(instance) {
  if (!instance.minutes.length) return "No line of it in this time.";
  const letters = instance.states.map((row) => row.at(-1));
  const counts = ORDER.map((one) => [letters.filter((letter) => letter === one).length, STATES[one]])
    .filter(([number]) => number)
    .map(([number, word]) => `${number} ${word}`);
  // Unknown cores are the last.
  if (instance.unknown_words && letters.includes("?")) counts.push(`${counts.pop()} because ${instance.unknown_words}`);
  const longest = Math.max(0, ...instance.idle_minutes.filter((one) => one !== null));
  const idle = longest ? `; not busy for up to ${duration(longest)}` : "";
  return `${clock(instance.minutes.at(-1))} UTC: ${counts.join(", ")}${idle}.`;
}

/** Who has cores that are not busy, the most idle first, and what else a line tells of them. */
export function holdersOf(instance) {
  const more = instance.holders_more ? [`and ${counted(instance.holders_more, "holder")} more`] : [];
  const told = instance.holders.map((one) => [`${coreWords(one.Cores)} ${ownerWords(one)}`, ...one.Marks].join(", "));
  return [...told, ...more];
}

/** One cell of the heat map. */
export function cellWords(instance, core, at) {
  const [letter, utilization] = [instance.states[core][at], instance.utilization[core][at]];
  const parts = [`core ${core}, ${clock(instance.minutes[at])} UTC: ${STATES[letter] ?? letter}`];
  if (utilization !== null) parts.push(`${figure(utilization)} % utilization`);
  if (at === instance.minutes.length - 1) {
    const idle = instance.idle_minutes[core];
    if (idle) parts.push(`not busy for ${duration(idle)}`);
    const holder = instance.holders.find((one) => coresOf(one.Cores).includes(core));
    if (holder && letter === (holder.IsReserved ? "r" : "a")) parts.push(ownerWords(holder));
  }
  return parts.join(", ");
}

/** Heading of an instance. */
export function titleOf(instance) {
  return `${instance.instance_type ?? "unknown type"}, ${counted(instance.cores, "core")}`;
}

function coreWords(cores) {
  return `${/[-,]/.test(String(cores)) ? "Cores" : "Core"} ${cores}`;
}

function ownerWords(one) {
  return `${one.IsReserved ? "assigned to" : "held by"} ${holderName(one)}`;
}

function holderName(one) {
  const facts = [["pid", one.Pid], ["tag", one.Tag]].filter(([, fact]) => (fact ?? null) !== null);
  const words = facts.map(([what, fact]) => `${what} ${fact}`).join(", ");
  if (!one.Name) return words || "an unnamed process";
  return words ? `${one.Name} (${words})` : one.Name;
}
