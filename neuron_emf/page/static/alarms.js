/*
 * Alarms that fire, the most urgent first; opened, the whole message and its commands.
 *
 * A filter never hides that alarms fire elsewhere. "No alarm" is only said of alarms that were read.
 */

import { html, useState } from "./vendor/ui.js";
import { isCurrent, serverMs, useAnswer } from "./data.js";
import { Command, Icon, Name, Notice, Section, Skeleton, Trouble, Urgency } from "./parts.js";
import { MINUTE_MS, duration, moment, printable } from "./words.js";

/** @typedef {import("./types.js").Alarm} Alarm */

/**
 * An alarm that fires for one cluster, or for the stack.
 *
 * @typedef {object} Firing
 * @property {string} key Unique name of the line, as the member `open` of the state has it.
 * @property {Alarm} alarm
 * @property {string | null} cluster Cluster or function; null if the alarm has no contributors.
 * @property {import("./types.js").Urgency} urgency
 * @property {number | null} since_ms
 * @property {string} reason CloudWatch's own words.
 * @property {import("./types.js").Message | null} message
 */

export const URGENCIES = ["now", "today", "can wait"]; // the most urgent first
const FIRST_LINES = 8;
const COMMAND_LINE = /^\d+\. (\S.*?):? {2,}(\S.*)$/gm;
const MUTABLE = ["IdleCorePercent", "IdleCostPerHour", "NeuronCoreUtilization"]; // metrics whose alarms may be muted
const MUTED_HOURS = 8;
/** @type {[string, string][]} */
const QUIET_STATES = [["OK", "OK"], ["INSUFFICIENT_DATA", "without data"], ["not evaluated", "not evaluated"]];

/**
 * Return a line for each cluster of each alarm in ALARM, the most urgent first.
 *
 * @param {Alarm[]} alarms
 * @returns {Firing[]}
 */
export function firing(alarms) {
  return alarms
    .filter(({ state }) => state === "ALARM")
    .flatMap((alarm) => (alarm.contributors.length ? alarm.contributors.map((row) => lineOf(alarm, row.name, row)) : [lineOf(alarm, null, alarm)]))
    .sort((one, other) => URGENCIES.indexOf(one.urgency) - URGENCIES.indexOf(other.urgency));
}

/**
 * @param {Alarm} alarm
 * @param {string | null} cluster
 * @param {Alarm | import("./types.js").Contributor} row
 * @returns {Firing}
 */
function lineOf(alarm, cluster, { urgency, since_ms, reason, message }) {
  return { key: `alarm:${alarm.name}:${cluster ?? ""}`, alarm, cluster, urgency, since_ms, reason, message };
}

/**
 * Return True if *line* belongs to *cluster*; alarms about the stack belong to every cluster.
 *
 * @param {Firing} line
 * @param {string} cluster Empty for all.
 */
export function isHere(line, cluster) {
  return cluster === "" || line.cluster === null || line.cluster === cluster || line.alarm.is_pipeline;
}

/** @param {import("./main.js").SectionProps} props */
export function Alarms({ state, set, now }) {
  const answer = useAnswer("/alarms.json", {});
  const [isWhole, setIsWhole] = useState(false);
  const lines = answer.value ? firing(answer.value.alarms) : [];
  const here = lines.filter((line) => isHere(line, state.cluster));
  const openAt = here.findIndex(({ key }) => key === state.open);
  const shown = isWhole || openAt >= FIRST_LINES ? here : here.slice(0, FIRST_LINES);
  const aside = answer.value && state.cluster !== "" && html`<${Elsewhere} here=${here.length} all=${lines.length} set=${set} />`;
  return html`<${Section} id="alarms" title="Firing alarms" asOf=${answer.value?.read_ms} aside=${aside}>
    ${answer.failure && html`<${Trouble} what="Alarms" failure=${answer.failure} again=${answer.again} />`}
    ${!answer.value && !answer.failure && html`<${Skeleton} rows=${4} />`}
    ${answer.value && !here.length && html`<${NoAlarm} alarms=${answer.value.alarms} isKnown=${!answer.failure} elsewhere=${lines.length} cluster=${state.cluster} />`}
    ${here.length > 0 && html`<ul class="alarms">
      ${shown.map((line) => html`<${Line} key=${line.key} line=${line} isOpen=${state.open === line.key} region=${now.value?.region ?? null} set=${set} />`)}
    </ul>`}
    ${shown.length < here.length && html`<button type="button" class="button" onClick=${() => setIsWhole(true)}>Show all ${here.length} alarms</button>`}
    ${answer.value && here.length > 0 && html`<p class="soft">${quietWords(answer.value.alarms)}</p>`}
  <//>`;
}

/** @param {{ here: number, all: number, set: import("./main.js").SectionProps["set"] }} props */
function Elsewhere({ here, all, set }) {
  if (here === all) return null;
  return html`<span class="alarms-elsewhere">${here} here, ${all - here} elsewhere
    <button type="button" class="button-quiet" onClick=${() => set({ cluster: "" })}>Show all</button></span>`;
}

/** @param {{ alarms: Alarm[], isKnown: boolean, elsewhere: number, cluster: string }} props */
function NoAlarm({ alarms, isKnown, elsewhere, cluster }) {
  if (!alarms.length) {
    return html`<${Notice} kind="warn" title="The stack has no alarms">Nothing watches its clusters.<${Command} text="neuron-emf check" /><//>`;
  }
  const isGood = isKnown && isCurrent.value && alarms.every(({ state }) => state === "OK");
  return html`<p class=${isGood ? "alarms-none is-good" : "alarms-none"}>
    ${isGood && html`<${Icon} name="circle-check" />`}
    ${elsewhere ? html`No alarm fires for <${Name} text=${cluster} />, ${elsewhere} elsewhere. ` : "No alarm fires. "}
    <span class="soft">${quietWords(alarms)}</span></p>`;
}

/** @param {Alarm[]} alarms */
export function quietWords(alarms) {
  const counts = QUIET_STATES.map(([name, words]) => ({ number: alarms.filter(({ state }) => state === name).length, words }));
  const parts = counts.filter(({ number }) => number).map(({ number, words }) => `${number} ${words}`);
  return parts.length ? `Other alarms: ${parts.join(", ")}.` : "";
}

/** @param {{ line: Firing, isOpen: boolean, region: string | null, set: import("./main.js").SectionProps["set"] }} props */
function Line({ line, isOpen, region, set }) {
  const [urgency, place, title, age, sentence] = wordsOf(line, serverMs.value);
  const toggle = () => set({ open: isOpen ? "" : line.key });
  return html`<li class=${isOpen ? "alarms-line is-open" : "alarms-line"} data-urgency=${line.urgency}>
    <button type="button" class="alarms-head" aria-expanded=${isOpen} onClick=${toggle}>
      <span class="alarms-subject">
        <${Urgency} value=${urgency} />
        <strong><${Name} text=${place} /></strong>
        <span class="soft">${title}</span>
        <span class="alarms-age soft number" title=${`Since ${moment(line.since_ms)}`}>${age}</span>
      </span>
      <span class="alarms-sentence"><bdi>${printable(sentence)}</bdi></span>
    </button>
    ${isOpen && html`<${Opened} line=${line} region=${region} />`}
  </li>`;
}

/**
 * Return what a line of the list of alarms shows, in its order.
 *
 * @param {Firing} line
 * @param {number} now_ms
 * @returns {string[]}
 */
export function wordsOf(line, now_ms) {
  const { alarm, cluster, urgency, since_ms } = line;
  const minutes = since_ms === null ? null : Math.max(0, Math.floor((now_ms - since_ms) / MINUTE_MS));
  return [urgency, cluster ?? (alarm.is_pipeline ? "Stack" : "Clusters"), alarm.title, ageWords(minutes), sentenceOf(line)];
}

/** @param {number | null} minutes */
function ageWords(minutes) {
  if (minutes === null) return "since unknown";
  return minutes < 1 ? "<1 min" : duration(minutes);
}

/** @param {Firing} line */
function sentenceOf({ alarm, message }) {
  return (message ? firstSentence(message) : alarm.description) || alarm.title;
}

/**
 * Return how to mute *alarm* for a night from *now_ms* on; only idle alarms may be muted.
 *
 * @param {Pick<Alarm, "name" | "metrics">} alarm
 * @param {number} now_ms
 * @param {string | null} region
 */
export function muteOf({ name, metrics }, now_ms, region) {
  if (!metrics.some((metric) => MUTABLE.includes(metric))) {
    return { words: "Do not mute this alarm: a fault would go unnoticed.", text: "" };
  }
  const minute = new Date(now_ms).toISOString().slice(0, 16);
  const rule = JSON.stringify({ Schedule: { Expression: `at(${minute})`, Duration: `PT${MUTED_HOURS}H`, Timezone: "UTC" } });
  const place = region ? ` --region ${region}` : "";
  return {
    words: `Mutes this alarm on every cluster for ${MUTED_HOURS} hours. Messages are still written; subscriptions that filter Muted=false do not get them.`,
    text: `aws cloudwatch put-alarm-mute-rule --name ${name}-muted --rule '${rule}' --mute-targets AlarmNames=${name}${place}`,
  };
}

/**
 * Return the first line of *message* without the name of its cluster, which is beside it.
 *
 * @param {import("./types.js").Message} message
 */
export function firstSentence({ text, cluster }) {
  const [line] = text.split("\n");
  return line.startsWith(`${cluster}: `) ? line.slice(`${cluster}: `.length) : line;
}

/**
 * Return each numbered command of *message*: its line, its purpose and its text.
 *
 * @param {import("./types.js").Message} message
 */
export function commandsIn({ text }) {
  return [...text.matchAll(COMMAND_LINE)];
}

/** @param {{ line: Firing, region: string | null }} props */
function Opened({ line, region }) {
  const { alarm, message, reason, since_ms } = line;
  const commands = message ? commandsIn(message) : [];
  const text = message ? rest(message) : "";
  const mute = muteOf(alarm, Math.floor(serverMs.value / MINUTE_MS) * MINUTE_MS, region);
  return html`<div class="alarms-open">
    ${text && html`<p class="alarms-text">${printable(text)}</p>`}
    ${commands.map(([, purpose, command]) => html`<${Command} title=${purpose} text=${command} />`)}
    <p class="soft">Since ${moment(since_ms)}. ${reason && `CloudWatch: ${printable(reason)}`}</p>
    ${alarm.runbook && html`<p><a class="link" href=${alarm.runbook} target="_blank" rel="noreferrer">Runbook <${Icon} name="external-link" /></a></p>`}
    <details class="alarms-mute"><summary>How to mute</summary>
      <p>${mute.words}</p>
      ${mute.text && html`<${Command} text=${mute.text} />`}
    </details>
  </div>`;
}

/**
 * Return the text of *message* without its first sentence, which the head shows, and without its commands.
 *
 * @param {import("./types.js").Message} message
 */
function rest(message) {
  const commands = commandsIn(message).map(([line]) => line);
  return message.text.split("\n").slice(1).filter((line) => !commands.includes(line)).join("\n").trim();
}
