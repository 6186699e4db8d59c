/*
 * A row of the breakdown opened: its instances with their cores, who holds them, and the commands.
 */

import { html, useCallback } from "./vendor/ui.js";
import { useAnswer } from "./data.js";
import { isOn } from "./groups.js";
import { Canvas, paintCore } from "./heat.js";
import { Command, Name, Notice, Skeleton, Trouble } from "./parts.js";
import { counted, duration } from "./words.js";

/** @typedef {import("./types.js").BreakdownRow} Row */
/** @typedef {import("./types.js").Holder} Holder */
/** @typedef {import("./types.js").InstanceCores} Instance */
/** @typedef {Pick<import("./main.js").SectionProps, "state" | "set">} Props */

const MAX_INSTANCES = 8; // most idle first; commands.json takes no more
const STRIP_CORES = 32; // in one line of a strip
const CELL = { width: 8, height: 12, gap: 1 };

/**
 * Return what *row* is of, as the state names it.
 *
 * @param {Row} row
 * @param {string} group
 * @returns {{ cluster: string, owner?: string, team?: string, type?: string, instance?: string }}
 */
function subjectOf(row, group) {
  const cluster = row.cluster ?? "";
  if (group === "owner") return { cluster, owner: row.owner ?? "", team: row.team ?? "" };
  if (group === "team") return { cluster, team: row.team ?? "" };
  if (group === "type") return { cluster, type: row.instance_type ?? "" };
  if (group === "instance") return { cluster, instance: row.instance ?? "" };
  return { cluster };
}

/** @param {string[]} marks */
function sentence(marks) {
  const words = marks.join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {{ row: Row, group: string } & Props} props */
export function OpenedRow({ row, group, state, set }) {
  const subject = subjectOf(row, group);
  const cores = useAnswer("/cores.json", { cluster: state.cluster });
  /** @type {Instance[]} */
  const instances = (cores.value?.instances ?? []).filter((/** @type {Instance} */ instance) => isOn(instance, subject));
  const shown = instances.slice(0, MAX_INSTANCES);
  const { cluster, owner } = subject;
  const about = { cluster, owner, instances: shown.map(({ instance }) => instance).join(",") };
  const answer = useAnswer("/commands.json", about, { every_s: 0, on: cores.value !== null });
  return html`<div class="breakdown-opened">
    ${row.cannot_wait && html`<${Notice} kind="bad" title="Cannot wait"><${Name} text=${row.cannot_wait} /><//>`}
    ${row.marks.length > 0 && html`<p><${Name} text=${`${sentence(row.marks)}.`} /></p>`}
    ${cores.failure && html`<${Trouble} what="Its instances" failure=${cores.failure} again=${cores.again} />`}
    ${!cores.value && !cores.failure && html`<${Skeleton} rows=${3} />`}
    ${cores.value && html`<${Instances} shown=${shown} more=${instances.length - shown.length} state=${state} set=${set} />`}
    ${answer.failure && html`<${Trouble} what="Its commands" failure=${answer.failure} again=${answer.again} />`}
    ${answer.value?.commands.map((/** @type {import("./types.js").Command} */ { purpose, text }) => html`<${Command} title=${purpose} text=${text} />`)}
    <${Filter} row=${row} group=${group} state=${state} set=${set} />
  </div>`;
}

/** @param {{ shown: Instance[], more: number } & Props} props */
function Instances({ shown, more, state, set }) {
  if (!shown.length) return html`<p class="soft">No instance with its cores reported in the newest minute.</p>`;
  const show = (/** @type {string} */ instance) => set({ instance, team: state.team, owner: state.owner, open: state.open });
  return html`<ul class="breakdown-instances live">${shown.map((instance) => html`<li key=${instance.instance}>
      <button type="button" class="link breakdown-instance" onClick=${() => show(instance.instance)}><${Name} text=${instance.instance} /></button>
      <span class="soft breakdown-type"><${Name} text=${[instance.instance_type ?? "unknown type", instance.cluster].join(", ")} /></span>
      <${Strip} instance=${instance} />
      <span class="number">${idleWords(instance)}</span>
      ${instance.holders.map((holder) => html`<${HolderLine} holder=${holder} />`)}</li>`)}</ul>
    ${more > 0 && html`<p class="soft">And ${counted(more, "more instance")}: group by instance.</p>`}`;
}

/** @param {Instance} instance */
function idleWords({ idle_cores, idle_minutes }) {
  return idle_cores ? `${counted(idle_cores, "idle core")}, ${duration(idle_minutes)}` : "none idle";
}

/**
 * The cores of one instance, 32 in a line.
 *
 * @param {{ instance: Instance }} props
 */
function Strip({ instance }) {
  const { states, utilization } = instance;
  const across = Math.min(STRIP_CORES, states.length);
  const down = Math.ceil(states.length / STRIP_CORES);
  const paint = useCallback((/** @type {import("./heat.js").Pen} */ pen, /** @type {import("./heat.js").Colors} */ colors) => {
    for (let core = 0; core < states.length; core += 1) {
      const left = (core % STRIP_CORES) * (CELL.width + CELL.gap);
      const top = Math.floor(core / STRIP_CORES) * (CELL.height + CELL.gap);
      paintCore(pen, colors, states[core], utilization[core], { left, top, width: CELL.width, height: CELL.height });
    }
  }, [states, utilization]);
  return html`<${Canvas} className="breakdown-strip" width=${across * (CELL.width + CELL.gap)} height=${down * (CELL.height + CELL.gap)} paint=${paint} />`;
}

/** @param {{ holder: Holder }} props */
function HolderLine({ holder }) {
  const verb = holder.IsReserved ? "assigned to" : "held by";
  const process = [["pid", holder.Pid], ["tag", holder.Tag]].filter(([, value]) => (value ?? null) !== null).map((pair) => pair.join(" "));
  const facts = [...process, ...holder.Marks];
  return html`<p class="breakdown-holder soft">Cores ${holder.Cores ?? "unknown"} ${verb} <${Name} text=${holder.Name ?? "an unnamed process"} />
    ${facts.length > 0 && html`<span>: <${Name} text=${facts.join(", ")} /></span>`}</p>`;
}

/** @param {{ row: Row, group: string } & Props} props */
function Filter({ row, group, state, set }) {
  const { cluster, owner = "", team = "", instance = "" } = subjectOf(row, group);
  const change = { cluster: cluster || state.cluster, owner, team: owner ? "" : team, instance };
  const isFiltered = change.cluster === state.cluster && change.owner === state.owner && change.team === state.team && change.instance === state.instance;
  if (row.is_bracket || group === "type" || isFiltered) return null;
  const words = group === "instance" ? "Show its last hour" : "Show only this";
  return html`<p><button type="button" class="button" onClick=${() => set(change)}>${words}</button></p>`;
}
