/*
 * The panel of one instance: its hour, its holders, the verdict of findings, commands and links.
 *
 * The panel is a dialog at the side. On a narrow screen it covers the page. Escape, Back and its
 * button close it, and focus returns to where it was.
 */

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/ui.js";
import { askOnce, isOlder, isSnapshot, serverMs, useAnswer } from "./data.js";
import { HOUR_STATES, Hour, coreCount, holderName } from "./hour.js";
import { Command, Copy, Icon, Name, Notice, Skeleton, Trouble } from "./parts.js";
import { MINUTE_MS, clock, counted, duration, figure, printable } from "./words.js";

/** @typedef {import("./types.js").InstanceAnswer} InstanceAnswer */
/** @typedef {import("./types.js").VerdictAnswer} VerdictAnswer */
/** @typedef {import("./main.js").SectionProps} SectionProps */
/** @typedef {import("./data.js").Failure} Failure */

const EVERY_S = 60; // one minute of lines is new
const WIDE = "(min-width: 75rem)"; // the page beside the panel is still usable
const ORDER = ["b", "a", "r", "u", "n", "?"];

/** @param {SectionProps} props */
export function Instance({ state, set }) {
  const cores = useAnswer("/cores.json", { cluster: state.cluster }, { every_s: EVERY_S, on: state.instance !== "" });
  if (!state.instance) return null;
  const cluster = state.cluster || clusterOf(cores.value, state.instance);
  const isReady = Boolean(cluster || cores.value || cores.failure);
  return html`<${Panel} cluster=${cluster} instance=${state.instance} isReady=${isReady} close=${() => set({ instance: "" })} />`;
}

/**
 * Return the cluster of *instance* in the newest minute; empty if it has no line there.
 * @param {import("./types.js").CoresAnswer | null} cores
 * @param {string} instance
 */
function clusterOf(cores, instance) {
  return cores?.instances.find((row) => row.instance === instance)?.cluster ?? "";
}

/** @param {{ cluster: string, instance: string, isReady: boolean, close: () => void }} props */
function Panel({ cluster, instance, isReady, close }) {
  const answer = useAnswer("/instance.json", { cluster, instance }, { every_s: EVERY_S, on: isReady });
  const dialog = useDialog(close);
  /** @type {InstanceAnswer | null} */
  const shown = answer.value;
  return html`
    <dialog class="instance" ref=${dialog} aria-labelledby="instance-title" onClick=${(/** @type {MouseEvent} */ event) => {
      if (event.target === event.currentTarget) close();
    }}>
      <div class="instance-body">
        <header class="instance-head">
          <h2 id="instance-title" tabindex="-1"><${Name} text=${instance} /></h2>
          <${Copy} text=${instance} label="Copy the instance ID" />
          <button type="button" class="button button-quiet instance-close" onClick=${close}><${Icon} name="x" label="Close the instance" /></button>
        </header>
        ${answer.failure && html`<${Trouble} what="The instance" failure=${answer.failure} again=${answer.again} />`}
        ${!shown && !answer.failure && html`<${Skeleton} rows=${10} />`}
        ${shown && html`<${Facts} key=${`${cluster} ${instance}`} answer=${shown} />`}
      </div>
    </dialog>
  `;
}

/**
 * Return the ref of a dialog that is open as long as its component is there.
 * @param {() => void} close
 */
function useDialog(close) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const latestClose = useRef(close);
  latestClose.current = close;
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return undefined;
    const opener = document.activeElement;
    if (matchMedia(WIDE).matches) element.show();
    else element.showModal();
    /** @type {HTMLElement | null} */ (element.querySelector("h2"))?.focus();
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      latestClose.current();
    };
    /** @param {Event} event */
    const cancel = (event) => {
      event.preventDefault(); // the state closes it
      latestClose.current();
    };
    document.addEventListener("keydown", press);
    element.addEventListener("cancel", cancel);
    return () => {
      document.removeEventListener("keydown", press);
      element.removeEventListener("cancel", cancel);
      element.close();
      returnFocus(opener);
    };
  }, []);
  return dialog;
}

/**
 * Focus *opener*; if it is gone, the heat map, or its heading while the cores are being read.
 * @param {Element | null} opener
 */
function returnFocus(opener) {
  const isThere = opener?.isConnected && opener !== document.body;
  const cores = document.querySelector(".cores-map") ?? document.getElementById("cores-title");
  const target = isThere ? opener : cores;
  /** @type {HTMLElement | null} */ (target)?.focus({ preventScroll: true });
}

/** @param {{ answer: InstanceAnswer }} props */
function Facts({ answer }) {
  const cores = coreCount(answer);
  return html`
    <p class="instance-what soft">
      ${printable(answer.instance_type ?? "unknown type")}${cores > 0 && html`, ${counted(cores, "core")}`}${answer.cluster && html`, cluster <${Name} text=${answer.cluster} />`}
    </p>
    <${Freshness} answer=${answer} />
    ${cores > 0 && html`
      <div class=${isOld(answer) ? "is-stale" : ""}><div class="live">
        <p class="instance-summary">${summaryOf(answer)}</p>
        <${Hour} answer=${answer} />
        <${Holders} answer=${answer} />
      </div></div>
    `}
    <${Verdict} answer=${answer} />
    <${Commands} answer=${answer} />
  `;
}

/**
 * Return True if the newest line is too old to describe the present, also after the server is gone.
 * @param {InstanceAnswer} answer
 */
function isOld(answer) {
  return isOlder(answer.minutes.at(-1) ?? null);
}

/**
 * Say from when the data are if they are not of now.
 * @param {{ answer: InstanceAnswer }} props
 */
function Freshness({ answer }) {
  if (!answer.minutes.length) {
    return html`<${Notice} kind="warn" title="No line in the last hour">The instance ended, its emitter stopped, or the name is wrong. Check it with the commands below.<//>`;
  }
  if (!isOld(answer)) return null;
  const newest_ms = /** @type {number} */ (answer.minutes.at(-1));
  const age = ` (${duration(Math.floor((serverMs.value - newest_ms) / MINUTE_MS))} ago)`;
  return html`<${Notice} kind="warn" title="Stale">The newest line is of ${clock(newest_ms)}${age}. What the cores do now is unknown.<//>`;
}

/**
 * Return how many cores have which state in the newest minute, and how long the longest is idle.
 * @param {InstanceAnswer} answer
 */
export function summaryOf(answer) {
  const letters = [...(answer.states.at(-1) ?? "")];
  const parts = ORDER.map((letter) => ({ letter, count: letters.filter((other) => other === letter).length }))
    .filter(({ count }) => count > 0)
    .map(({ letter, count }) => {
      const reason = letter === "?" && answer.unknown_words ? ` because ${answer.unknown_words}` : "";
      return `${figure(count)} ${HOUR_STATES[letter]}${reason}`;
    });
  const longest = Math.max(0, ...answer.idle_minutes.map((minutes) => minutes ?? 0));
  const idle = longest > 0 ? `; not busy for up to ${duration(longest)}` : "";
  return `${clock(answer.minutes.at(-1))}: ${parts.join(", ")}${idle}.`;
}

/** @param {{ answer: InstanceAnswer }} props */
function Holders({ answer }) {
  if (!answer.holders.length) return html`<p class="soft">No process holds or reserves an idle core.</p>`;
  return html`
    <h3>Holders of cores that are not busy</h3>
    <div class="table-wrap" tabindex="0" role="group" aria-label="Holders">
      <table class="table">
        <thead><tr><th scope="col">Cores</th><th scope="col">Owner</th><th scope="col">Facts</th></tr></thead>
        <tbody>
          ${answer.holders.map((holder) => html`<tr>
            <td class="number">${holder.Cores ?? "unknown"}</td>
            <td><${Name} text=${holderName(holder)} />${holder.Team && html` <span class="soft">team <${Name} text=${holder.Team} /></span>`}</td>
            <td>${holder.Gone && html`<span class="badge instance-gone">gone</span> `}${holder.Marks.map((mark, at) => html`${at > 0 && ", "}<${Name} text=${mark} />`)}</td>
          </tr>`)}
        </tbody>
      </table>
    </div>
    ${answer.holders_more > 0 && html`<p class="soft">And ${counted(answer.holders_more, "holder")} more.</p>`}
  `;
}

/**
 * The verdict of `neuron-emf findings`, on request: its cost is beside the button.
 * @param {{ answer: InstanceAnswer }} props
 */
function Verdict({ answer }) {
  const [verdict, setVerdict] = useState(/** @type {VerdictAnswer | null} */ (null));
  const [failure, setFailure] = useState(/** @type {Failure | null} */ (null));
  const [isRunning, setRunning] = useState(false);
  const isWanted = useRef(true);
  useEffect(() => () => {
    isWanted.current = false;
  }, []);
  if (isSnapshot || !answer.verdict) return null;
  const ask = async () => {
    setRunning(true);
    const result = await askOnce("/verdict.json", { instance: answer.instance }, "POST");
    if (!isWanted.current) return;
    setRunning(false);
    setFailure(result.failure);
    setVerdict(result.value);
  };
  return html`
    <h3>Can it be released?</h3>
    <p><button type="button" class="button" disabled=${isRunning} onClick=${ask}>${isRunning ? "Asking" : "Ask for the verdict"}</button>
      ${" "}<span class="soft">${answer.verdict.words}</span></p>
    <div role="status">
      ${failure && html`<${Trouble} what="The verdict" failure=${failure} again=${ask} />`}
      ${verdict && html`<${VerdictWords} verdict=${verdict} />`}
    </div>
  `;
}

/** @param {{ verdict: VerdictAnswer }} props */
function VerdictWords({ verdict }) {
  return html`
    <p class=${`instance-verdict is-${verdict.verdict}`}><strong>${verdict.verdict}</strong> ${verdict.words}</p>
    ${verdict.reasons.length > 0 && html`
      <ul class="instance-reasons">
        ${verdict.reasons.map(({ name, words, advice }) => html`<li key=${name}><${Name} text=${words} /> <span class="soft">${advice}</span></li>`)}
      </ul>
    `}
    ${verdict.commands.map(({ purpose, text }) => html`<${Command} title=${purpose} text=${text} />`)}
    <p class="soft">${counted(verdict.calls, "call")} made.</p>
  `;
}

/** @param {{ answer: InstanceAnswer }} props */
function Commands({ answer }) {
  const links = Object.entries(answer.links);
  return html`
    <h3>Commands</h3>
    ${answer.commands.length === 0 && html`<p class="soft">No command: the name is not an EC2 instance ID.</p>`}
    ${answer.commands.map(({ purpose, text }) => html`<${Command} key=${text} title=${purpose} text=${text} />`)}
    ${links.length > 0 && html`
      <ul class="instance-links">
        ${links.map(([title, address]) => html`
          <li key=${title}><a class="link" href=${address} target="_blank" rel="noopener noreferrer">${title} <${Icon} name="external-link" /></a></li>
        `)}
      </ul>
    `}
  `;
}
