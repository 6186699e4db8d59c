/*
 * Charts: to be written.
 */

import { html } from "./vendor/ui.js";
import { Section, Skeleton } from "./parts.js";

/** @param {import("./main.js").SectionProps} _props */
export function Charts(_props) {
  return html`<${Section} id="charts" title="Charts"><${Skeleton} /><//>`;
}
