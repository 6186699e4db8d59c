/*
 * Cores of the newest whole minute, as a heat map by cluster with the most idle instances first.
 *
 * Few instances are rows, many are tiles. The pointer or the arrow keys lead to a core. A click or
 * Enter opens its instance.
 */

import { html, useCallback, useMemo, useState } from "./vendor/ui.js";
import { CoreMap } from "./core_map.js";
import { useAnswer } from "./data.js";
import { isOn } from "./groups.js";
import { Canvas, STATES, paintCore } from "./heat.js";
import { Choice, Notice, Section, Skeleton, Terms, Trouble } from "./parts.js";
import { clock, counted, figure, printable } from "./words.js";

/** @typedef {import("./types.js").InstanceCores} InstanceCores */
/** @typedef {import("./types.js").CoresAnswer} CoresAnswer */
/** @typedef {import("./main.js").SectionProps} SectionProps */
/** @typedef {import("./heat.js").Pen} Pen */
/** @typedef {import("./heat.js").Colors} Colors */
/** @typedef {import("./core_map.js").Group} Group */

const EVERY_S = 20; // a new minute is published once a minute
const MAX_ROWS_AT_FIRST = 16;
const LEGEND = Object.freeze([..."ARUNab?-"]);
const LEGEND_BOX = Object.freeze({ left: 0, top: 0, width: 12, height: 12 });
const BUSY_SAMPLE_PERCENT = 60;
const VIEWS = [
  { value: "tiles", label: "Map" },
  { value: "rows", label: "Rows" },
];

/** @param {SectionProps} props */
export function Cores({ state, set }) {
  const answer = useAnswer("/cores.json", { cluster: state.cluster }, { every_s: EVERY_S });
  const [chosenView, setView] = useState("");
  /** @type {CoresAnswer | null} */
  const cores = answer.value;
  // A minute that is asked for again is the same: its canvases are not painted again.
  const groups = useMemo(
    () => groupsOf((cores?.instances ?? []).filter((instance) => isOn(instance, { team: state.team, owner: state.owner }))),
    [state.cluster, cores?.minute_ms, cores?.instances.length, state.owner, state.team],
  );
  const shown = groups.reduce((sum, group) => sum + group.instances.length, 0);
  const mostCores = Math.max(0, ...groups.flatMap((group) => group.instances.map((instance) => instance.states.length)));
  const view = chosenView || (shown <= MAX_ROWS_AT_FIRST ? "rows" : "tiles");
  const aside = html`<${Choice} label="View of cores" value=${view} options=${VIEWS} onChange=${setView} />`;
  const title = state.owner || state.team ? `Cores of instances with ${printable(state.owner || state.team)}` : "Cores";
  return html`
    <${Section} id="cores" title=${title} aside=${aside} asOf=${cores?.minute_ms ?? null}>
      ${answer.failure && html`<${Trouble} what="The heat map of cores" failure=${answer.failure} again=${answer.again} />`}
      ${!cores && !answer.failure && html`<${Skeleton} rows=${6} />`}
      ${cores && html`
        <${When} cores=${cores} shown=${shown} />
        ${shown > 0 && html`<${Legend} groups=${groups} />`}
        ${shown === 0 && html`<${NoInstances} cores=${cores} set=${set} />`}
        <div class=${`cores-groups is-${view}`}>${groups.map((group) => html`
          <${CoreMap} key=${group.cluster} group=${group} count=${shown} most=${mostCores} isRows=${view === "rows"}
            hasHeading=${!state.cluster} selected=${state.instance} set=${set} />
        `)}</div>
      `}
    <//>
  `;
}

/**
 * Return the instances by cluster, the cluster with the most idle cores first.
 * @param {readonly InstanceCores[]} instances
 * @returns {Group[]}
 */
function groupsOf(instances) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const instance of instances) {
    const { cluster } = instance;
    const group = groups.get(cluster) ?? { cluster, instances: [], idle: 0, cores: 0 };
    group.instances.push(instance);
    group.idle += instance.idle_cores;
    group.cores += instance.states.length;
    groups.set(cluster, group);
  }
  return [...groups.values()].sort((a, b) => b.idle - a.idle || a.cluster.localeCompare(b.cluster));
}

/** @param {{ cores: CoresAnswer, shown: number }} props */
function When({ cores, shown }) {
  if (cores.minute_ms === null) return html`<p class="soft">No minute has been published in the last 15 minutes.</p>`;
  const all = cores.instances.length;
  const instances = shown === all ? counted(all, "instance") : `${figure(shown)} of ${counted(all, "instance")}`;
  return html`<p class="cores-when soft">Minute ${clock(cores.minute_ms)}, ${instances}. Point at a core, or Tab to a map and use the arrow keys. Enter or a click opens the instance.</p>`;
}

/** @param {{ cores: CoresAnswer, set: SectionProps["set"] }} props */
function NoInstances({ cores, set }) {
  const all = cores.instances.length;
  if (all === 0) return cores.minute_ms === null ? null : html`<p>No instance wrote a line in this minute.</p>`;
  const showAll = () => set({ team: "", owner: "" });
  return html`
    <${Notice} kind="info">
      No instance in this filter now; ${counted(all, "instance")} outside it.
      ${" "}<button type="button" class="button button-quiet" onClick=${showAll}>Show all instances</button>
    <//>
  `;
}

/** @param {{ groups: readonly Group[] }} props */
function Legend({ groups }) {
  const counts = useMemo(() => countsOf(groups), [groups]);
  const entries = LEGEND.filter((letter) => counts[letter] || letter !== "a").map((letter) => ({
    letter,
    words: letter === "a" ? "not busy, but not yet idle (a tint of its color)" : STATES[letter],
  }));
  return html`
    <ul class="cores-legend" aria-label="Signs of core states">
      ${entries.map(({ letter, words }) => html`
        <li key=${letter} class=${counts[letter] ? "" : "is-absent"}>
          <${Sample} letter=${letter} /> <${Terms} text=${words} /> <span class="number">${figure(counts[letter] ?? 0)}</span>
        </li>
      `)}
    </ul>
  `;
}

/** @param {{ letter: string }} props */
export function Sample({ letter }) {
  const paint = useCallback(
    (/** @type {Pen} */ pen, /** @type {Colors} */ colors) => {
      paintCore(pen, colors, letter, BUSY_SAMPLE_PERCENT, LEGEND_BOX);
    },
    [letter],
  );
  return html`<${Canvas} width=${12} height=${12} paint=${paint} />`;
}

/**
 * Return how many cores have each letter; every tint counts as `a`.
 * @param {readonly Group[]} groups
 */
function countsOf(groups) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const group of groups) {
    for (const instance of group.instances) {
      for (const letter of instance.states) {
        const entry = "arun".includes(letter) ? "a" : letter;
        counts[entry] = (counts[entry] ?? 0) + 1;
      }
    }
  }
  return counts;
}
