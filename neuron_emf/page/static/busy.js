/*
 * What takes more than a second says that it works, and for how long.
 */

import { write } from "./dom.js";

const PATIENCE_MS = 1000;

/** Say *words* in an element while work goes on; gives what ends it. */
export function busy(target, words) {
  const begun = Date.now();
  const timer = setInterval(() => write(target, `${words}, ${Math.floor((Date.now() - begun) / 1000)} s`), PATIENCE_MS);
  return () => {
    clearInterval(timer);
    write(target, "");
  };
}
