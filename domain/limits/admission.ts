import { partitionOf } from "../invocation/partition.ts";

/** Bounds on accepted invocations that have not started to run. */
export interface BacklogLimits {
  readonly sourceInvocations: number;
  readonly sourceBytes: number;
  readonly ownerInvocations: number;
  readonly ownerBytes: number;
}

export const defaultBacklogLimits: BacklogLimits = {
  sourceInvocations: 2_048,
  sourceBytes: 32 * 2 ** 20,
  ownerInvocations: 8_192,
  ownerBytes: 128 * 2 ** 20,
};

/** What a runner reports about its backlog with each heartbeat. */
export interface BacklogReport {
  /** Partitions whose stored invocations the runner has read: their backlog is known. */
  readonly partitions: readonly number[];
  /** Sources and owners at their bound. */
  readonly sources: readonly string[];
  readonly owners: readonly string[];
}

/** Whose invocation asks to be accepted. */
export interface Admission {
  readonly pool: string;
  readonly source: string;
  readonly owner: string;
}

interface Amount {
  invocations: number;
  bytes: number;
}

interface Accepted {
  readonly sources: Map<string, Amount>;
  readonly owners: Map<string, Amount>;
}

interface Report {
  readonly reportedAt: number;
  readonly sources: ReadonlySet<string>;
  readonly owners: ReadonlySet<string>;
}

interface Pool {
  /** By runner. */
  readonly reports: Map<string, Report>;
  /** By partition, what was accepted here since its runner last reported that it had read everything. */
  readonly accepted: Map<number, Accepted>;
}

/** Heartbeats arrive every second. The entry of a runner that died may outlive it if its deletion was missed. */
const maxReportAgeMs = 5_000;

/**
 * Decides whether a further invocation of a source may be accepted (decision 0010).
 *
 * Runners report which sources and owners are at their bound. Between two reports, and while no runner lives, the gate counts what it
 * admits itself, so a flood exceeds a bound by one bound at most. Reports only count within the pool of the runner that sent them.
 */
export class AdmissionGate {
  readonly #limits: BacklogLimits;
  readonly #pools = new Map<string, Pool>();

  constructor(limits: BacklogLimits) {
    this.#limits = limits;
  }

  /** Applies a runner's report; undefined: the runner has ended. */
  update(pool: string, runner: string, report: BacklogReport | undefined, now: number): void {
    const { reports, accepted } = this.#pool(pool);
    if (report === undefined) return void reports.delete(runner);
    reports.set(runner, { reportedAt: now, sources: new Set(report.sources), owners: new Set(report.owners) });
    for (const partition of report.partitions) accepted.delete(partition);
  }

  /** Whether the source or its owner is at its bound. */
  isFull({ pool, source, owner }: Admission, now: number): boolean {
    const known = this.#pools.get(pool);
    if (known === undefined) return false;
    for (const { reportedAt, sources, owners } of known.reports.values())
      if (now - reportedAt <= maxReportAgeMs && (sources.has(source) || owners.has(owner))) return true;
    const { sourceInvocations, sourceBytes, ownerInvocations, ownerBytes } = this.#limits;
    const ofSource = known.accepted.get(partitionOf(source))?.sources.get(source);
    if (ofSource !== undefined && (ofSource.invocations >= sourceInvocations || ofSource.bytes >= sourceBytes)) return true;
    const ofOwner = sum([...known.accepted.values()].map(({ owners }) => owners.get(owner)));
    return ofOwner.invocations >= ownerInvocations || ofOwner.bytes >= ownerBytes;
  }

  /** Counts the invocation and returns true, or returns false when the source or its owner is at its bound. */
  admits(admission: Admission, bytes: number, now: number): boolean {
    if (this.isFull(admission, now)) return false;
    const { accepted } = this.#pool(admission.pool);
    const partition = partitionOf(admission.source);
    const { sources, owners } = accepted.get(partition) ?? { sources: new Map(), owners: new Map() };
    accepted.set(partition, { sources, owners });
    add(sources, admission.source, bytes);
    add(owners, admission.owner, bytes);
    return true;
  }

  #pool(id: string): Pool {
    const pool = this.#pools.get(id) ?? { reports: new Map(), accepted: new Map() };
    this.#pools.set(id, pool);
    return pool;
  }
}

function add(amounts: Map<string, Amount>, key: string, bytes: number): void {
  const amount = amounts.get(key) ?? { invocations: 0, bytes: 0 };
  amounts.set(key, amount);
  amount.invocations++;
  amount.bytes += bytes;
}

function sum(amounts: readonly (Amount | undefined)[]): Amount {
  const total = { invocations: 0, bytes: 0 };
  for (const amount of amounts) {
    total.invocations += amount?.invocations ?? 0;
    total.bytes += amount?.bytes ?? 0;
  }
  return total;
}
