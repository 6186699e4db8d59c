/*
 * Instance: to be written.
 */

import { html } from "./vendor/ui.js";
import { Section, Skeleton } from "./parts.js";

/** @param {import("./main.js").SectionProps} _props */
export function Instance(_props) {
  return html`<${Section} id="instance" title="Instance"><${Skeleton} /><//>`;
}
