/*
 * Ask this machine for data: with the token of the address's fragment, which a browser sends to nobody.
 */

const HEADER = "Neuron-Emf-Token";
const PATIENCE_MS = 120_000;
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";

/** An answer that says what went wrong. */
export class Refusal extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

/** The document at a path; a POST runs what costs something. */
export async function ask(path, values = {}, method = "GET") {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== null);
  const query = given.length ? `?${new URLSearchParams(given)}` : "";
  const answer = await fetch(`${path}${query}`, {
    method,
    headers: { [HEADER]: token },
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  throw new Refusal(told.error ?? `HTTP ${answer.status}.`, answer.status);
}

/** What to tell of an error, in sentences. */
export function sentenceOf(error) {
  return error instanceof Refusal ? error.message : "The command that serves this page does not answer. Is it still running?";
}
