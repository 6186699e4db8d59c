/*
 * Ask this machine for data: with the token of the address's fragment, which a browser sends to nobody.
 */

const HEADER = "Neuron-Emf-Token";
const PATIENCE_MS = 120_000;
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";

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
