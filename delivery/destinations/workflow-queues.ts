import { pause, retry } from "../../domain/retry.ts";
import type { Log } from "../../domain/log.ts";
import { decodeDelivery, encodeDelivery, type Delivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";
import { isStoreFull, PendingWork, settle } from "../settle.ts";
import { countDelivered, deliverAsInvocation, type InvocationPorts } from "./invocation.ts";
import type { Workflows } from "./ports.ts";
import { WaitingShares } from "./waiting-shares.ts";

interface Ports extends Omit<InvocationPorts, "metrics"> {
  readonly workflows: Workflows;
  readonly log: Pick<Log, "warn" | "error">;
}

interface Emptying {
  /** A delivery was stored since the queue was last seen empty. */
  again: boolean;
}

/** Delivered messages are removed together. A crash repeats at most this many deliveries, under their ids. */
const removedTogether = 50;
const fullBacklogPauseMs = 1_000;
const retryMs = 500;

/**
 * The queues of workflows that are not active, and their delivery once a workflow is active:
 *
 * | the workflow is | a delivery |
 * |---|---|
 * | not active | is stored in its queue |
 * | active, while this replica empties its queue | is stored in its queue, behind earlier ones |
 * | active | becomes an invocation at once |
 *
 * Each replica empties the queue, oldest delivery first, when its routes show that the workflow is active: it stores the invocation under
 * the delivery's id, then removes the message. So several replicas may do it at once, and a crash in between repeats deliveries whose ids
 * are recognized. A replica that stores a delivery looks at the queue afterwards, because another one may have emptied it just before.
 */
export class WorkflowQueues {
  readonly #ports: Ports;
  /** For the arrival in the queue. The later delivery is not counted again. */
  readonly #metrics: InvocationPorts["metrics"];
  readonly #shares: WaitingShares;
  readonly #routes: Pick<Routes, "activeWorkflow" | "find">;
  readonly #signal: AbortSignal;
  readonly #emptying = new Map<string, Emptying>();
  readonly #work = new PendingWork();
  #started = false;

  constructor(ports: Ports & Pick<InvocationPorts, "metrics">, routes: Pick<Routes, "activeWorkflow" | "find">, signal: AbortSignal) {
    const { workflows, invocations, admission, clock, log } = ports;
    this.#metrics = ports.metrics;
    this.#shares = new WaitingShares(workflows);
    this.#ports = { workflows, invocations, admission, clock, log };
    this.#routes = routes;
    this.#signal = signal;
  }

  /** Begins to empty the queues of active workflows. Nothing may be delivered to workflows until it resolves. */
  async start(): Promise<void> {
    this.#started = true;
    for (const workflow of await this.#ports.workflows.listQueued()) this.empty(workflow);
  }

  /** Resolves once no queue is being emptied, soon after the signal. */
  stop(): Promise<void> {
    return this.#work.idle();
  }

  /** The route of a workflow that is active and whose queue has nothing that must be delivered first; undefined: use the queue. */
  directRoute(workflow: string): ReturnType<Routes["activeWorkflow"]> {
    return this.#emptying.has(workflow) ? undefined : this.#routes.activeWorkflow(workflow);
  }

  /**
   * Stores an event at the end of the workflow's queue, under the delivery's id, so that repetitions are stored once.
   *
   * @param owner of the subscription: that of the workflow is used once it has an entry of its own
   * @returns why the event may not wait there; undefined: it is stored
   */
  async store(delivery: Delivery, owner: string): Promise<string | undefined> {
    const started = this.#ports.clock.now();
    const { listener: workflow, id } = delivery;
    const queue = { workflow, owner: this.#routes.find(workflow)?.owner ?? owner };
    const text = encodeDelivery(delivery);
    const refusal = await this.#shares.refusal(queue, Buffer.byteLength(text));
    if (refusal !== undefined) return refusal;
    try {
      await this.#ports.workflows.store(queue, text, id);
    } catch (error) {
      if (isStoreFull(error)) return error.message;
      throw error;
    }
    countDelivered("workflow", delivery, started, {
      clock: this.#ports.clock,
      ...(this.#metrics === undefined ? {} : { metrics: this.#metrics }),
    });
    // The workflow may have become active, and its queue may have been emptied, in the meantime.
    this.empty(workflow);
    return undefined;
  }

  /** Delivers the queue of a workflow in the background if it is active. Called after its routes change or something is stored there. */
  empty(workflow: string): void {
    if (!this.#started || this.#signal.aborted || this.#routes.activeWorkflow(workflow) === undefined) return;
    const emptying = this.#emptying.get(workflow);
    if (emptying !== undefined) return void (emptying.again = true);
    const begun: Emptying = { again: true };
    this.#emptying.set(workflow, begun);
    this.#work.add(this.#emptyUntilDone(workflow, begun));
  }

  /** Never rejects. */
  async #emptyUntilDone(workflow: string, emptying: Emptying): Promise<void> {
    const onFailure = (err: unknown): void =>
      this.#ports.log.warn(
        { op: "workflow.queue", "workflow.id": workflow, err },
        "the queue of a workflow is not delivered yet, trying again",
      );
    while (emptying.again && !this.#signal.aborted) {
      emptying.again = false;
      await retry(() => this.#deliverAll(workflow), { firstMs: retryMs, signal: this.#signal, onFailure }).catch(() => undefined);
    }
    this.#emptying.delete(workflow);
  }

  /** Resolves when the queue is empty, the workflow is not active, or the signal aborts. */
  async #deliverAll(workflow: string): Promise<void> {
    let [delivered, unremoved] = [0, 0];
    for (;;) {
      const settled = await this.#deliverNext(workflow, delivered);
      if (settled !== undefined) [delivered, unremoved] = [settled, unremoved + 1];
      if (unremoved === removedTogether || (settled === undefined && unremoved > 0)) {
        await this.#ports.workflows.removeUpTo(workflow, delivered);
        unremoved = 0;
      }
      if (settled === undefined) return;
    }
  }

  /** @returns the sequence of the delivery after `sequence`, once it is an invocation; undefined if there is none to deliver */
  async #deliverNext(workflow: string, sequence: number): Promise<number | undefined> {
    for (;;) {
      const route = this.#signal.aborted ? undefined : this.#routes.activeWorkflow(workflow);
      const next = route === undefined ? undefined : await this.#ports.workflows.findNext(workflow, sequence + 1);
      if (route === undefined || next === undefined) return undefined;
      const delivery = decodeDelivery(next.text);
      let isFull = false;
      const deliver = async (): Promise<void> => {
        const { outcome } = await deliverAsInvocation(delivery, route, this.#ports);
        isFull = outcome === "backlog_full";
      };
      // A delivery that NATS refuses for good must not hold up those behind it.
      const isSettled = await settle(deliver, delivery, this.#ports, this.#signal, async () => undefined);
      if (!isSettled) return undefined;
      if (!isFull) return next.sequence;
      await pause(fullBacklogPauseMs, this.#signal);
    }
  }
}
