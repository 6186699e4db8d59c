/*
 * The bar at the top: place, filters with search, range, zone of times, theme, pause.
 */

import { html } from "./vendor/ui.js";
import { isAvailable, isSnapshot, paused } from "./data.js";
import { Choice, Icon, Name, Search } from "./parts.js";
import { RANGES } from "./state.js";
import { nextTheme, theme } from "./theme.js";
import { chooseZone, counted, zone, zoneName } from "./words.js";

const THEMES = /** @type {Record<string, { icon: string, words: string }>} */ ({
  "": { icon: "monitor", words: "Theme of the system" },
  light: { icon: "sun", words: "Light theme" },
  dark: { icon: "moon", words: "Dark theme" },
});

/** @param {import("./main.js").SectionProps} props */
export function Bar({ state, set, now }) {
  const page = now.value;
  return html`<header class="bar">
    <div class="bar-brand"><h1>neuron-emf</h1>
      ${page && html`<p class="soft">${page.stack_name && html`<${Name} text=${page.stack_name} />`}${page.region && html`<span>${page.region}</span>`}</p>`}
    </div>
    <div class="bar-filters"><${Filters} state=${state} set=${set} page=${page} /></div>
    ${isSnapshot ? html`<p class="soft bar-range">${RANGES["1h"].words}: a snapshot has no other range</p>` : html`<${Choice} label="Time range" value=${state.range}
      onChange=${(/** @type {string} */ range) => set({ range })} options=${Object.entries(RANGES).map(([value, { words }]) => ({ value, title: words }))} />`}
    <div class="bar-switches"><${Switches} /></div>
  </header>`;
}

/** @param {{ state: import("./state.js").State, set: import("./main.js").Set, page: import("./types.js").Now | null }} props */
function Filters({ state, set, page }) {
  const known = (page?.clusters ?? []).filter(({ cluster }) => isAvailable("/now.json", { cluster }));
  const clusters = known.map(({ cluster, idle_cores }) => ({
    value: cluster, note: idle_cores === null ? "" : counted(idle_cores, "idle core"),
  }));
  const teams = (page?.teams ?? []).map((team) => ({ value: team }));
  const owners = ownerOptions(page, state);
  return html`
    <${Search} label="Cluster" value=${state.cluster} all="All" options=${clusters} onChange=${(/** @type {string} */ cluster) => set({ cluster })} />
    <${Search} label="Team" value=${state.team} all="All" options=${teams} onChange=${(/** @type {string} */ team) => set({ team })} />
    <${Search} label="Owner" value=${state.owner} all="All" options=${owners} onChange=${(/** @type {string} */ owner) => set({ owner })} />
    ${(state.cluster || state.team || state.owner) && html`<button type="button" class="button-quiet" title="Remove all filters"
      onClick=${() => set({ cluster: "", team: "", owner: "" })}><${Icon} name="x" label="Remove all filters" /></button>`}`;
}

/**
 * Return each owner of the chosen cluster and team once.
 *
 * @param {import("./types.js").Now | null} page
 * @param {import("./state.js").State} state
 */
function ownerOptions(page, { cluster, team }) {
  const options = new Map();
  for (const row of page?.owner_names ?? []) {
    if ((cluster && row.cluster !== cluster) || (team && row.team !== team)) continue;
    const note = options.has(row.owner) ? "several clusters" : row.cluster;
    options.set(row.owner, { value: row.owner, label: row.name, note });
  }
  return [...options.values()];
}

function Switches() {
  const { icon, words } = THEMES[theme.value];
  const other = zone.value === "utc" ? "local" : "utc";
  return html`
    <button type="button" class="button-quiet" aria-label=${`Times in ${zoneName()}; switch to ${other === "utc" ? "UTC" : "local time"}`}
      title="Switch between UTC and local time" onClick=${() => chooseZone(other)}><${Icon} name="clock" />${zoneName()}</button>
    <button type="button" class="button-quiet" title=${words} onClick=${nextTheme}><${Icon} name=${icon} label=${words} /></button>
    ${!isSnapshot && html`<button type="button" class="button-quiet" aria-pressed=${paused.value} title="Stop updates"
      onClick=${() => { paused.value = !paused.value; }}><${Icon} name=${paused.value ? "play" : "pause"} label="Stop updates" /></button>`}`;
}
