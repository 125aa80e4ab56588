/** What a pool's spec says of its size. */
export interface ScaleSpec {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly backlogPerReplica: number;
  readonly replicas?: number | undefined;
}

export interface ScaleInput {
  /** Replicas asked for until now. */
  readonly current: number;
  /** Invocations waiting or under way; undefined: it cannot be read now. */
  readonly backlog: number | undefined;
  /** Mean share of their memory that live runners use, 0 to 1; undefined: none has told. */
  readonly memoryShare: number | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What is remembered from one decision to the next; an empty object at first. It may be lost: then the wait begins anew. */
export interface ScaleMemory {
  /** Since when fewer replicas would have done. */
  readonly lowSince?: number;
  readonly steppedDownAt?: number;
}

export interface ScaleDecision {
  readonly replicas: number;
  readonly why: "pinned" | "backlog" | "memory" | "bounds" | "unknown";
  readonly memory: ScaleMemory;
}

/** Above this share, runners drop warm isolates and one hostile source may cost the pod; sized so that one more replica brings it down. */
const memoryTarget = 0.75;
/** How long fewer replicas must have been enough before one goes, and how long before each further one. */
export const stabilisationMs = 300_000;
export const stepDownMs = 60_000;

/**
 * How many replicas a pool is to have. Up at once and as far as needed, since events wait; down one at a time, after five quiet
 * minutes, since a replica that comes back starts cold. `spec.replicas` outweighs everything; what is unknown changes nothing.
 */
export function decideScale(spec: ScaleSpec, input: ScaleInput, memory: ScaleMemory): ScaleDecision {
  if (spec.replicas !== undefined) return { replicas: spec.replicas, why: "pinned", memory: {} };
  const { current, now } = input;
  if (input.backlog === undefined) return { replicas: within(spec, current), why: "unknown", memory };
  const wanted = wantedReplicas(spec, { ...input, backlog: input.backlog });
  if (wanted.replicas >= current) return { ...wanted, memory: {} };
  const bounded = Math.min(current, Math.max(spec.maxReplicas, spec.minReplicas));
  if (bounded < current) return { replicas: bounded, why: "bounds", memory: {} };
  const lowSince = memory.lowSince ?? now;
  const quiet = now - lowSince >= stabilisationMs;
  const rested = memory.steppedDownAt === undefined || now - memory.steppedDownAt >= stepDownMs;
  if (!quiet || !rested) return { replicas: current, why: wanted.why, memory: { ...memory, lowSince } };
  return { replicas: current - 1, why: wanted.why, memory: { lowSince, steppedDownAt: now } };
}

/** Without a look back: what backlog and memory ask for, within bounds. Grows with either of them. */
export function wantedReplicas(
  spec: ScaleSpec,
  { current, backlog, memoryShare = 0 }: Omit<ScaleInput, "now" | "backlog"> & { readonly backlog: number },
): Pick<ScaleDecision, "replicas" | "why"> {
  const byBacklog = Math.ceil(backlog / spec.backlogPerReplica);
  const held = Math.ceil((current * memoryShare) / memoryTarget);
  // What one runner can hold is no reason to stay awake: warm sources are a convenience, and the memory of a sleeping pool is free.
  const byMemory = held > 1 ? held : 0;
  const most = Math.max(byBacklog, byMemory);
  const replicas = within(spec, most);
  return { replicas, why: replicas !== most ? "bounds" : byMemory > byBacklog ? "memory" : "backlog" };
}

function within({ minReplicas, maxReplicas }: ScaleSpec, replicas: number): number {
  return Math.max(minReplicas, Math.min(maxReplicas, replicas));
}
