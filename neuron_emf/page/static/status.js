/*
 * The status strip: alarms by urgency, age of the data, coverage, silent instances.
 *
 * Nothing is green that is not known, and an absence inside a filter is not shown as an absence.
 */

import { html, useEffect } from "./vendor/ui.js";
import { URGENCIES, firing, isHere } from "./alarms.js";
import { dataToMs, isCurrent, isSnapshot, isStale, serverMs, snapshotMs, STALE_MINUTES, useAnswer } from "./data.js";
import { Icon, Term } from "./parts.js";
import { MINUTE_MS, clock, duration, moment, zoneName } from "./words.js";

const MIN_COVERAGE_PERCENT = 95;

/**
 * Firing alarms by urgency: those of the chosen cluster and of the pipeline, and those elsewhere.
 *
 * @typedef {object} Firing
 * @property {Record<string, number>} here By urgency.
 * @property {number} hereTotal
 * @property {Record<string, number>} there By urgency.
 * @property {number} elsewhere Total of `there`.
 */

/**
 * Count firing alarms; an alarm on several clusters counts once for each of them.
 *
 * @param {import("./types.js").Alarm[]} alarms
 * @param {string} cluster Empty for all.
 * @returns {Firing}
 */
export function countFiring(alarms, cluster) {
  const here = Object.fromEntries(URGENCIES.map((urgency) => [urgency, 0]));
  const there = { ...here };
  for (const line of firing(alarms)) {
    (isHere(line, cluster) ? here : there)[line.urgency] += 1;
  }
  return { here, hereTotal: total(here), there, elsewhere: total(there) };
}

/** @param {Record<string, number>} counts */
function total(counts) {
  return URGENCIES.reduce((sum, urgency) => sum + counts[urgency], 0);
}

/**
 * Return `1 now, 2 today`, without an urgency that has none.
 *
 * @param {Record<string, number>} counts
 */
function byUrgency(counts) {
  return URGENCIES.filter((urgency) => counts[urgency]).map((urgency) => `${counts[urgency]} ${urgency}`).join(", ");
}

/**
 * Return the words about firing alarms, and a detail of those elsewhere.
 *
 * @param {import("./types.js").Alarm[]} alarms
 * @param {string} cluster Empty for all.
 */
export function alarmWords(alarms, cluster) {
  const { here, hereTotal, there, elsewhere } = countFiring(alarms, cluster);
  if (elsewhere) return [`Alarms: ${hereTotal} here, ${elsewhere} elsewhere`, `(${byUrgency(there)})`];
  return [hereTotal ? `Alarms: ${byUrgency(here)}` : "No alarm firing", ""];
}

/** @param {string} id */
function goTo(id) {
  const heading = document.getElementById(`${id}-title`);
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView({ block: "start" });
}

/** @param {{ kind: string, icon: string, to: string, children?: any }} props */
function Item({ kind, icon, to, children }) {
  return html`<li class=${`status-item is-${kind}`}>
    <${Icon} name=${icon} /><button type="button" class="status-link" onClick=${() => goTo(to)}>${children}</button>
  </li>`;
}

/** @param {import("./main.js").SectionProps} props */
export function Status({ state, set, now }) {
  const alarms = useAnswer("/alarms.json");
  useEffect(() => {
    const firing = alarms.value ? countFiring(alarms.value.alarms, "").hereTotal : 0;
    document.title = firing ? `(${firing}) neuron-emf` : "neuron-emf";
  }, [alarms.value]);
  return html`<ul class="status" aria-label="Status">
    <${AlarmItem} state=${state} set=${set} alarms=${alarms} />
    <${AgeItem} now=${now} />
    <${CoverageItem} page=${now.value} />
    <${SilentItem} page=${now.value} />
  </ul>`;
}

/** @param {{ state: import("./state.js").State, set: import("./main.js").Set, alarms: import("./data.js").Answer<import("./types.js").AlarmsAnswer> }} props */
function AlarmItem({ state, set, alarms }) {
  if (!alarms.value) {
    const words = alarms.failure ? "Alarms unknown" : "Reading alarms";
    return html`<${Item} kind="unknown" icon="bell-off" to="alarms">${words}<//>`;
  }
  const { here, hereTotal, there, elsewhere } = countFiring(alarms.value.alarms, state.cluster);
  const isKnown = !alarms.failure && !isStale.value;
  const quiet = isKnown && isCurrent.value ? { kind: "good", icon: "circle-check" } : { kind: "unknown", icon: "bell-off" };
  const worst = here.now + there.now ? { kind: "bad", icon: "circle-alert" } : { kind: "warn", icon: "triangle-alert" };
  const look = hereTotal + elsewhere ? worst : quiet;
  const [words, detail] = alarmWords(alarms.value.alarms, state.cluster);
  return html`<li class=${`status-item is-${look.kind}`}><${Icon} name=${look.icon} />
    <button type="button" class="status-link" onClick=${() => goTo("alarms")}>
      ${words}${detail && html` <span class="status-detail">${detail}</span>`}
      ${!isKnown && html`<span class="soft"> (not current)</span>`}
    </button>
    ${elsewhere > 0 && html`<button type="button" class="status-more" onClick=${() => set({ cluster: "" })}>Show all clusters</button>`}
  </li>`;
}

/** @param {{ now: import("./data.js").Answer<import("./types.js").Now> }} props */
function AgeItem({ now }) {
  if (isSnapshot) {
    const age = duration(Math.floor((Date.now() - (snapshotMs ?? 0)) / MINUTE_MS));
    return html`<${Item} kind="unknown" icon="clock" to="pipeline">Snapshot of ${moment(snapshotMs)}, ${age} old<//>`;
  }
  if (!now.value) {
    return html`<${Item} kind="unknown" icon="clock" to="pipeline">${now.failure ? "Age of the data unknown" : "Reading data"}<//>`;
  }
  const to_ms = dataToMs.value;
  if (to_ms === null) return html`<${Item} kind="bad" icon="clock" to="pipeline">${now.value.words.data}<//>`;
  const minutes = Math.max(0, Math.floor((serverMs.value - to_ms) / MINUTE_MS));
  const isOld = minutes >= STALE_MINUTES || isStale.value;
  const words = `Data to ${clock(to_ms)} ${zoneName()}, ${duration(minutes)} old`;
  return html`<${Item} kind=${isOld ? "bad" : "plain"} icon="clock" to="pipeline">${words}<//>`;
}

/** @param {{ page: import("./types.js").Now | null }} props */
function CoverageItem({ page }) {
  const percent = page?.coverage_percent ?? null;
  const isLow = percent !== null && percent < MIN_COVERAGE_PERCENT;
  const words = page ? page.words.coverage : "Coverage";
  const kind = isLow ? "warn" : "plain";
  return html`<li class=${`status-item live is-${percent === null ? "unknown" : kind}`}><${Icon} name="activity" /><${Term} name="coverage">${words}<//></li>`;
}

/** @param {{ page: import("./types.js").Now | null }} props */
function SilentItem({ page }) {
  const silent = page?.silent ?? null;
  const words = page ? page.words.silent : "Silent instances";
  const kind = silent ? "warn" : "plain";
  return html`<li class=${`status-item live is-${silent === null ? "unknown" : kind}`}><${Icon} name="server" /><${Term} name="silent">${words}<//></li>`;
}
