import { bytesOfClass, sizeClassOf } from "../../domain/limits/size-class.ts";
import { ownerShareBytes } from "../../domain/limits/stream-share.ts";
import type { WaitingEvents, WorkflowQueue, Workflows } from "./ports.ts";

/** Bound on the events that wait for one workflow. */
const maxPerWorkflow = 10_000;
/** Until then, what this replica has stored is added to what NATS has counted. */
const maxAgeMs = 1_000;
const maxOwners = 1_000;

interface Known {
  readonly readAt: number;
  bytes: number;
  usage: WaitingEvents["usage"];
  readonly counts: Map<string, number>;
}

/**
 * Decides whether a further event may wait for a workflow: at most 10,000 for each, and the owner's share of the stream
 * (`domain/limits/stream-share.ts`). NATS counts what waits, for all replicas and across restarts. It is asked at most once a second for an
 * owner who has room, and before each refusal.
 */
export class WaitingShares {
  readonly #workflows: Pick<Workflows, "waiting">;
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<Known>>();

  constructor(workflows: Pick<Workflows, "waiting">) {
    this.#workflows = workflows;
  }

  /** Counts the event if it may wait. @returns why not; undefined: it may */
  async refusal(queue: WorkflowQueue, bytes: number): Promise<string | undefined> {
    const counted = bytesOfClass(sizeClassOf(bytes));
    const known = this.#known.get(queue.owner);
    if (known !== undefined && performance.now() - known.readAt < maxAgeMs && reasonAgainst(known, queue, counted) === undefined) {
      count(known, queue, counted);
      return undefined;
    }
    const fresh = await this.#read(queue.owner);
    const reason = reasonAgainst(fresh, queue, counted);
    if (reason === undefined) count(fresh, queue, counted);
    return reason;
  }

  #read(owner: string): Promise<Known> {
    const reading = this.#reading.get(owner) ?? this.#readNow(owner).finally(() => this.#reading.delete(owner));
    this.#reading.set(owner, reading);
    return reading;
  }

  async #readNow(owner: string): Promise<Known> {
    const { usage, bytes, counts } = await this.#workflows.waiting(owner);
    const known = { readAt: performance.now(), usage, bytes, counts: new Map(counts) };
    if (this.#known.size >= maxOwners) this.#known.clear();
    this.#known.set(owner, known);
    return known;
  }
}

function reasonAgainst({ usage, bytes, counts }: Known, { workflow }: WorkflowQueue, more: number): string | undefined {
  if ((counts.get(workflow) ?? 0) >= maxPerWorkflow)
    return `${maxPerWorkflow} events wait for workflow ${workflow}, which is not active: activate it, then retry this delivery`;
  if (bytes + more <= ownerShareBytes(usage)) return undefined;
  return `the events that wait for workflows of this owner that are not active have ${bytes} bytes, and the store is too full for ${more} more: activate or delete workflows, then retry this delivery`;
}

function count(known: Known, { workflow }: WorkflowQueue, bytes: number): void {
  known.bytes += bytes;
  if (known.usage !== undefined) known.usage = { ...known.usage, bytes: known.usage.bytes + bytes };
  known.counts.set(workflow, (known.counts.get(workflow) ?? 0) + 1);
}
