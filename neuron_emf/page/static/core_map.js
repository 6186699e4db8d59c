/*
 * The heat map of one cluster: its instances as rows or tiles, on canvases.
 *
 * The pointer or the arrow keys lead to a core. Its words are shown next to it, and a screen reader
 * reads them. A click or Enter opens the instance.
 */

import { html, useCallback, useMemo, useState } from "./vendor/ui.js";
import { ownersOf } from "./groups.js";
import { Canvas, CellTip, STATES, paintCore, stepOf, useWidth } from "./heat.js";
import { coresOf } from "./hour.js";
import { Name } from "./parts.js";
import { ROW_NAME_PX, coreBox, layoutOf, placeAfter, placeAt, tileBox, topOf } from "./tiles.js";
import { counted, duration, figure, printable, share } from "./words.js";

/** @typedef {import("./types.js").InstanceCores} InstanceCores */
/** @typedef {import("./main.js").SectionProps} SectionProps */
/** @typedef {import("./heat.js").Pen} Pen */
/** @typedef {import("./heat.js").Colors} Colors */
/** @typedef {import("./tiles.js").Layout} Layout */
/** @typedef {import("./tiles.js").Place} Place */
/**
 * @typedef {object} Group
 * @property {string} cluster
 * @property {InstanceCores[]} instances
 * @property {number} idle
 * @property {number} cores
 */

const TILES_IN_BLOCK = 200; // one canvas each: those off screen are not painted
const LABEL_FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';
const MAX_NAMES = 2;

/**
 * The instances of one cluster.
 * @param {{ group: Group, count: number, most: number, isRows: boolean, hasHeading: boolean, selected: string, set: SectionProps["set"] }} props
 */
export function CoreMap({ group, count, most, isRows, hasHeading, selected, set }) {
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
  return [
    `${printable(instance.instance)}, core ${core}`,
    `${STATES[letter] ?? letter}${activity}`,
    ownerWords(instance, core),
    `${printable(instance.cluster)}, ${printable(instance.instance_type ?? "unknown type")}`,
  ];
}

/**
 * Return who holds or reserves a core; where that is not known, who is on its instance.
 * @param {InstanceCores} instance
 * @param {number} core
 */
function ownerWords(instance, core) {
  const owner = (instance.owned ?? []).find(([, cores]) => coresOf(cores).includes(core));
  if (owner) {
    const [name, , team] = owner;
    return `Owner: ${printable(name)}${team ? `, team ${printable(team)}` : ""}`;
  }
  if (instance.states[core].toLowerCase() === "u") return "No owner";
  const names = ownersOf(instance).map(printable);
  if (names.length === 0) return "No owner on this instance";
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `Owners on this instance: ${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}
