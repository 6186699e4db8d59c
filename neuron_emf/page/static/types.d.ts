/*
 * The JSON answers of the page's server. Null is unknown or not reported, never 0.
 * `_ms` is milliseconds since 1970 in UTC, `_percent` is 0 to 100, money is USD.
 */

export type Group = "owner" | "team" | "cluster" | "type" | "instance";
export type Range = "15m" | "1h" | "3h" | "6h" | "12h" | "24h" | "7d" | "30d";
export type Point = [number, number | null];
export type Urgency = "now" | "today" | "can wait";

/** The answer of a request that failed. `action` is a command, an IAM action or empty. */
export interface ErrorAnswer {
  error: string;
  kind: "token" | "denied" | "stack" | "ledger" | "cluster" | "instance" | "busy" | "credentials" | "fault";
  action: string;
}

/** What is still to be read of a range beyond three hours; null if all of it is read. */
export interface Reading {
  from_ms: number;
  minutes: number;
  calls: number;
}

export interface Command {
  purpose: string;
  text: string;
}

export interface ClusterRow {
  cluster: string;
  idle_cores: number | null;
  known_cores: number | null;
  usd_per_hour: number | null;
  avoidable_usd_per_hour: number | null;
  coverage_percent: number | null;
  silent: number | null;
}

export interface OwnerRow {
  owner: string;
  name: string;
  is_nobody: boolean;
  team: string | null;
  cluster: string;
  cores: number;
  instances: number | null;
  allocated_cores: number | null;
  busy_cores: number | null;
  idle_minutes: number | null;
  since_ms: number | null;
  usd_per_hour: number | null;
  unpriced_cores: number;
  words: { cores: string; uses: string; idle: string; usd: string };
}

/** /now.json: the first screen. */
export interface Now {
  schema: 1;
  source: "rollups" | "minutes";
  problem: { kind: "lines" | "stack"; error: string; action: string } | null;
  notes: string[];
  cluster: string;
  clusters: ClusterRow[];
  teams: string[];
  owner_names: { owner: string; name: string; cluster: string; team: string | null }[];
  now_ms: number;
  read_ms: number;
  minute_ms: number | null;
  data_to_ms: number | null;
  age_minutes: number | null;
  is_old: boolean;
  region: string | null;
  stack_name: string | null;
  idle_after_minutes: number;
  differences: string[];
  instances: number | null;
  silent: number | null;
  coverage_percent: number | null;
  words: { data: string; coverage: string; silent: string };
  idle: {
    cores: number | null;
    known_cores: number | null;
    unknown_cores: number | null;
    unknown_by_reason: Record<string, number>;
    percent: number | null;
    allocated_cores: number | null;
    unallocated_cores: number | null;
    unknown_allocation_cores: number | null;
    words: string;
    notes: string[];
  };
  cost: {
    usd_per_hour: number | null;
    shared_usd_per_hour: number | null;
    committed_usd_per_hour: number | null;
    basis: string;
    unpriced_cores: number | null;
    idle_unpriced_cores: number | null;
    is_incomplete: boolean;
    unpriced_types: string[];
    words: string;
    notes: string[];
    advice: string;
  };
  avoidable: {
    usd_per_hour: number | null;
    allocated_usd_per_hour: number | null;
    unallocated_usd_per_hour: number | null;
    instances: number | null;
    words: string;
    notes: string[];
  };
  utilization: { percent: number | null; words: string; notes: string[] };
  owners: OwnerRow[];
  owners_known: boolean;
  close: ({ at_ms: number } & Record<string, number>) | null;
  traffic: { calls: number; bytes: number };
}

export interface Chart {
  id:
    | "idle_cores" | "cost" | "avoidable" | "core_states" | "utilization" | "coverage" | "executions"
    | "failed_executions" | "latency" | "hardware_errors" | "device_memory" | "bf16_peak";
  title: string;
  unit: "cores" | "USD/h" | "percent" | "per minute" | "s" | "bytes";
  /** By cluster, the largest first; the states of cores in `core_states`. */
  series: { label: string; values: (number | null)[] }[];
  /** Of all clusters together. */
  all: (number | null)[];
  left_out: number;
}

/** What an answer about a range covers; in `missing` are the times without data, each end excluded. */
export interface RangeHead {
  range: Range;
  start_ms: number;
  end_ms: number;
  step_ms: number;
  reading: Reading | null;
  missing: [number, number][];
}

/** /charts.json: every value of a series belongs to the moment of `x` at its place. */
export interface ChartsAnswer extends RangeHead {
  x: number[];
  charts: Chart[];
  /** The mean of the same hour of an earlier day by chart, of all clusters together. */
  before: Partial<Record<"yesterday" | "last_week", Record<string, number | null>>>;
  /** Why `before` is not complete, or empty. */
  ledger: string;
}

type Amount = [usd: number | null, idle_core_hours: number];

export interface Amounts {
  owners: [owner: string, cluster: string, team: string | null, ...Amount][];
  instances: [instance: string, cluster: string, ...Amount][];
  types: [instance_type: string | null, cluster: string, ...Amount][];
  /** Clusters whose rollups do not list all idle instances. */
  unlisted: string[];
}

/** /amounts.json: idle time of a range and its price, of all clusters; null if it is not read. */
export interface AmountsAnswer extends RangeHead {
  amounts: Amounts | null;
}

export interface BreakdownNumbers {
  idle_cores: number | null;
  cores: number | null;
  usd_per_hour: number | null;
  usd: number | null;
  unpriced_cores: number | null;
  idle_core_hours: number | null;
}

export interface BreakdownRow extends BreakdownNumbers {
  key: string;
  name: string;
  is_bracket: boolean;
  owner: string | null;
  team: string | null;
  cluster: string | null;
  instance: string | null;
  instance_type: string | null;
  idle_minutes: number | null;
  since_ms: number | null;
  uses: string;
  marks: string[];
  is_gone: boolean | null;
  cannot_wait: string;
}

export interface Holder {
  Cores?: string;
  Name?: string;
  Pid?: number;
  Tag?: string;
  User?: string;
  Team?: string;
  Command?: string;
  Started?: string;
  LastExecution?: string;
  Gone?: boolean;
  AssignedTo?: string;
  IsReserved?: boolean;
  Marks: string[];
}

/** One letter for each core in `states`: b a r u n ?, a capital if idle for idle_after_minutes. */
export interface InstanceCores {
  cluster: string;
  instance: string;
  instance_type: string | null;
  states: string;
  utilization: (number | null)[];
  idle_cores: number;
  idle_minutes: number;
  core_usd_per_hour: number | null;
  owned: [name: string, cores: string, team: string | null][];
  holders: Holder[];
}

/** /cores.json: the newest whole minute. */
export interface CoresAnswer {
  minute_ms: number | null;
  instances: InstanceCores[];
}

/** /instance.json: the minutes of the last hour that an instance has lines of. */
export interface InstanceAnswer {
  cluster: string;
  instance: string;
  instance_type: string | null;
  minutes: number[];
  /** By minute, then by core. */
  utilization: (number | null)[][];
  /** By minute, one letter for each core. */
  states: string[];
  idle_minutes: (number | null)[];
  holders: Holder[];
  holders_more: number;
  unknown_words: string;
  commands: Command[];
  links: Record<string, string>;
  verdict: { words: string };
}

/** POST /verdict.json. */
export interface VerdictAnswer {
  verdict: "release" | "ask" | "keep";
  words: string;
  reasons: { name: string; words: string; advice: string }[];
  commands: Command[];
  calls: number;
}

/** POST /read.json. */
export interface ReadAnswer {
  reading: Reading | null;
}

export interface Message {
  at_ms: number;
  alarm: string;
  cluster: string | null;
  metrics: string[];
  state: string;
  urgency: Urgency | null;
  subject: string;
  text: string;
}

export interface Contributor {
  name: string;
  urgency: Urgency;
  since_ms: number | null;
  reason: string;
  message: Message | null;
}

export interface Alarm {
  name: string;
  title: string;
  description: string;
  is_pipeline: boolean;
  metrics: string[];
  state: "OK" | "ALARM" | "INSUFFICIENT_DATA";
  reason: string;
  since_ms: number | null;
  urgency: Urgency;
  runbook: string;
  message: Message | null;
  contributors: Contributor[];
}

/** /alarms.json: all alarms, the most urgent first, whatever the filter. */
export interface AlarmsAnswer {
  read_ms: number;
  alarms: Alarm[];
}

/** /queries.json and POST /query.json. */
export interface Query {
  name: string;
  bytes: number;
  usd: number;
  columns?: string[];
  rows?: string[][];
}

export interface QueriesAnswer {
  minutes: number;
  queries: Query[];
}

/** The answers of a snapshot, by path and query. */
export interface SnapshotDocument {
  made_ms: number;
  stack_name: string;
  region: string | null;
  answers: Record<string, unknown>;
}
