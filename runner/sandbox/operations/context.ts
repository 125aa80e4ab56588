import type { Network } from "./network/network.ts";

/**
 * What host operations are given. Every argument of an operation comes from hostile code: parse type and size, cap everything.
 * Results are copies: strings, numbers, Uint8Array that own their buffer, plain objects.
 * Errors cross as `{name, message, code}`; stacks and paths of the host never do.
 */
export interface OperationContext {
  readonly network: Network;
  /** Whose code asks: what all isolates of the process share is shared out by owner. */
  readonly owner: string;
  /** Aborts when the run ends or the isolate dies. */
  readonly signal: AbortSignal;
  /** Enters the guest's `on(kind)` handler; does not wait for it. */
  deliver(kind: string, ...args: unknown[]): void;
  /** The same, resolved when the guest has handled it: back-pressure. Rejects when the isolate is gone. */
  deliverAndWait(kind: string, ...args: unknown[]): Promise<void>;
  /** Lives as long as the isolate: sockets, keys, fetches. */
  readonly state: Map<string, unknown>;
}

/** Throws an Error, with a `code` where the guest should see one. */
export type SyncOperation = (context: OperationContext, args: readonly unknown[]) => unknown;
export type AsyncOperation = (context: OperationContext, args: readonly unknown[]) => Promise<unknown>;
export type PostOperation = (context: OperationContext, args: readonly unknown[]) => void;
