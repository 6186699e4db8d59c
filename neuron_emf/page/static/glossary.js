/*
 * Definitions of the page's own terms, one sentence or two each.
 */

/** @type {Readonly<Record<string, string>>} */
export const GLOSSARY = Object.freeze({
  "idle": "A core with telemetry that was not busy for IdleAfterMinutes (15 by default).",
  "busy": "A core whose utilization over the minute is at least the idle limit (1 % by default).",
  "unknown": "A core without utilization telemetry in this minute. It is never counted as idle or as zero.",
  "allocated": "A process has the core open, or a scheduler assigned it to a pod, task or job.",
  "unallocated": "No process has the core open, and no scheduler assigned it.",
  "reserved": "A scheduler assigned the core to a pod, task or job, and no process has opened it.",
  "shared": "The cost of idle cores on an instance that works, whose owners work elsewhere, or that is not fully known. Stopping it would stop work: pack the work instead.",
  "avoidable": "The cost of fully idle instances that ends when they stop. It is an upper bound.",
  "committed": "The cost of idle cores on an instance that is paid whether it runs or not, such as a capacity block. Give it work.",
  "fully idle": "No core of the owner in the cluster was busy and none of its executions ended or failed, for IdleAfterMinutes (15 by default).",
  "low activity": "An owner with executions and without a busy core, such as a live service at 0.4 %. It is never avoidable.",
  "utilization": "The mean busy share of all known cores over the minute.",
  "coverage": "The share of the minute for which instances reported telemetry, rounded down.",
  "silent": "An instance that reported before, did not shut down cleanly and has not reported for 5 minutes. Its cores are unknown.",
  "p99 latency": "The time within which 99 of 100 model executions ended; the greatest of all instances.",
  "BF16 peak": "The most floating-point operations per second that the cores can do in BF16. The chart shows the share that they did.",
  "close": "The function that adds up each minute of a cluster and publishes it.",
});
