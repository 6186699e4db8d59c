/*
 * Light or dark: what the system says, unless a person chose; the choice is kept in this browser.
 *
 * Loaded first, so that the page does not flash in the other colours.
 */

const KEY = "neuron-emf-theme";
const watchers = [];

/** Call back when colours have changed. */
export function onColours(callback) {
  watchers.push(callback);
}

/** What a person chose: "", "light" or "dark". */
export function chosen() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return document.documentElement.dataset.theme ?? ""; // storage may be forbidden
  }
}

/** Choose, and remember where that is allowed. */
export function choose(theme) {
  apply(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it counts until the page is loaded again
  }
  watchers.forEach((callback) => callback());
}

const probe = document.createElement("span");
probe.hidden = true;

/** A colour of the stylesheet as a canvas takes it, red, green and blue. */
export function colour(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
}

function apply(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

apply(chosen());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  watchers.forEach((callback) => callback());
});
