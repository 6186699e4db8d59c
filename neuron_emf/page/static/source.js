/*
 * Ask this machine for data: with the token of the address's fragment, which a browser sends to nobody.
 * What takes more than a second says that it works, and for how long.
 */

import { write } from "./dom.js";

const HEADER = "Neuron-Emf-Token";
const SILENT_MS = 1000;
const PATIENCE_MS = 120_000;
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";

/** The instance that the address names, `#i-0abc&token=...`; empty where it names none. */
export function addressed() {
  return [...new URLSearchParams(location.hash.slice(1)).keys()].find((key) => key !== "token") ?? "";
}

/** The address with an *instance* in it, or without one; its token stays, and so it can be opened in another tab. */
export function addressOf(instance) {
  const named = instance ? `${encodeURIComponent(instance)}&` : "";
  return `${location.pathname}${location.search}#${named}token=${token}`;
}

/** What went wrong, in sentences for people. */
class Refusal extends Error {}

/** The document at a path; a POST runs what costs something. */
export async function ask(path, values = {}, method = "GET") {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== null);
  const query = given.length ? `?${new URLSearchParams(given)}` : "";
  const request = { method, headers: { [HEADER]: token }, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) };
  const answer = await fetch(`${path}${query}`, request).catch(() => {
    throw new Refusal("The command that serves this page does not answer. Is it still running?");
  });
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  throw new Refusal(told.error ?? `The page answered HTTP ${answer.status}.`);
}

/** Say *words* in an element while work goes on; gives what ends it. */
export function busy(target, words) {
  const begun = Date.now();
  const timer = setInterval(() => write(target, `${words}, ${Math.floor((Date.now() - begun) / 1000)} s`), SILENT_MS);
  return () => {
    clearInterval(timer);
    write(target, "");
  };
}
