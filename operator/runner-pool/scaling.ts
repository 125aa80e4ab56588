/** The size limits in a pool's spec. */
export interface ScaleSpec {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly backlogPerReplica: number;
  readonly replicas?: number | undefined;
}

export interface ScaleInput {
  /** Replicas requested so far. */
  readonly current: number;
  /** Waiting or running invocations; undefined if unknown. */
  readonly backlog: number | undefined;
  /** Number of live runners, whose means the shares are: fewer than `current` while pods start. */
  readonly reporting: number;
  /** Mean share of their memory used by live runners, 0 to 1; undefined without reports. */
  readonly memoryShare: number | undefined;
  /** Mean share of their CPUs used by live runners, 0 to 1; undefined without reports. */
  readonly cpuShare: number | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** State between decisions; initially empty. It may be lost: the wait then starts again. */
export interface ScaleMemory {
  /** Since when fewer replicas would have been enough. */
  readonly lowSince?: number;
  readonly steppedDownAt?: number;
}

export interface ScaleDecision {
  readonly replicas: number;
  readonly why: "pinned" | "backlog" | "memory" | "cpu" | "bounds" | "unknown";
  readonly memory: ScaleMemory;
}

/** Above this share, runners evict warm isolates and one hostile source may cost the pod. One more replica brings the share below it. */
const memoryTarget = 0.75;
/** Above this share runs wait for a CPU, also while the backlog is short. */
const cpuTarget = 0.85;
/** How long fewer replicas must have been enough before the first is removed, and the wait before each further one. */
export const stabilisationMs = 300_000;
export const stepDownMs = 60_000;

/**
 * Number of replicas for a pool. Scales up at once and as far as needed, because events wait; scales down one at a time, after five quiet
 * minutes, because new replicas start cold. `spec.replicas` overrides everything; unknown values change nothing.
 */
export function decideScale(spec: ScaleSpec, input: ScaleInput, memory: ScaleMemory): ScaleDecision {
  if (spec.replicas !== undefined) return { replicas: spec.replicas, why: "pinned", memory: {} };
  const { current, now } = input;
  if (input.backlog === undefined) return { replicas: clampReplicas(spec, current), why: "unknown", memory };
  const required = requiredReplicas(spec, { ...input, backlog: input.backlog });
  if (required.replicas >= current) return { ...required, memory: {} };
  const bounded = Math.min(current, Math.max(spec.maxReplicas, spec.minReplicas));
  if (bounded < current) return { replicas: bounded, why: "bounds", memory: {} };
  const lowSince = memory.lowSince ?? now;
  const isQuiet = now - lowSince >= stabilisationMs;
  const canStepDown = memory.steppedDownAt === undefined || now - memory.steppedDownAt >= stepDownMs;
  if (!isQuiet || !canStepDown) return { replicas: current, why: required.why, memory: { ...memory, lowSince } };
  return { replicas: current - 1, why: required.why, memory: { lowSince, steppedDownAt: now } };
}

/** Replicas for the current backlog, memory and CPU alone, within bounds. Monotonic in each. */
export function requiredReplicas(
  spec: ScaleSpec,
  {
    reporting,
    backlog,
    memoryShare = 0,
    cpuShare = 0,
  }: Pick<ScaleInput, "reporting" | "memoryShare" | "cpuShare"> & { readonly backlog: number },
): Pick<ScaleDecision, "replicas" | "why"> {
  const byBacklog = Math.ceil(backlog / spec.backlogPerReplica);
  const byMemory = replicasFor(reporting, memoryShare / memoryTarget);
  const byCpu = replicasFor(reporting, cpuShare / cpuTarget);
  const required = Math.max(byBacklog, byMemory, byCpu);
  const replicas = clampReplicas(spec, required);
  if (replicas !== required) return { replicas, why: "bounds" };
  return { replicas, why: byBacklog === required ? "backlog" : byMemory === required ? "memory" : "cpu" };
}

/** A load that fits into one runner does not keep a pool awake: the backlog does. */
function replicasFor(runners: number, shareOfTarget: number): number {
  const replicas = Math.ceil(runners * shareOfTarget);
  return replicas > 1 ? replicas : 0;
}

function clampReplicas({ minReplicas, maxReplicas }: ScaleSpec, replicas: number): number {
  return Math.max(minReplicas, Math.min(maxReplicas, replicas));
}
