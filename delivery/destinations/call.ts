import { hopLimitCode, nextHop } from "../../domain/invocation/hops.ts";
import { callErrorName, calledRun } from "../../domain/workflow/call.ts";
import { refusedCall } from "../routing/calls.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";
import type { InternalDestination, InternalOutcome } from "./destination.ts";
import { deliverAsInvocation, type InvocationPorts } from "./invocation.ts";
import { WorkflowDestination } from "./workflow.ts";
import type { WorkflowQueues } from "./workflow-queues.ts";

/** A workflow that was just deployed may not be in the routes yet. */
const appearsWithinMs = 60_000;

/** A workflow that a run of the same owner calls, or a run of it that has called another one. */
export class CallDestination implements InternalDestination {
  readonly kind = "workflow";
  readonly owner: string;
  readonly #routes: Pick<Routes, "own">;
  readonly #queues: Pick<WorkflowQueues, "directRoute" | "store">;
  readonly #ports: InvocationPorts;

  constructor(owner: string, routes: Pick<Routes, "own">, queues: Pick<WorkflowQueues, "directRoute" | "store">, ports: InvocationPorts) {
    this.owner = owner;
    this.#routes = routes;
    this.#queues = queues;
    this.#ports = ports;
  }

  async attempt(delivery: Delivery): Promise<InternalOutcome> {
    const ended = await this.#attempt(delivery);
    const caller = delivery.event.invocation?.caller;
    if ((ended.outcome !== "left_out" && ended.outcome !== "refused") || caller === undefined || !this.#isOwn(caller.workflow, delivery))
      return ended;
    // The caller would wait for a run that never begins.
    const isTooFar = nextHop(delivery.event.hops ?? 0) === undefined;
    const error = { name: callErrorName, code: isTooFar ? hopLimitCode : "not_called", message: ended.error };
    const returned = { run: calledRun(delivery.id), status: "failed", value: "null", error } as const;
    return this.#toRun(refusedCall(delivery, caller, returned));
  }

  async #attempt(delivery: Delivery): Promise<InternalOutcome> {
    const { listener, event } = delivery;
    const { resume, control } = event.invocation ?? {};
    if (this.#isOwn(listener, delivery)) {
      // Runs that have started go on while their workflow is switched off.
      return resume !== undefined || control !== undefined ? this.#toRun(delivery) : this.#to(listener).attempt(delivery);
    }
    const error = `workflow ${listener} does not exist, or belongs to another owner`;
    const age = this.#ports.clock.now() - event.ts;
    const mayAppear = Math.abs(age) < appearsWithinMs;
    return { outcome: mayAppear ? "backlog_full" : "left_out", status: null, error };
  }

  /** Only a forged commit names a workflow of another owner. */
  #isOwn(workflow: string, { event }: Delivery): boolean {
    return this.#routes.own(workflow)?.owner === event.owner;
  }

  #toRun(delivery: Delivery): Promise<InternalOutcome> {
    const route = this.#routes.own(delivery.listener)?.listener;
    const pool = route?.kind === "workflow" ? (route.pool ?? route.runsIn) : undefined;
    if (pool === undefined) return this.#to(delivery.listener).attempt(delivery);
    const listener = { kind: "workflow", id: delivery.listener, pool } as const;
    return deliverAsInvocation(delivery, { owner: this.owner, listener }, this.#ports);
  }

  #to(workflow: string): WorkflowDestination {
    return new WorkflowDestination(workflow, this.owner, this.#queues, this.#ports);
  }
}
