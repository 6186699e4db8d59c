/*
 * Light or dark: what the system says, unless the reader chose; this browser keeps the choice.
 */

import { computed, effect, signal } from "./vendor/ui.js";

const THEME_KEY = "neuron-emf-theme";
const THEMES = ["", "light", "dark"];
const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

/** The reader's choice: `light`, `dark` or empty for the system's. */
export const theme = signal(remembered());

const isSystemDark = signal(system?.matches ?? false);

/** `light` or `dark`, as the page looks now: what draws on a canvas follows it. */
export const shownTheme = computed(() => theme.value || (isSystemDark.value ? "dark" : "light"));

function remembered() {
  try {
    const kept = globalThis.localStorage?.getItem(THEME_KEY) ?? "";
    return THEMES.includes(kept) ? kept : "";
  } catch {
    return ""; // the browser forbids storage
  }
}

/** Choose the next theme: system, light, dark. */
export function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  try {
    localStorage.setItem(THEME_KEY, theme.value);
  } catch {
    // the browser forbids storage: the choice lasts as long as the page
  }
}

/** Keep the attribute of the root that the style sheet reads. */
export function followTheme() {
  system?.addEventListener("change", ({ matches }) => {
    isSystemDark.value = matches;
  });
  effect(() => {
    document.documentElement.dataset.theme = shownTheme.value;
  });
}
