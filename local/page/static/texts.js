/*
 * Text widgets: the little of Markdown that a dashboard's headings and links need.
 *
 * A heading is plain text, because a cluster's name may stand in it. Links go to
 * https only.
 */

import { element } from "./dom.js";

const LINK = /\[([^\]]+)\]\((https:\/\/[^\s)]+)\)|\*\*([^*]+)\*\*|`([^`]+)`/g;

/** The first heading without its marks, or null. */
export function headingOf(markdown) {
  const found = /^#{1,3} +(.+)$/m.exec(markdown);
  return found ? found[1].trim() : null;
}

/** Paragraphs of what is not a heading. */
export function paragraphsOf(markdown) {
  return markdown
    .split(/\n/)
    .filter((line) => line.trim() && !/^#{1,3} /.test(line))
    .map((line) => element("p", {}, ...inline(line)));
}

function inline(line) {
  const parts = [];
  let end = 0;
  for (const found of line.matchAll(LINK)) {
    parts.push(line.slice(end, found.index));
    const [whole, words, address, strong, code] = found;
    if (address) parts.push(element("a", { href: address, rel: "noreferrer" }, words));
    else parts.push(strong ? element("strong", {}, strong) : element("code", {}, code));
    end = found.index + whole.length;
  }
  parts.push(line.slice(end));
  return parts;
}
