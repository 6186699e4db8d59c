/*
 * Rows of the breakdown: owners and instances of now, and amounts of a range, added up by group.
 *
 * Pure. The server sends plain sums. A number of cores is unknown if one of its parts is; an amount
 * covers the parts that are known. Unknown is null, never 0.
 */

import { coresOf } from "./hour.js";

/** @typedef {import("./types.js").Now} Now */
/** @typedef {import("./types.js").InstanceCores} InstanceCores */
/** @typedef {import("./types.js").Amounts} Amounts */
/** @typedef {import("./types.js").BreakdownRow} Row */
/** @typedef {import("./types.js").BreakdownNumbers} Numbers */
/** @typedef {Record<string, any>} Item */
/** @typedef {{ group: string, cluster: string, team: string, owner: string }} Choice */

/**
 * @typedef {object} Rows
 * @property {Row[]} rows Most money first.
 * @property {Numbers} total
 * @property {string[]} notes
 */

/** The members that tell the rows of a group apart. */
const KEYS = /** @type {Record<string, string[]>} */ ({
  owner: ["owner", "cluster"],
  team: ["team"],
  cluster: ["cluster"],
  type: ["instance_type"],
  instance: ["instance", "cluster"],
});
/** Members of a group's rows in addition to those that tell them apart. */
const ALSO = /** @type {Record<string, string>} */ ({ owner: "team", instance: "instance_type" });
const PLACES = ["owner", "team", "cluster", "instance", "instance_type"];
const CORES = ["idle_cores", "cores", "unpriced_cores"];
const OF_RANGE = ["usd", "idle_core_hours"];
const NUMBERS = [...CORES, "usd_per_hour", ...OF_RANGE];
const NO_FACTS = { uses: "", marks: [], is_gone: null, cannot_wait: "" };
const EMPTY = { ...Object.fromEntries([...NUMBERS, ...PLACES, "idle_minutes", "since_ms"].map((name) => [name, null])), ...NO_FACTS };
const ORDER = ["usd", "usd_per_hour", "idle_cores"];
const LEAST_HOURS = 1e-6; // what rounding leaves of equal sums

const OTHERS = "[others]";
const NO_TEAM = "[no team]";
const UNNAMED = "[unnamed]";
const NOT_REPORTED = "[not reported]";

/** The words for an owner or team that is no person or job. @type {Record<string, string>} */
export const PLACEHOLDERS = Object.freeze({
  "[unallocated]": "Unallocated",
  [OTHERS]: "Other owners",
  [UNNAMED]: "Unnamed processes",
  "": "Unnamed processes",
  [NOT_REPORTED]: "Not reported",
  "[unknown]": "Unknown",
  [NO_TEAM]: "No team",
});
const INSTANCE_WORDS = /** @type {Record<string, string>} */ ({ [OTHERS]: "Others", [NOT_REPORTED]: "Not reported" });

const LISTED = "Rollups list at most 20 idle instances of a cluster, and old hours of the ledger have no instance types. One row has the amounts of everything that is not listed.";
const WHOLE = "Numbers are of whole instances, not of this owner or team alone.";

/** @param {string} name */
function isPlaceholder(name) {
  return Object.hasOwn(PLACEHOLDERS, name);
}

/**
 * Return the row of an owner among teams: that of a placeholder is its own.
 *
 * @param {string} owner
 * @param {string | null} team
 */
function teamOf(owner, team) {
  return isPlaceholder(owner) ? owner || UNNAMED : team || NO_TEAM;
}

/**
 * Return the names of the owners on *instance*.
 *
 * @param {InstanceCores} instance
 */
export function ownersOf({ owned, holders }) {
  return [...new Set([...owned.map(([name]) => name), ...holders.map(({ Name }) => Name ?? "")])].filter(Boolean).sort();
}

/**
 * Return True if *choice* names *instance*, its type, or an owner or a team on it.
 *
 * @param {InstanceCores} instance
 * @param {{ cluster?: string, owner?: string, team?: string, instance?: string, type?: string }} choice
 */
export function isOn(instance, { cluster, owner, team, instance: name, type }) {
  if (cluster && instance.cluster !== cluster) return false;
  if (name && instance.instance !== name) return false;
  if (type && instance.instance_type !== type) return false;
  if (owner && !ownersOf(instance).includes(owner) && !isFree(instance, owner)) return false;
  return !team || isFree(instance, team) || instance.owned.some(([owns, , of]) => teamOf(owns, of) === team);
}

/**
 * Return True if *name* stands for cores that nothing holds, and the instance has some.
 *
 * @param {InstanceCores} instance
 * @param {string} name
 */
function isFree(instance, name) {
  return name === "[unallocated]" && /u/i.test(instance.states);
}

/**
 * Return the mean utilization of the cores of an owner or a team, and how many of them are known.
 *
 * @param {InstanceCores[]} instances
 * @param {{ cluster: string, owner: string, team: string }} choice
 */
export function utilizationOf(instances, { cluster, owner, team }) {
  const values = instances.filter((instance) => !cluster || instance.cluster === cluster).flatMap(({ owned, utilization }) => {
    const own = owned.filter(([name, , of]) => (!owner || name === owner) && (!team || teamOf(name, of) === team));
    const cores = new Set(own.flatMap(([, text]) => coresOf(text)));
    return [...cores].map((core) => utilization[core]).filter((value) => value !== null && value !== undefined);
  });
  const sum = values.reduce((total, value) => total + Number(value), 0);
  return { percent: values.length ? sum / values.length : null, cores: values.length };
}

/**
 * Return the clusters outside of the filter in which its owner or team has idle cores.
 *
 * @param {Choice} choice
 * @param {Now} now
 */
export function clustersElsewhere({ cluster, owner, team }, now) {
  const others = now.owner_names.filter((row) => cluster && row.cluster !== cluster && (!owner || row.owner === owner)
    && (!team || teamOf(row.owner, row.team) === team));
  return [...new Set(others.map((row) => row.cluster))];
}

/**
 * Return the idle cores of owners that rollups do not name and that may belong to *choice*.
 *
 * @param {Choice} choice
 * @param {Now} now
 */
export function unnamedCores({ cluster, owner }, now) {
  const rows = now.owners.filter((row) => !cluster || row.cluster === cluster);
  const complete = rows.filter((row) => row.owner === owner).map((row) => row.cluster);
  const others = rows.filter((row) => row.owner === OTHERS && !complete.includes(row.cluster));
  return others.reduce((sum, { cores }) => sum + cores, 0);
}

/**
 * Add up *items* that are equal in *members*; other members are those of the first item.
 *
 * @param {Item[]} items
 * @param {string[]} members
 */
export function folded(items, members) {
  /** @type {Map<string, Item[]>} */
  const parts = new Map();
  for (const item of items) {
    const key = members.map((member) => String(item[member] ?? null)).join("|");
    const some = parts.get(key);
    if (some) some.push(item);
    else parts.set(key, [item]);
  }
  return new Map([...parts].map(([key, some]) => [key, together(some)]));
}

/** @param {Item[]} items */
function together(items) {
  const row = { ...items[0] };
  for (const name of [...NUMBERS, "idle_minutes", "since_ms"].filter((member) => member in row)) {
    const known = items.map((item) => item[name]).filter((value) => value !== null && value !== undefined);
    const isUnknown = !known.length || (CORES.includes(name) && known.length < items.length);
    row[name] = isUnknown ? null : joined(name, known);
  }
  return row;
}

/**
 * @param {string} name
 * @param {number[]} values
 */
function joined(name, values) {
  if (name === "idle_minutes") return Math.max(...values);
  if (name === "since_ms") return Math.min(...values);
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * Return the rows of a group, their total and remarks.
 *
 * @param {Choice} choice
 * @param {Now} now
 * @param {InstanceCores[]} instances Of the newest minute; empty if they are not known.
 * @param {Amounts | null} amounts Of the range; null if it is not read.
 * @returns {Rows}
 */
export function rowsOf(choice, now, instances, amounts) {
  const { group } = choice;
  const ofInstances = isOfInstances(group);
  const isFiltered = Boolean(choice.team || choice.owner);
  const items = itemsOfNow(choice, now, instances).filter((item) => isShown(item, choice));
  const known = amounts ? amountsOf(choice, amounts) : { items: [], isWhole: false };
  let inRange = known.items.filter((item) => isShown(item, choice));
  if (ofInstances && isFiltered) {
    const there = folded(items, KEYS[group]);
    inRange = [...folded(inRange, KEYS[group])].filter(([key]) => there.has(key)).map(([, row]) => row);
  }
  const noAmount = Object.fromEntries(OF_RANGE.map((name) => [name, known.isWhole ? 0 : null]));
  const rows = merged(group, items, inRange, noAmount, absentNow(group, now, inRange));
  const sums = folded(rows, []).get("") ?? { ...EMPTY, ...Object.fromEntries(NUMBERS.map((name) => [name, 0])), ...noAmount };
  const total = isFiltered ? sums : {
    ...sums, idle_cores: now.idle.cores, cores: now.idle.known_cores,
    usd_per_hour: now.cost.usd_per_hour, unpriced_cores: now.cost.idle_unpriced_cores,
  };
  const notes = [ofInstances && isFiltered && WHOLE, amounts && !known.isWhole && LISTED];
  return { rows, total: /** @type {any} */ (total), notes: notes.filter((note) => note !== null && note !== false) };
}

/** @param {string} group */
function isOfInstances(group) {
  return group === "type" || group === "instance";
}

/**
 * Return the rows of now that those of the group add up.
 *
 * @param {Choice} choice
 * @param {Now} now
 * @param {InstanceCores[]} instances
 * @returns {Item[]}
 */
function itemsOfNow(choice, now, instances) {
  const { group, team, owner } = choice;
  if (isOfInstances(group)) {
    return instances.filter((instance) => isOn(instance, { team, owner })).map((instance) => ({
      ...instance, ...factsOf(instance.holders), cores: instance.states.length, usd_per_hour: priceOf(instance),
    }));
  }
  if (group === "cluster" && !team && !owner) return now.clusters.map((row) => ({ ...row, cores: row.known_cores }));
  const holders = group === "owner" ? holdersByOwner(instances) : new Map();
  return now.owners.map((row) => ({
    ...row,
    team: teamOf(row.owner, row.team),
    idle_cores: row.cores,
    cores: row.allocated_cores,
    uses: row.words.uses,
    ...factsOf(holders.get(`${row.owner}|${row.cluster}`) ?? []),
  }));
}

/** @param {InstanceCores} instance */
export function priceOf({ idle_cores, core_usd_per_hour }) {
  if (idle_cores === 0) return 0;
  return core_usd_per_hour === null ? null : core_usd_per_hour * idle_cores;
}

/** @param {InstanceCores[]} instances */
function holdersByOwner(instances) {
  /** @type {Map<string, import("./types.js").Holder[]>} */
  const holders = new Map();
  for (const instance of instances) {
    for (const holder of instance.holders) {
      const key = `${holder.Name ?? ""}|${instance.cluster}`;
      const some = holders.get(key);
      if (some) some.push(holder);
      else holders.set(key, [holder]);
    }
  }
  return holders;
}

/**
 * Return the marks that all *holders* have, and whether the cores of one cannot wait.
 *
 * @param {import("./types.js").Holder[]} holders
 */
function factsOf(holders) {
  const held = holders.filter(({ IsReserved }) => !IsReserved);
  if (!held.length) return {};
  const marks = held[0].Marks.filter((mark) => !mark.endsWith(" here") && held.every(({ Marks }) => Marks.includes(mark)));
  const blocked = held.find(({ AssignedTo }) => AssignedTo);
  return {
    marks: marks.sort(),
    is_gone: held.some(({ Gone }) => Gone),
    cannot_wait: blocked ? `Its cores are assigned to ${blocked.AssignedTo}, which may fail to start.` : "",
  };
}

/**
 * Return the amounts that the rows of a group add up, and whether each row has all of its own.
 *
 * Amounts that are unknown by instance or type belong to `[others]`.
 *
 * @param {Choice} choice
 * @param {Amounts} amounts
 * @returns {{ items: Item[], isWhole: boolean }}
 */
export function amountsOf({ group, cluster }, amounts) {
  const isChosen = (/** @type {Item} */ item) => !cluster || item.cluster === cluster;
  const owners = amounts.owners.map(([owner, of, team, usd, idle_core_hours]) => ({
    owner, cluster: of, team: teamOf(owner, team), usd, idle_core_hours,
  })).filter(isChosen);
  if (!isOfInstances(group)) return { items: owners, isWhole: true };
  const [name, table] = group === "type" ? ["instance_type", amounts.types] : ["instance", amounts.instances];
  const listed = table.map(([key, of, usd, idle_core_hours]) => ({ [name]: key, cluster: of, usd, idle_core_hours }))
    .filter((item) => isChosen(item) && !amounts.unlisted.includes(item.cluster));
  const others = othersOf(owners, listed);
  if (group === "instance") return { items: [...listed, ...others], isWhole: !amounts.unlisted.some((of) => !cluster || of === cluster) };
  // An amount of one cluster is not the amount of a type.
  return others.length ? { items: othersOf(owners, []), isWhole: false } : { items: listed, isWhole: true };
}

/**
 * Return for each cluster the amounts of *owners* beyond those *listed*.
 *
 * @param {Item[]} owners
 * @param {Item[]} listed
 * @returns {Item[]}
 */
function othersOf(owners, listed) {
  const taken = listed.map(({ cluster, usd, idle_core_hours }) => ({ cluster, usd: usd && -usd, idle_core_hours: -idle_core_hours }));
  const rest = [...folded([...owners, ...taken], ["cluster"]).values()].filter(({ idle_core_hours }) => idle_core_hours > LEAST_HOURS);
  return rest.map((row) => ({ ...row, instance: OTHERS, instance_type: OTHERS }));
}

/**
 * @param {Item} item
 * @param {Choice} choice
 */
function isShown(item, { group, cluster, team, owner }) {
  if (cluster && item.cluster !== cluster) return false;
  return isOfInstances(group) || ((!team || item.team === team) && (!owner || item.owner === owner));
}

/**
 * Return the idle cores of a row that only the range has: 0 if *now* lists every row.
 *
 * @param {string} group
 * @param {Now} now
 * @param {Item[]} inRange
 */
function absentNow(group, now, inRange) {
  const published = now.clusters.map(({ cluster }) => cluster);
  const hasOthers = now.owners.some(({ owner }) => owner === OTHERS);
  const isKnown = now.owners_known && !hasOthers && !isOfInstances(group) && inRange.every(({ cluster }) => published.includes(cluster));
  return isKnown ? { idle_cores: 0, usd_per_hour: 0 } : {};
}

/**
 * @param {string} group
 * @param {Item[]} items
 * @param {Item[]} inRange
 * @param {Item} noAmount
 * @param {Item} absent
 * @returns {Row[]}
 */
function merged(group, items, inRange, noAmount, absent) {
  const now = folded(items, KEYS[group]);
  const amounts = folded(inRange, KEYS[group]);
  const hidden = PLACES.filter((name) => !KEYS[group].includes(name) && name !== ALSO[group]);
  const rows = [...new Set([...now.keys(), ...amounts.keys()])].map((key) => {
    const row = /** @type {Item} */ ({ ...EMPTY, ...noAmount, ...amounts.get(key), ...(now.get(key) ?? absent), key });
    for (const name of hidden) row[name] = null;
    if (!(group in ALSO)) Object.assign(row, NO_FACTS);
    if (group === "owner" && isPlaceholder(row.team)) row.team = null;
    const name = row[KEYS[group][0]] ?? NOT_REPORTED;
    const words = isOfInstances(group) ? INSTANCE_WORDS : PLACEHOLDERS;
    return { ...row, is_bracket: isPlaceholder(name), name: words[name] ?? name };
  });
  const shown = /** @type {any[]} */ (rows).filter((row) => row.idle_cores || row.idle_core_hours);
  return shown.sort((one, other) => ORDER.reduce((order, name) => order || (other[name] ?? 0) - (one[name] ?? 0), 0)
    || one.key.localeCompare(other.key));
}
