/*
 * Definitions of the page's own terms, one sentence or two each.
 */

/** @type {Readonly<Record<string, string>>} */
export const GLOSSARY = Object.freeze({
  "idle": "A core with telemetry that was below the idle limit (1 % by default) in every minute of the last 15 minutes.",
  "busy": "A core whose utilization over the minute is at least the idle limit (1 % by default).",
  "unknown": "A core without utilization telemetry in this minute. It is never counted as idle or as zero.",
  "allocated": "A process has the core open, or the scheduler assigned the core to a pod, task or job.",
  "unallocated": "No process has the core open and no scheduler assigned it.",
  "reserved": "The scheduler assigned the core to a pod, task or job, and no process has opened it.",
  "shared": "More than one owner has the core open, so its cost is divided among them.",
  "attached idle": "Idle, and a process has the core open.",
  "avoidable": "The cost of instances that could be released: every owner on them is fully idle, or no owner is there. It is an upper bound.",
  "committed": "Paid by a commitment such as a Savings Plan, Capacity Block or reservation: releasing the core saves nothing until the commitment ends.",
  "fully idle": "For 15 minutes no core of the owner in the cluster was busy and none of its executions ended or failed.",
  "low activity": "An owner with executions but without a busy core, such as a live service at 0.4 %. It is never avoidable.",
  "utilization": "The mean busy share of all known cores over the minute, percent.",
  "coverage": "The share of the minute for which instances reported telemetry, rounded down.",
  "silent": "An instance that reported before, did not shut down cleanly and has not reported for 5 minutes.",
  "holder": "A process that has cores open.",
  "owner": "Who a core belongs to: the pod, task, job or user of the process that has it open, otherwise of its assignment.",
  "team": "The team that the scheduler or a label names for an owner.",
  "rollup": "One minute of one cluster, added up from the lines of its instances.",
  "settled": "An hour whose amounts are final in the ledger.",
  "[others]": "Rows that the hour's summary adds up in one row because it keeps at most 1,000.",
  "[unnamed]": "A process without a pod, task, job or user that could be named.",
  "executions": "Model executions that ended in the minute; failed executions are counted apart.",
  "p99 latency": "The time within which 99 of 100 model executions ended.",
  "percent of BF16 peak": "Floating-point operations of the minute as a share of what the cores can do in BF16.",
  "hardware errors": "Uncorrected errors of device memory and SRAM that the driver counted.",
  "close": "The function that adds the minutes of a cluster up and publishes its rollup.",
});
