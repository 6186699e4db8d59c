/*
 * Alarms that fire, in the first sentence of their messages; and how the others are.
 *
 * A state is a word and a shape; its colour only repeats them.
 */

import { element, fill, printable, renew, withCopies } from "./dom.js";
import { clock, counted, figure } from "./figures.js";
import { say } from "./first.js";

const OTHERS = ["INSUFFICIENT_DATA", "OK", "not evaluated"];
const URGENCIES = ["now", "today", "can wait"]; // the most urgent first
const WORDS = { INSUFFICIENT_DATA: "insufficient data", OK: "OK", "not evaluated": "not evaluated" };

/** One line for each cluster of an alarm, or one for an alarm without clusters, the most urgent first. */
function firing(alarms, cluster) {
  return alarms
    .filter((alarm) => alarm.state === "ALARM")
    .flatMap((alarm) => (alarm.contributors.length
      ? alarm.contributors.map((one) => ({ alarm, name: one.name, reason: one.reason, since: one.since_ms, urgency: one.urgency }))
      : [{ alarm, name: null, reason: alarm.reason, since: alarm.since_ms, urgency: alarm.urgency }]))
    .filter((line) => !cluster || line.name === null || line.name === cluster || line.alarm.is_pipeline)
    .sort((one, other) => URGENCIES.indexOf(one.urgency) - URGENCIES.indexOf(other.urgency));
}

/** Grey, until they are known. */
export function forgetAlarms(target, words = "Not known yet") {
  say("status-alarms", `Alarms ${words.toLowerCase()}`, "unknown");
  fill(target, element("p", { class: "unknown" }, words));
}

/** Show *alarms*, each with the newest of *messages* about it, where those are known. */
export function showAlarms(target, alarms, messages, cluster) {
  const lines = firing(alarms, cluster);
  const [words, kind, sign] = lines.length ? [`${counted(lines.length, "alarm")} firing`, "bad", "▲"]
    : alarms.length ? ["No alarm firing", "good", "●"] : ["The stack has no alarms", "unknown", null];
  say("status-alarms", words, kind, sign);
  const told = lines.map((line) => [line, messageOf(line, messages)]);
  const counts = OTHERS.map((state) => [alarms.filter((alarm) => alarm.state === state).length, WORDS[state]]).filter(([number]) => number);
  renew(target, [told, counts], () => {
    const open = new Set([...target.querySelectorAll(".alarm[open]")].map((one) => one.dataset.key));
    const parts = told.map(([line, message]) => lineOf(line, message, open));
    if (!lines.length) parts.push(element("p", {}, `${words}.`));
    if (counts.length) parts.push(element("p", { class: "note" }, `Other alarms: ${counts.map(([number, state]) => `${figure(number)} ${state}`).join(", ")}.`));
    return parts;
  });
  document.title = `${lines.length ? `(${lines.length}) ` : ""}neuron-emf`;
}

/** The newest message about an alarm: its own, or that of another alarm on the cluster which tells its metric, too. */
function messageOf({ alarm, name }, messages) {
  const isAbout = (one) => one.alarm === alarm.name || one.metrics.some((metric) => alarm.metrics.includes(metric));
  return messages?.find((one) => one.state === "ALARM" && (name === null || one.cluster === name) && isAbout(one)) ?? null;
}

function lineOf({ alarm, name, reason, since, urgency }, message, open) {
  const key = printable(`${alarm.name}/${name}`);
  const where = name === null ? [] : [", ", element("bdi", {}, name)];
  const at = since === null ? "" : ` (since ${clock(since)} UTC)`;
  const whole = message ? message.text : [alarm.description, reason && `CloudWatch: ${reason}`].filter(Boolean).join("\n\n");
  return element("details", { class: "alarm", "data-key": key, open: open.has(key) },
    element("summary", {},
      element("span", { class: "sign bad", "aria-hidden": "true" }, "▲ "),
      element("strong", {}, `${urgency}: `, alarm.title, ...where), ": ",
      element("span", { class: "sentence" }, `${message ? message.first_sentence : alarm.description}${at} `),
      element("span", { class: "say" }, message ? "Whole message" : "Why")),
    withCopies(whole));
}

/** The alarms on the stack itself, in words. */
export function pipelineWords(alarms) {
  const own = alarms.filter((alarm) => alarm.is_pipeline);
  return OTHERS.concat("ALARM").map((state) => [own.filter((alarm) => alarm.state === state), state === "ALARM" ? "firing" : WORDS[state]])
    .filter(([found]) => found.length)
    .map(([found, words]) => [words, found.map((alarm) => alarm.title)]);
}
