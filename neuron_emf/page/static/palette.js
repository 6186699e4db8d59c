/*
 * The stylesheet's colors for drawings on a canvas, read again when the theme changes.
 *
 * A canvas cannot read a custom property, so an invisible element resolves each of them.
 */

import { useMemo } from "./vendor/ui.js";
import { shownTheme } from "./theme.js";

/** @type {HTMLElement | null} */
let probe = null;

/**
 * Return the color of the custom property *name*, as `rgb(...)`.
 * @param {string} name without its two hyphens
 */
function colorOf(name) {
  if (!probe) {
    probe = document.createElement("i");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/**
 * Return the colors of *names* by name. The object is the same until the theme changes.
 * @param {readonly string[]} names
 * @returns {Record<string, string>}
 */
export function useColors(names) {
  const shown = shownTheme.value;
  return useMemo(() => Object.fromEntries(names.map((name) => [name, colorOf(name)])), [shown, names]);
}
