import type { TakePiece } from "../../../domain/run-products.ts";
import type { ExecuteRequest, Execution, Inspection, OnResponse } from "../port.ts";
import { type ChildDeath, crashedExecution, crashedInspection, endedByMemory, startError } from "./child-outcomes.ts";
import { outOfTurn } from "../frames.ts";
import type { FromChild } from "./protocol.ts";

/** An execution or inspection that a child was asked for. */
export type Pending = {
  readonly owner: string;
  readonly stores?: ExecuteRequest["stores"] | undefined;
  readonly files?: ExecuteRequest["files"] | undefined;
  storedBytes?: number;
  /** Set by a streamed response that has a reader. */
  takePiece?: TakePiece | undefined;
  readonly reject: (error: Error) => void;
  readonly memoryMb: number;
} & (
  | {
      readonly kind: "execute";
      readonly resolve: (execution: Execution) => void;
      /** Undefined once called: there is at most one response, and one pause. */
      onResponse: OnResponse | undefined;
      onPause: (() => void) | undefined;
    }
  | { readonly kind: "inspect"; readonly resolve: (inspection: Inspection) => void }
);

/** What a child was asked for and has not answered. Its messages count for that only. */
export class PendingWork {
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  get size(): number {
    return this.#pending.size;
  }

  /** The only one, with its id; undefined if there are several or none. */
  get sole(): readonly [id: number, pending: Pending] | undefined {
    const [first] = this.#pending;
    return this.#pending.size === 1 ? first : undefined;
  }

  add(pending: Pending): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#pending.set(id, pending);
    return id;
  }

  /** @throws ProtocolViolation if there is no such execution or inspection */
  userOf(id: number): Pick<Pending, "owner" | "stores" | "files" | "storedBytes" | "takePiece"> {
    const pending = this.#pending.get(id);
    if (pending === undefined) throw outOfTurn("open");
    return pending;
  }

  /** @throws ProtocolViolation if nothing waits for the message */
  receive(message: Extract<FromChild, { kind: "response" | "paused" | "executed" | "inspected" }>): void {
    switch (message.kind) {
      case "response": {
        const pending = this.#get(message, "execute");
        const { onResponse } = pending;
        if (onResponse === undefined) throw outOfTurn(message.kind);
        pending.onResponse = undefined;
        pending.takePiece = onResponse(message.response) ?? undefined;
        return;
      }
      case "paused": {
        const pending = this.#get(message, "execute");
        const { onPause } = pending;
        if (onPause === undefined) throw outOfTurn(message.kind);
        pending.onPause = undefined;
        return onPause();
      }
      case "executed": {
        const { resolve } = this.#get(message, "execute");
        this.#pending.delete(message.id);
        return resolve(message.execution);
      }
      case "inspected": {
        const { resolve } = this.#get(message, "inspect");
        this.#pending.delete(message.id);
        return resolve(message.inspection);
      }
    }
  }

  /** Settles all that is left when the child has died. @param culprit id of the execution that measurably filled the child's memory */
  end(death: ChildDeath, wasReady: boolean, culprit: number | undefined): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const [id, one] of pending) {
      if (!wasReady) one.reject(startError(death.message));
      else if (one.kind === "inspect") one.resolve(crashedInspection(death));
      else one.resolve(id === culprit ? endedByMemory(death) : crashedExecution(death));
    }
  }

  #get<Kind extends Pending["kind"]>(
    message: { readonly kind: string; readonly id: number },
    kind: Kind,
  ): Extract<Pending, { kind: Kind }> {
    const pending = this.#pending.get(message.id);
    if (pending?.kind !== kind) throw outOfTurn(message.kind);
    return pending as Extract<Pending, { kind: Kind }>; // The line above compares the kind.
  }
}
