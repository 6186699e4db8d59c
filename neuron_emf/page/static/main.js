/*
 * Mount the page: its sections in their order, and the notices about the whole of it.
 */

import { html, render, useEffect, useErrorBoundary, useState } from "./vendor/ui.js";
import { Alarms } from "./alarms.js";
import { Bar } from "./bar.js";
import { Breakdown } from "./breakdown.js";
import { Cards } from "./cards.js";
import { Charts } from "./charts.js";
import { Cores } from "./cores.js";
import { askAgain, dataToMs, isSnapshot, isStale, useAnswer } from "./data.js";
import { Instance } from "./instance.js";
import { AccessDenied, Notice, Trouble } from "./parts.js";
import { Pipeline } from "./pipeline.js";
import { DEFAULTS, correct, set, state as shownState } from "./state.js";
import { Status } from "./status.js";
import { followTheme } from "./theme.js";
import { printable } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {(change: import("./state.js").Change) => void} Set */
/** @typedef {{ state: State, set: Set, now: import("./data.js").Answer<import("./types.js").Now> }} SectionProps */

const ABSENT = { cluster: "No rollup of the last 15 minutes is of cluster", team: "No idle core is of team", owner: "No idle core is of owner" };

/**
 * Return the filters of *state* that name something which *page* does not have.
 *
 * @param {State} state
 * @param {import("./types.js").Now} page
 * @returns {("cluster" | "team" | "owner")[]}
 */
export function unknownFilters(state, page) {
  const names = {
    cluster: page.clusters.map(({ cluster }) => cluster),
    team: page.teams,
    owner: page.owner_names.map(({ owner }) => owner),
  };
  const filters = /** @type {("cluster" | "team" | "owner")[]} */ (["cluster", "team", "owner"]);
  return filters.filter((filter) => state[filter] && !names[filter].includes(state[filter]));
}

/**
 * Return the notice about values that do not exist; the state falls back to all.
 *
 * @param {State} state
 * @param {import("./data.js").Answer<import("./types.js").Now>} now
 * @returns {[string, () => void]}
 */
function useCorrections(state, now) {
  const [notice, setNotice] = useState("");
  useEffect(() => {
    let unknown = now.value ? unknownFilters(state, now.value) : [];
    if (state.cluster && now.failure?.kind === "cluster") unknown = ["cluster"];
    if (isSnapshot && state.range !== DEFAULTS.range) correct({ range: DEFAULTS.range }); // the bar says that there is no other
    if (!unknown.length) return;
    const sentences = unknown.map((filter) => `${ABSENT[filter]} "${printable(state[filter])}".`);
    setNotice(`${sentences.join(" ")} All are shown.`);
    correct(Object.fromEntries(unknown.map((filter) => [filter, ""])));
  }, [state, now.value, now.failure]);
  return [notice, () => setNotice("")];
}

/**
 * A section that fails does not take the others with it.
 *
 * @param {{ what: string, children?: any }} props
 */
function Guard({ what, children }) {
  const [error, again] = useErrorBoundary((caught) => console.error(caught));
  if (!error) return children;
  const failure = { kind: "fault", sentence: `${what} cannot be shown: ${error.message}.`, action: "" };
  return html`<${Trouble} what=${what} failure=${failure} again=${again} />`;
}

function App() {
  const state = shownState.value;
  const now = useAnswer("/now.json", { cluster: state.cluster });
  const [notice, closeNotice] = useCorrections(state, now);
  useEffect(() => {
    dataToMs.value = now.value?.data_to_ms ?? null;
    if (now.value || now.failure) document.documentElement.dataset.ready = "true";
  }, [now.value, now.failure]);
  useEffect(() => {
    document.documentElement.toggleAttribute("data-stale", isStale.value);
  }, [isStale.value]);
  const props = { state, set, now };
  const hasNothing = now.value?.problem && now.value.minute_ms === null;
  return html`
    <${Bar} ...${props} />
    <main class="page">
      ${notice && html`<${Notice} kind="warn" onClose=${closeNotice}>${notice}<//>`}
      <${AccessDenied} again=${askAgain} />
      ${now.failure && !["cluster", "denied"].includes(now.failure.kind) && html`<${Trouble} isPage what="The page" failure=${now.failure} again=${now.again} />`}
      ${now.value?.problem && html`<${Problem} problem=${now.value.problem} />`}
      <${Guard} what="The status"><${Status} ...${props} /><//>
      ${!hasNothing && html`<${Guard} what="The cards"><${Cards} ...${props} /><//>`}
      <div class="page-main">
        <div class="page-alarms"><${Guard} what="The alarms"><${Alarms} ...${props} /><//></div>
        ${!hasNothing && html`<div class="page-breakdown"><${Guard} what="The breakdown"><${Breakdown} ...${props} /><//></div>`}
      </div>
      ${!hasNothing && html`
      ${state.instance && html`<${Guard} key=${state.instance} what="The instance"><${Instance} ...${props} /><//>`}
      <${Guard} what="The cores"><${Cores} ...${props} /><//>
      <${Guard} what="The charts"><${Charts} ...${props} /><//>`}
      <${Guard} what="The pipeline"><${Pipeline} ...${props} /><//>
    </main>`;
}

/** @param {{ problem: NonNullable<import("./types.js").Now["problem"]> }} props */
function Problem({ problem }) {
  return html`<${Trouble} isPage what="The page" failure=${{ kind: problem.kind, sentence: problem.error, action: problem.action }} />`;
}

followTheme();
const root = document.getElementById("page");
if (root) render(html`<${App} />`, root);
