/*
 * Make elements of names, attributes and text; never of markup.
 *
 * Names of clusters, instances and holders are foreign text: they become text
 * nodes, and characters that could reorder or hide their neighbours are shown
 * as escapes.
 */

const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const SVG = "http://www.w3.org/2000/svg";

/** The text with control, bidirectional and invisible characters as \u{...}. */
export function printable(text) {
  return String(text).replace(HARMFUL, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

/** An element; children are elements, texts, or null for nothing. */
export function element(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

/** An element of a drawing. */
export function drawn(name, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, name), attributes, children);
}

const FOCUSABLE = "summary, button, input, [tabindex]";
const made = new WeakMap(); // what an element was last made of

/** A button that copies *text*, and says that it did. */
export function copyButton(text) {
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy ${text}` }, "Copy");
  button.addEventListener("click", async () => {
    const copied = await navigator.clipboard.writeText(text).then(() => true, () => false);
    write(button, copied ? "Copied" : "Not allowed");
    setTimeout(() => write(button, "Copy"), 2000);
  });
  return button;
}

/** A message as it was sent; behind each of its commands a button that copies it. */
export function withCopies(text) {
  return element("pre", {}, ...text.split(/(?<=\n)/).flatMap((line) => {
    const command = /^\d\. [^:]+: +(\S.*?)\s*$/.exec(line)?.[1];
    return command ? [line.trimEnd(), " ", copyButton(command), "\n"] : [line];
  }));
}

/** Make the children anew where *facts* have changed; focus stays at its place among them. */
export function renew(parent, facts, build) {
  const key = JSON.stringify(facts);
  if (made.get(parent) === key) return;
  const at = [...parent.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  fill(parent, build());
  made.set(parent, key);
  if (at >= 0) parent.querySelectorAll(FOCUSABLE)[at]?.focus({ preventScroll: true });
}

/** Put children in place of what is there. */
export function fill(parent, ...children) {
  made.delete(parent);
  parent.replaceChildren(...children.flat().filter((one) => one !== null).map(node));
}

/** Write a text only where it differs: a selection or a reading voice is not disturbed. */
export function write(target, text) {
  const shown = printable(text);
  if (target.textContent !== shown) target.textContent = shown;
}

function dressed(target, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    target.setAttribute(key, value === true ? "" : printable(value));
  }
  fill(target, ...children);
  return target;
}

function node(child) {
  return child instanceof Node ? child : document.createTextNode(printable(child));
}
