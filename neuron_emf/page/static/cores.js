/*
 * Cores of the newest whole minute, as a heat map by cluster with the most idle instances first.
 *
 * Few instances are rows, many are tiles. The pointer or the arrow keys lead to a core, whose words
 * are beside it and are read aloud; a click or Enter opens the instance.
 */

import { html, useCallback, useMemo, useState } from "./vendor/ui.js";
import { useAnswer } from "./data.js";
import { Canvas, CellTip, STATES, paintCore, stepOf, useWidth } from "./heat.js";
import { Choice, Name, Notice, Section, Skeleton, Trouble } from "./parts.js";
import { ROW_NAME_PX, coreBox, layoutOf, placeAfter, placeAt, tileBox, topOf } from "./tiles.js";
import { clock, counted, duration, figure, printable, share } from "./words.js";

/** @typedef {import("./types.js").InstanceCores} InstanceCores */
/** @typedef {import("./types.js").CoresAnswer} CoresAnswer */
/** @typedef {import("./main.js").SectionProps} SectionProps */
/** @typedef {import("./heat.js").Pen} Pen */
/** @typedef {import("./heat.js").Colors} Colors */
/** @typedef {import("./tiles.js").Layout} Layout */
/** @typedef {import("./tiles.js").Place} Place */

const MAX_ROWS_AT_FIRST = 16;
const TILES_IN_BLOCK = 200; // one canvas each: those off screen are not painted
const LEGEND = Object.freeze([..."ARUNab?-"]);
const LEGEND_BOX = Object.freeze({ left: 0, top: 0, width: 12, height: 12 });
const BUSY_SAMPLE_PERCENT = 60;
const LABEL_FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';
const VIEWS = [
  { value: "tiles", label: "Map" },
  { value: "rows", label: "Rows" },
];

/** @param {SectionProps} props */
export function Cores({ state, set, now }) {
  const answer = useAnswer("/cores.json", { cluster: state.cluster });
  const [chosenView, setView] = useState("");
  /** @type {CoresAnswer | null} */
  const cores = answer.value;
  const owners = useMemo(() => ownersInFilter(state, now.value), [state.owner, state.team, now.value]);
  const groups = useMemo(() => groupsOf(cores?.instances ?? [], owners), [cores, owners]);
  const shown = groups.reduce((sum, group) => sum + group.instances.length, 0);
  const mostCores = Math.max(0, ...groups.flatMap((group) => group.instances.map((instance) => instance.states.length)));
  const view = chosenView || (shown <= MAX_ROWS_AT_FIRST ? "rows" : "tiles");
  const aside = html`<${Choice} label="View of cores" value=${view} options=${VIEWS} onChange=${setView} />`;
  const title = state.owner || state.team ? `Cores of instances with ${printable(state.owner || state.team)}` : "Cores";
  return html`
    <${Section} id="cores" title=${title} aside=${aside}>
      ${answer.failure && html`<${Trouble} what="The heat map of cores" failure=${answer.failure} again=${answer.again} />`}
      ${!cores && !answer.failure && html`<${Skeleton} rows=${6} />`}
      ${cores && html`
        <${When} cores=${cores} shown=${shown} />
        ${shown > 0 && html`<${Legend} groups=${groups} />`}
        ${shown === 0 && html`<${NoInstances} cores=${cores} set=${set} />`}
        ${groups.map((group) => html`
          <${Group} key=${group.cluster} group=${group} count=${shown} most=${mostCores} isRows=${view === "rows"}
            hasHeading=${!state.cluster} selected=${state.instance} set=${set} />
        `)}
      `}
    <//>
  `;
}

/**
 * Return the names of owners that the filter chooses, null for all.
 * @param {SectionProps["state"]} state
 * @param {import("./types.js").Now | null} now
 */
function ownersInFilter(state, now) {
  if (state.owner) return [state.owner];
  if (!state.team) return null;
  return (now?.owner_names ?? []).filter((row) => row.team === state.team).map((row) => row.owner);
}

/**
 * @typedef {object} Group
 * @property {string} cluster
 * @property {InstanceCores[]} instances
 * @property {number} idle
 * @property {number} cores
 */
/**
 * Return the instances of *owners* by cluster, the cluster with the most idle cores first.
 * @param {readonly InstanceCores[]} instances
 * @param {readonly string[] | null} owners
 * @returns {Group[]}
 */
function groupsOf(instances, owners) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const instance of instances) {
    if (owners && !instance.owners.some((owner) => owners.includes(owner))) continue;
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
  const age = cores.is_old ? `Stale: as of ${clock(cores.minute_ms)}` : `Minute ${clock(cores.minute_ms)}`;
  return html`<p class="cores-when soft">${age}, ${instances}. Point at a core, or Tab to a map and use the arrow keys. Enter or a click opens the instance.</p>`;
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
    words: letter === "a" ? "not busy yet for so long (a tint of its color)" : STATES[letter],
  }));
  return html`
    <ul class="cores-legend" aria-label="Signs of core states">
      ${entries.map(({ letter, words }) => html`
        <li key=${letter} class=${counts[letter] ? "" : "is-absent"}>
          <${Sample} letter=${letter} /> ${words} <span class="number">${figure(counts[letter] ?? 0)}</span>
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

/**
 * The instances of one cluster.
 * @param {{ group: Group, count: number, most: number, isRows: boolean, hasHeading: boolean, selected: string, set: SectionProps["set"] }} props
 */
function Group({ group, count, most, isRows, hasHeading, selected, set }) {
  const [element, width] = useWidth();
  const sizes = useMemo(() => group.instances.map((instance) => instance.states.length), [group]);
  const layout = useMemo(
    () => layoutOf({ width, sizes, count, most, isRows }),
    [width, sizes, count, most, isRows],
  );
  const [place, setPlace] = useState(/** @type {Place | null} */ (null));
  const [isByKey, setByKey] = useState(false);
  const current = place && place.core < (sizes[place.instance] ?? 0) ? place : null;
  const lines = current ? linesOf(group.instances[current.instance], current.core) : [];
  /** @param {Place | null} next @param {boolean} byKey */
  const go = (next, byKey) => {
    setByKey(byKey);
    setPlace(next);
  };
  const open = () => {
    if (current) set({ cluster: group.cluster, instance: group.instances[current.instance].instance });
  };
  /** @param {PointerEvent & { currentTarget: HTMLElement }} event */
  const point = (event) => {
    const bounds = event.currentTarget.getBoundingClientRect();
    go(placeAt(layout, event.clientX - bounds.left, event.clientY - bounds.top), false);
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const step = stepOf(event);
    if (step) go(current ? placeAfter(layout, current, step) : { instance: 0, core: 0 }, true);
    else if (event.key === "Escape") go(null, true);
    else if (event.key === "Enter" || event.key === " ") open();
    else return;
    event.preventDefault();
  };
  const label = `Cores of cluster ${printable(group.cluster)}, ${counted(group.instances.length, "instance")}`;
  return html`
    <div class="cores-group live">
      ${hasHeading && html`
        <h3 class="cores-cluster">
          <${Name} text=${group.cluster} />
          <span class="soft number">${figure(group.idle)} of ${counted(group.cores, "core")} idle (${share(group.idle, group.cores)})</span>
        </h3>
      `}
      <div class="cores-map" ref=${element} tabindex="0" role="application" aria-roledescription="heat map"
        aria-label=${label} onKeyDown=${press} onFocus=${() => current || go({ instance: 0, core: 0 }, true)}
        onBlur=${() => go(null, false)} onPointerMove=${point} onPointerDown=${point}
        onPointerLeave=${() => isByKey || go(null, false)} onClick=${open}>
        ${width > 0 && blocksOf(group.instances, layout).map((block) => html`
          <${Block} key=${block.first} ...${block} layout=${layout} width=${width} selected=${selected} />
        `)}
        ${current && html`<${CellTip} box=${coreBox(layout, current)} lines=${lines} room=${width} follows=${isByKey} />`}
      </div>
      <p class="visually-hidden" aria-live="polite">${isByKey ? lines.join(", ") : ""}</p>
    </div>
  `;
}

/**
 * Return the instances in blocks of whole tile rows, one canvas each.
 * @param {InstanceCores[]} instances
 * @param {Layout} layout
 */
function blocksOf(instances, layout) {
  const size = Math.max(1, Math.floor(TILES_IN_BLOCK / layout.columns)) * layout.columns;
  const blocks = [];
  for (let first = 0; first < instances.length; first += size) {
    blocks.push({ first, instances: instances.slice(first, first + size) });
  }
  return blocks;
}

/** @param {{ first: number, instances: InstanceCores[], layout: Layout, width: number, selected: string }} props */
function Block({ first, instances, layout, width, selected }) {
  const top = topOf(layout, first);
  const paint = useCallback(
    (/** @type {Pen} */ pen, /** @type {Colors} */ colors) => {
      pen.translate(0, -top);
      instances.forEach((instance, offset) => paintTile(pen, colors, { instance, at: first + offset, layout }));
      const offset = instances.findIndex((instance) => instance.instance === selected);
      if (selected && offset >= 0) paintSelection(pen, colors, layout, first + offset);
    },
    [first, instances, layout, selected, top],
  );
  return html`<${Canvas} width=${width} height=${topOf(layout, first + instances.length) - top} paint=${paint} />`;
}

/**
 * @param {Pen} pen
 * @param {Colors} colors
 * @param {{ instance: InstanceCores, at: number, layout: Layout }} tile
 */
function paintTile(pen, colors, { instance, at, layout }) {
  [...instance.states].forEach((letter, core) => {
    paintCore(pen, colors, letter, instance.utilization[core], coreBox(layout, { instance: at, core }));
  });
  if (!layout.isRows && !layout.cellsTop) return;
  const box = tileBox(layout, at);
  pen.font = LABEL_FONT;
  pen.textBaseline = "top";
  pen.fillStyle = colors.text;
  const room = layout.isRows ? ROW_NAME_PX - 8 : box.width;
  pen.fillText(fitted(pen, printable(instance.instance), room), box.left, box.top + 2);
  if (!layout.isRows) return;
  pen.fillStyle = instance.idle_cores ? colors.text : colors.soft;
  pen.fillText(idleWords(instance), box.left + ROW_NAME_PX, box.top + 2);
}

/**
 * Return how many cores are idle; unknown cores are named, because they may be idle.
 * @param {InstanceCores} instance
 */
function idleWords(instance) {
  const unknown = [...instance.states].filter((letter) => letter === "?").length;
  if (unknown === instance.states.length) return "unknown";
  const rest = unknown ? `, ${figure(unknown)} unknown` : "";
  if (!instance.idle_cores) return `none idle${rest}`;
  return `${figure(instance.idle_cores)} idle${rest || `, ${duration(instance.idle_minutes)}`}`;
}

/**
 * Return *text* with its middle left out if it is wider than *room*.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} room
 */
function fitted(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  for (let kept = text.length - 2; kept > 2; kept -= 1) {
    const head = Math.ceil(kept / 3);
    const short = `${text.slice(0, head)}…${text.slice(head - kept)}`;
    if (pen.measureText(short).width <= room) return short;
  }
  return text.slice(-2);
}

/**
 * @param {Pen} pen
 * @param {Colors} colors
 * @param {Layout} layout
 * @param {number} at
 */
function paintSelection(pen, colors, layout, at) {
  const { left, top, height } = tileBox(layout, at);
  const width = Math.min(layout.tileColumns, layout.sizes[at]) * layout.cell;
  pen.strokeStyle = colors.text;
  pen.lineWidth = 2;
  pen.strokeRect(left + layout.cellsLeft - 1, top + layout.cellsTop - 1, width + 1, height - layout.cellsTop + 1);
}

/**
 * Return the words for one core.
 * @param {InstanceCores} instance
 * @param {number} core
 */
function linesOf(instance, core) {
  const letter = instance.states[core];
  const percent = instance.utilization[core];
  const activity = percent === null || percent === undefined ? "" : `, ${figure(percent)} % utilization`;
  const owners = instance.owners.map(printable);
  const more = owners.length > 2 ? ` and ${owners.length - 2} more` : "";
  const names = owners.length ? `Owners here: ${owners.slice(0, 2).join(", ")}${more}` : "No owner here";
  return [
    `${printable(instance.instance)}, core ${core}`,
    `${STATES[letter] ?? letter}${activity}`,
    names,
    `${printable(instance.cluster)}, ${printable(instance.instance_type ?? "unknown type")}`,
  ];
}
