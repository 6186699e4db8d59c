/*
 * Small parts that every section uses: icons, terms, lists with search, notices, commands.
 */

import { h, html, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "./vendor/ui.js";
import icons from "./vendor/lucide.js";
import { isOlder, isSnapshot, missingActions } from "./data.js";
import { GLOSSARY } from "./glossary.js";
import { clock, printable, zoneName } from "./words.js";

const COPIED_MS = 2000;
const MAX_OPTIONS = 100;
const TIP_WIDTH_PX = 296;
const SPARK = { width: 120, height: 28 };

/** @typedef {import("./data.js").Failure} Failure */
/** @typedef {{ value: string, label?: string, note?: string, title?: string }} Option */

/**
 * An icon of Lucide; without *label* it is decoration.
 *
 * @param {{ name: string, label?: string, className?: string }} props
 */
export function Icon({ name, label = "", className = "" }) {
  const said = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return html`<svg class=${`icon ${className}`} viewBox="0 0 24 24" ...${said}>
    ${(icons[name] ?? []).map(([tag, attributes]) => h(tag, attributes))}
  </svg>`;
}

/**
 * Text that other people wrote, such as a name. It cannot reorder the text around it.
 *
 * @param {{ text: unknown, className?: string }} props
 */
export function Name({ text, className = "" }) {
  return html`<bdi class=${className}>${printable(text)}</bdi>`;
}

/**
 * A term of ours with its definition, on hover, focus and tap.
 *
 * @param {{ name: string, children?: any }} props
 */
export function Term({ name, children }) {
  const id = useId();
  const [place, setPlace] = useState(/** @type {{ left: number, top: number } | null} */ (null));
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const show = () => {
    const { left, bottom } = /** @type {HTMLElement} */ (button.current).getBoundingClientRect();
    setPlace({ left: Math.max(8, Math.min(left, innerWidth - TIP_WIDTH_PX - 8)), top: bottom + 4 });
  };
  const hide = () => setPlace(null);
  useEffect(() => {
    if (!place) return undefined;
    addEventListener("scroll", hide, { capture: true, passive: true });
    return () => removeEventListener("scroll", hide, { capture: true });
  }, [place]);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !place) return;
    event.stopPropagation();
    hide();
  };
  return html`<button type="button" class="term" ref=${button} aria-describedby=${id}
      onMouseEnter=${show} onMouseLeave=${hide} onFocus=${show} onBlur=${hide} onClick=${show} onKeyDown=${onKey}
    >${children ?? name}</button><span id=${id} hidden>${GLOSSARY[name] ?? ""}</span>${place && html`
    <span class="tip" aria-hidden="true" style=${{ left: `${place.left}px`, top: `${place.top}px` }}>${GLOSSARY[name] ?? ""}</span>`}`;
}

const TERMS = /\b(fully idle|low activity|unallocated|allocated|reserved|shared|avoidable|committed|p99 latency|BF16 peak)\b/;

/**
 * *text* with the definition of each of our terms in it.
 *
 * @param {{ text: string }} props
 */
export function Terms({ text }) {
  const pieces = printable(text).split(TERMS); // every second one is a term
  return html`${pieces.map((piece, index) => (index % 2 ? html`<${Term} key=${index} name=${piece} />` : piece))}`;
}

/**
 * A list with search. Arrow keys move, Enter selects, Escape closes.
 *
 * @param {{ label: string, value: string, all: string, options: Option[], onChange: (value: string) => void }} props
 */
export function Search({ label, value, all, options, onChange }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const chosen = options.find((option) => option.value === value);
  const close = (/** @type {boolean} */ hasFocus) => {
    setOpen(false);
    if (hasFocus) button.current?.focus();
  };
  useEffect(() => {
    if (!isOpen) return undefined;
    const outside = (/** @type {Event} */ event) => {
      if (!root.current?.contains(/** @type {Node} */ (event.target))) close(false);
    };
    addEventListener("pointerdown", outside);
    addEventListener("focusin", outside);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("focusin", outside);
    };
  }, [isOpen]);
  const pick = (/** @type {string} */ picked) => {
    close(true);
    if (picked !== value) onChange(picked);
  };
  const shown = value ? (chosen?.label ?? value) : all;
  return html`<div class=${`search ${value ? "is-set" : ""}`} ref=${root}>
    <button type="button" class="search-button" ref=${button} aria-haspopup="listbox" aria-expanded=${isOpen}
      aria-label=${`${label}: ${printable(shown)}`} onClick=${() => setOpen(!isOpen)}>
      <span class="search-label">${label}</span><${Name} className="search-value" text=${shown} /><${Icon} name="chevron-down" />
    </button>
    ${isOpen && html`<${SearchList} id=${id} label=${label} value=${value} all=${all} options=${options} pick=${pick} close=${close} />`}
  </div>`;
}

/**
 * @param {{ id: string, label: string, value: string, all: string, options: Option[], pick: (value: string) => void,
 *   close: (hasFocus: boolean) => void }} props
 */
function SearchList({ id, label, value, all, options, pick, close }) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0); // index of the active option; 0 is all
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const matches = useMemo(() => {
    const wanted = words.trim().toLowerCase();
    const isMatch = (/** @type {Option} */ option) => `${option.label ?? ""} ${option.value}`.toLowerCase().includes(wanted);
    return options.filter(isMatch);
  }, [words, options]);
  const rows = [...(words.trim() ? [] : [{ value: "", label: all }]), ...matches.slice(0, MAX_OPTIONS)];
  const more = matches.length - MAX_OPTIONS;
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);
  const move = (/** @type {number} */ to) => setAt(Math.max(0, Math.min(rows.length - 1, to)));
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const moves = /** @type {Record<string, () => void>} */ ({
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(at + 10),
      PageUp: () => move(at - 10),
      Enter: () => rows[at] && pick(rows[at].value),
      Escape: () => close(true),
    });
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]();
  };
  const onInput = (/** @type {any} */ event) => {
    setWords(event.target.value);
    setAt(0);
  };
  return html`<div class="search-list">
    <input class="search-input" ref=${input} type="text" role="combobox" aria-label=${`Search ${label.toLowerCase()}`} aria-expanded="true"
      aria-controls=${id} aria-activedescendant=${rows[at] ? `${id}-${at}` : null} autocomplete="off" spellcheck=${false}
      placeholder="Type to search" value=${words} onInput=${onInput} onKeyDown=${onKeyDown} />
    <ul role="listbox" id=${id} aria-label=${label}>
      ${rows.map((row, index) => html`<li role="option" id=${`${id}-${index}`} key=${row.value} aria-selected=${row.value === value}
        class=${index === at ? "is-active" : ""} onClick=${() => pick(row.value)} onMouseMove=${() => setAt(index)}>
        <${Name} text=${row.label ?? row.value} />${row.note && html`<span class="soft">${row.note}</span>`}
      </li>`)}
    </ul>
    ${!rows.length && html`<p class="soft">Nothing matches.</p>`}
    ${more > 0 && html`<p class="soft">${more} more: type to narrow.</p>`}
  </div>`;
}

/**
 * One of a few values, as connected buttons; arrow keys move.
 *
 * @param {{ label: string, value: string, options: Option[], onChange: (value: string) => void }} props
 */
export function Choice({ label, value, options, onChange }) {
  const name = useId();
  return html`<fieldset class="choice"><legend class="visually-hidden">${label}</legend>
    ${options.map((option) => html`<label key=${option.value} title=${option.title}>
      <input type="radio" name=${name} value=${option.value} checked=${option.value === value} onChange=${() => onChange(option.value)} />
      <span>${option.label ?? option.value}</span>
    </label>`)}
  </fieldset>`;
}

/**
 * Gray bars in place of content that is being read.
 *
 * @param {{ rows?: number }} props
 */
export function Skeleton({ rows = 3 }) {
  const bars = Array.from({ length: rows }, (_, index) => html`<span key=${index} class="skeleton-bar"></span>`);
  return html`<div class="skeleton" role="status"><span class="visually-hidden">Reading</span>${bars}</div>`;
}

const NOTICE_ICONS = { info: "info", warn: "triangle-alert", bad: "circle-alert" };

/**
 * A message to the reader.
 *
 * @param {{ kind?: "info" | "warn" | "bad", title?: string, children?: any, onClose?: () => void }} props
 */
export function Notice({ kind = "info", title = "", children, onClose }) {
  return html`<div class=${`notice is-${kind}`} role=${kind === "bad" ? "alert" : "status"}>
    <${Icon} name=${NOTICE_ICONS[kind]} />
    <div class="notice-body">${title && html`<strong>${title}</strong>`} ${children}</div>
    ${onClose && html`<button type="button" class="button-quiet" aria-label="Close the notice" onClick=${onClose}><${Icon} name="x" /></button>`}
  </div>`;
}

/** The title of each kind of failure, and what to do; the server's sentence is between them. */
/** @type {Record<string, { title: string, advice: string }>} */
const TROUBLES = {
  unreachable: { title: "The server is gone", advice: "Start it again and open the address that it prints." },
  token: { title: "The token is wrong", advice: "Open the address that the running command printed." },
  denied: { title: "Access denied", advice: "Your role lacks an IAM action that the page needs. neuron-emf page --policy prints the whole policy." },
  credentials: { title: "No AWS credentials", advice: "Sign in, then reload this page." },
  stack: { title: "No stack", advice: "Deploy the stack, or name another one with --stack-name." },
  lines: { title: "No emitter has written yet", advice: "Check an emitter on an instance." },
  ledger: { title: "No ledger", advice: "The ledger keeps settled hours for ranges beyond 24 hours." },
  cluster: { title: "No such cluster", advice: "Choose another cluster." },
  instance: { title: "No such instance", advice: "Choose another instance." },
  busy: { title: "AWS does not answer", advice: "The page asks again by itself." },
  snapshot: { title: "Not in this snapshot", advice: "" },
  fault: { title: "This part failed", advice: "The page asks again by itself." },
};

/** Kinds that concern the whole page: the notice at its top has their advice. */
const PAGE_WIDE = ["unreachable", "token", "credentials"];

/** Kinds that are not failures: this page or stack does not have the part. */
const NOT_FAULTS = ["snapshot", "ledger"];

/**
 * What failed and what to do.
 *
 * @param {{ what: string, failure: Failure, again?: () => void, isPage?: boolean }} props
 */
export function Trouble({ what, failure, again, isPage = false }) {
  const { title, advice } = TROUBLES[failure.kind] ?? TROUBLES.fault;
  const isListed = failure.kind === "denied" && missingActions.value.includes(failure.action);
  if ((PAGE_WIDE.includes(failure.kind) || isListed) && !isPage) {
    return html`<p class="trouble-short soft"><${Icon} name="circle-alert" /> ${what} is not available: ${title.toLowerCase()}.</p>`;
  }
  const action = failure.kind === "denied" ? html`<${MissingActions} actions=${[failure.action]} />` : failure.action && html`<${Command} text=${failure.action} />`;
  const kind = NOT_FAULTS.includes(failure.kind) ? "info" : "bad";
  return html`<${Notice} kind=${kind} title=${isPage ? title : `${what}: ${title.toLowerCase()}`}>
    <p>${printable(failure.sentence)} ${advice}</p>
    ${action}
    ${again && !isSnapshot && html`<button type="button" class="button" onClick=${again}><${Icon} name="refresh-cw" /> Try again</button>`}
  <//>`;
}

/**
 * One notice for all sections that AWS refuses: the actions that the role lacks.
 *
 * @param {{ again?: () => void }} props
 */
export function AccessDenied({ again }) {
  if (!missingActions.value.length) return null;
  const { title, advice } = TROUBLES.denied;
  return html`<${Notice} kind="bad" title=${title}><p>${advice}</p>
    <${MissingActions} actions=${missingActions.value} />
    ${again && !isSnapshot && html`<button type="button" class="button" onClick=${again}><${Icon} name="refresh-cw" /> Try again</button>`}
  <//>`;
}

/** @param {{ actions: string[] }} props */
function MissingActions({ actions }) {
  const names = actions.map((action) => html`<li><code>${printable(action || "not named by AWS")}</code></li>`);
  return html`<p>${actions.length === 1 ? "Missing action:" : "Missing actions:"}</p><ul class="missing-actions">${names}</ul>`;
}

/**
 * A button that copies *text*.
 *
 * @param {{ text: string, label?: string }} props
 */
export function Copy({ text, label = "Copy" }) {
  const [result, setResult] = useState("");
  useEffect(() => {
    if (!result) return undefined;
    const timer = setTimeout(() => setResult(""), COPIED_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => {
    const isCopied = await Promise.resolve(navigator.clipboard?.writeText(text) ?? Promise.reject()).then(() => true, () => false);
    setResult(isCopied ? "Copied" : "The browser does not allow it");
  };
  return html`<button type="button" class="copy" aria-label=${`${label}: ${printable(text)}`} title=${label} onClick=${copy}>
    <${Icon} name=${result === "Copied" ? "check" : "copy"} /><span class=${result ? "copy-result" : "visually-hidden"} role="status">${result}</span>
  </button>`;
}

/**
 * One command line with a button that copies it.
 *
 * @param {{ title?: string, text: string }} props
 */
export function Command({ title = "", text }) {
  return html`<div class="command">${title && html`<span class="command-title">${printable(title)}</span>`}
    <code class="command-text" tabindex="0">${printable(text)}</code><${Copy} text=${text} label="Copy the command" />
  </div>`;
}

/**
 * A part of the page under a heading. Values with class `live` turn gray if *asOf* is older than ten minutes.
 *
 * @param {{ id: string, title: string, aside?: any, asOf?: number | null, className?: string, children?: any }} props
 */
export function Section({ id, title, aside, asOf = null, className = "", children }) {
  const isOld = isOlder(asOf);
  return html`<section class=${`section ${className} ${isOld ? "is-stale" : ""}`} id=${id} aria-labelledby=${`${id}-title`}>
    <header class="section-head"><h2 id=${`${id}-title`} tabindex="-1">${title}</h2>
      ${isOld && html`<span class="chip is-stale-chip"><${Icon} name="clock" /> as of ${clock(asOf)} ${zoneName()}</span>`}
      ${aside && html`<div class="section-aside">${aside}</div>`}
    </header>
    ${children}
  </section>`;
}

const URGENCIES = /** @type {Record<string, { kind: string, icon: string }>} */ ({
  "now": { kind: "bad", icon: "circle-alert" },
  "today": { kind: "warn", icon: "triangle-alert" },
  "can wait": { kind: "wait", icon: "clock" },
});

/**
 * How urgent an alarm is.
 *
 * @param {{ value: string, count?: number | null }} props
 */
export function Urgency({ value, count = null }) {
  const { kind, icon } = URGENCIES[value] ?? URGENCIES.today;
  return html`<span class=${`badge is-${kind}`}><${Icon} name=${icon} />${count !== null && `${count} `}${value}</span>`;
}

/**
 * A line of a value over time, from its least to its greatest, with gaps where the value is unknown.
 *
 * @param {{ points: [number, number | null][], label: string }} props
 */
export function Spark({ points, label }) {
  const known = points.map(([, value]) => value).filter((value) => value !== null);
  if (known.length < 2) return html`<p class="spark-none soft">No trend in this range yet.</p>`;
  const { line, area } = sparkPaths(points, Math.min(...known), Math.max(...known));
  return html`<svg class="spark" viewBox=${`0 0 ${SPARK.width} ${SPARK.height}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <path class="spark-area" d=${area} /><path class="spark-line" d=${line} vector-effect="non-scaling-stroke" />
  </svg>`;
}

/**
 * Return the paths of a spark; a value that hardly changes is a line at half height.
 *
 * @param {[number, number | null][]} points
 * @param {number} least
 * @param {number} greatest
 */
function sparkPaths(points, least, greatest) {
  const padding = Math.max(0, greatest * 0.02 - (greatest - least)) / 2;
  const bottom = least - padding;
  const height = greatest + padding - bottom || 1;
  const first_ms = points[0][0];
  const span_ms = points[points.length - 1][0] - first_ms || 1;
  /** @type {string[][]} */
  const runs = [[]];
  for (const [ms, value] of points) {
    const x = ((ms - first_ms) / span_ms) * SPARK.width;
    if (value === null) runs.push([]);
    else runs[runs.length - 1].push(`${x.toFixed(1)} ${(SPARK.height - 2 - ((value - bottom) / height) * (SPARK.height - 4)).toFixed(1)}`);
  }
  const drawn = runs.filter((run) => run.length);
  const foot = (/** @type {string} */ point) => `${point.split(" ")[0]} ${SPARK.height}`;
  return {
    line: drawn.map((run) => `M${run.join("L")}${run.length === 1 ? "h0.5" : ""}`).join(""),
    area: drawn.map((run) => `M${foot(run[0])}L${run.join("L")}L${foot(run[run.length - 1])}Z`).join(""),
  };
}
